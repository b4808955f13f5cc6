"""The bodies of searches and bookings, from validated arguments, for either protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime, time
from operator import itemgetter
from typing import Final, cast

from ferry_sdk._engine.validation import flag
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import (
    Contact,
    ContactDict,
    Passenger,
    PassengerDict,
    SearchPassenger,
    SearchPassengerDict,
    Selection,
    SelectionDict,
    Traveller,
    Vehicle,
    VehicleDict,
    VehicleQuery,
    VehicleQueryDict,
    elements_of,
    parse_input,
)
from ferry_sdk.models.travellers import (
    DEFAULT_BANDS,
    AgeBands,
    Travellers,
    age_of,
    assess,
)
from ferry_sdk.resources.arguments import (
    ReservationTypeName,
    Values,
    clock_time,
    day,
    drop_none,
    identifier,
    optional,
    values_of,
)

_MCP_CODES: Final = {"Adult": "ADT", "Child": "CHD", "Infant": "INF"}
_SENT: Final = ("availability_id", "tariff_id", "place_id")
"""What is sent of a selection."""
_sent_of: Final = itemgetter(*_SENT)
_REQUIRED: Final = frozenset(["first_name", "last_name", "type"])
"""What a booking requires of a traveller; the first in the alphabet is reported first."""
_TYPES: Final = {kind: kind.value for kind in PassengerType}


@dataclass(kw_only=True, slots=True, repr=False)
class SearchArguments:
    """The arguments of a search, in both protocols."""

    company: str
    depart_code: str
    arrive_code: str
    out_journey_id: str
    out_at: date | str
    out_time: time | datetime | str
    passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller]
    out_is_open: bool | None = None
    ret_journey_id: str | None = None
    ret_at: date | str | None = None
    ret_time: time | datetime | str | None = None
    ret_is_open: bool | None = None
    vehicle: VehicleQuery | VehicleQueryDict | None = None

    def body(self) -> dict[str, object]:
        """Return the body of the search. Interface: POST /api/availability.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
        """
        request: dict[str, object] = {}
        for field in _SEARCH:
            value, kind = getattr(self, field.name), field.name.rpartition("_")[2]
            if value is not None or field.default is MISSING:
                request[field.name] = _CHECKS.get(kind, identifier)(value, field.name)
        day = date.fromisoformat(str(request["out_at"]))
        return {"request": request, **party_on(self.passengers, self.vehicle, day)}


def party_on(
    passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller],
    vehicle: VehicleQuery | VehicleQueryDict | None,
    day: date,
) -> dict[str, object]:
    """Return the passengers and the vehicle in the body of a search.

    Args:
        passengers: The travellers.
        vehicle: The vehicle; None: none.
        day: The day of the travellers' ages.
    """
    travellers = [
        {
            "order": traveller.order or number,
            "type": traveller.type.value,
            "param": traveller.param or traveller.type.value[0],
            "gender": traveller.gender.value,
            "age": traveller.age,
        }
        for number, traveller in enumerate(passengers_on(day, passengers), 1)
    ]
    party: dict[str, object] = {"passengers": travellers}
    if vehicle is not None:
        party["vehicle"] = values_of(VehicleQuery, vehicle, "vehicle")
    return party


def passengers_on(
    day: date, passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller]
) -> list[SearchPassenger]:
    """Return the passengers of a search, with travellers at their age and type on a day."""
    bands = passengers.bands if isinstance(passengers, Travellers) else DEFAULT_BANDS

    def parse(value: object, index: int) -> SearchPassenger:
        if not isinstance(value, Traveller):
            return parse_input(SearchPassenger, value, "passengers", index)
        age = age_of(vars(value), day)
        if value.gender is None:
            raise InvalidInputError("required for a search", field=f"passengers[{index}].gender")
        if age is None or age < 0:
            problem = "required for a search" if age is None else "after the day of travel"
            raise InvalidInputError(problem, field=f"passengers[{index}].birth_date")
        kind, order = value.type or bands.type_at(age), value.order
        values = {"type": kind, "gender": value.gender, "age": age, "order": order}
        return parse_input(SearchPassenger, values, "passengers", index)

    return [
        parse(value, index) for index, value in enumerate(elements_of(passengers, "passengers"))
    ]


def selections(availabilities: Sequence[Selection | SelectionDict]) -> list[Values]:
    """Validate the selections; a tariff locked to a round trip allows one company only."""
    chosen = [
        values_of(Selection, value, "availabilities", index)
        for index, value in enumerate(elements_of(availabilities, "availabilities", Selection))
    ]
    if len(chosen) > 1 and len({choice["company"] for choice in chosen if "company" in choice}) > 1:
        for index, choice in enumerate(chosen):
            if choice.get("roundtrip_locked"):
                problem = "the tariff is valid only as a round trip with the same company"
                raise InvalidInputError(problem, field=f"availabilities[{index}]")
    return chosen


def expiries(chosen: Iterable[Values]) -> dict[str, datetime]:
    """Return the known expiration dates of the tariffs, by argument."""
    return {
        f"availabilities[{index}]": selection["expiration_date"]
        for index, selection in enumerate(chosen)
        if "expiration_date" in selection
    }


def booking(
    chosen: Sequence[Values],
    passengers: Sequence[Passenger | PassengerDict | Traveller],
    reservation_type: ReservationTypeName | str | None,
    vehicle: Vehicle | VehicleDict | None,
    contact: Contact | ContactDict | None,
) -> dict[str, object]:
    """Return the body of a booking. Interface: POST /api/booking."""
    body: dict[str, object] = {"passengers": _party(chosen, passengers)}
    if chosen:
        sent = map(_sent_of, chosen)
        body["availabilities"] = [dict(zip(_SENT, values, strict=True)) for values in sent]
    kind = optional(reservation_type, "reservation_type")
    if kind or (chosen and (kind := chosen[0].get("reservation_type"))):
        body["reservation_type"] = kind
    if vehicle is not None:
        body["vehicle"] = values_of(Vehicle, vehicle, "vehicle")
    if contact is not None:
        body["contact"] = values_of(Contact, contact, "contact")
    return body


def mcp_passengers(passengers: object) -> list[dict[str, object]]:
    """Return the passengers of a booking as `create_booking` takes them, with other types."""
    listed = cast("list[dict[str, object]]", passengers)
    return [person | {"type": _MCP_CODES[cast("str", person["type"])]} for person in listed]


def _party(
    chosen: Sequence[Values], passengers: Sequence[Passenger | PassengerDict | Traveller]
) -> list[Values]:
    """Return the passengers of a booking, at their age and type on the day of the first sailing.

    Raises:
        InvalidInputError: A passenger is invalid, lacks something or contradicts itself or another
            one; `field` names it.
    """
    bands: AgeBands = getattr(passengers, "bands", DEFAULT_BANDS)
    listed = elements_of(passengers, "passengers")
    party = [
        drop_none(vars(value))
        if isinstance(value, Traveller)
        else values_of(Passenger, value, "passengers", index)
        for index, value in enumerate(listed)
    ]
    days = [selection["depart_at"].date() for selection in chosen if "depart_at" in selection]
    first = min(days) if days and len(days) == len(chosen) else None
    last = max(days) if days else None
    ages, types, contradictions = assess(party, first, last, bands)
    for problem in contradictions:
        where = f"passengers[{problem.traveller}].{problem.field}"
        raise InvalidInputError(problem.problem, field=where)
    party_on_day = zip(listed, party, ages, types, strict=True)
    for index, (value, passenger, age, kind) in enumerate(party_on_day):
        if isinstance(value, Traveller) and not isinstance(value, Passenger):
            if kind is not None:
                passenger["type"] = kind
            missing = _REQUIRED.difference(passenger)
            if missing:
                where = f"passengers[{index}].{min(missing)}"
                raise InvalidInputError("required for a booking", field=where)
            if age is not None and first is not None:
                passenger["age"] = age
        passenger["type"] = _TYPES[passenger["type"]]
        passenger.setdefault("order", index + 1)
        if "gender" in passenger:
            passenger["gender"] = passenger["gender"][0]
    return party


_CHECKS: Final = {"at": day, "time": clock_time, "open": flag}
"""The checks of the arguments of a search, by the last word of their names; others are ids."""
_SEARCH: Final = [
    field for field in fields(SearchArguments) if field.name not in {"passengers", "vehicle"}
]
