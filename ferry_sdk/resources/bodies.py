"""The bodies of searches and bookings, from validated arguments, for either protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import count
from typing import Final, cast

from ferry_sdk._engine.operation import canonical_json
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
    printable_key,
    values_of,
)
from ferry_sdk.types import IdempotencyKey

_MCP_CODES: Final = {"Adult": "ADT", "Child": "CHD", "Infant": "INF"}
_REQUIRED: Final = frozenset(["first_name", "last_name", "type"])
"""What a booking requires of a traveller; the first in the alphabet is reported first."""
_TYPES: Final = {kind: kind.value for kind in PassengerType}
_SAILING: Final = ("company", "depart_code", "arrive_code", "depart_at")
"""The fields of a selection that name its sailing; a later search has other ids for it."""
_IDS: Final = ("id", "availability_id", "tariff_id", "place_id")


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
        out_day = day(self.out_at, "out_at")
        request: dict[str, object] = {
            "company": identifier(self.company, "company"),
            "depart_code": identifier(self.depart_code, "depart_code"),
            "arrive_code": identifier(self.arrive_code, "arrive_code"),
            "out_journey_id": identifier(self.out_journey_id, "out_journey_id"),
            "out_at": out_day,
            "out_time": clock_time(self.out_time, "out_time"),
        }
        if self.out_is_open is not None:
            request["out_is_open"] = flag(self.out_is_open, "out_is_open")
        if self.ret_journey_id is not None:
            request["ret_journey_id"] = identifier(self.ret_journey_id, "ret_journey_id")
        if self.ret_at is not None:
            request["ret_at"] = day(self.ret_at, "ret_at")
        if self.ret_time is not None:
            request["ret_time"] = clock_time(self.ret_time, "ret_time")
        if self.ret_is_open is not None:
            request["ret_is_open"] = flag(self.ret_is_open, "ret_is_open")

        party = party_on(self.passengers, self.vehicle, date.fromisoformat(out_day))
        return {"request": request, **party}


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
    travellers: list[dict[str, object]] = []
    for number, traveller in enumerate(passengers_on(day, passengers), 1):
        initial = traveller.type.value[0]  # such as "A" for an adult
        travellers.append(
            {
                "order": traveller.order or number,
                "type": traveller.type.value,
                "param": traveller.param or initial,
                "gender": traveller.gender.value,
                "age": traveller.age,
            }
        )

    party: dict[str, object] = {"passengers": travellers}
    if vehicle is not None:
        party["vehicle"] = values_of(VehicleQuery, vehicle, "vehicle")
    return party


def passengers_on(
    day: date, passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller]
) -> list[SearchPassenger]:
    """Return the passengers of a search, with travellers at their age and type on a day."""
    bands = passengers.bands if isinstance(passengers, Travellers) else DEFAULT_BANDS
    party: list[SearchPassenger] = []
    for index, value in enumerate(elements_of(passengers, "passengers")):
        passenger: object = value
        if isinstance(value, Traveller):
            passenger = _search_values(value, index, day=day, bands=bands)
        party.append(parse_input(SearchPassenger, passenger, "passengers", index=index))
    return party


def _search_values(traveller: Traveller, index: int, *, day: date, bands: AgeBands) -> Values:
    """Return the values of a search passenger from a traveller, at the age on a day.

    Raises:
        InvalidInputError: The traveller has no gender or birth date, or is born after the day.
    """
    if traveller.gender is None:
        raise InvalidInputError("required for a search", field=f"passengers[{index}].gender")

    age = age_of(vars(traveller), day)
    if age is None:
        raise InvalidInputError("required for a search", field=f"passengers[{index}].birth_date")
    if age < 0:
        raise InvalidInputError("after the day of travel", field=f"passengers[{index}].birth_date")

    return {
        "type": traveller.type or bands.type_at(age),
        "gender": traveller.gender,
        "age": age,
        "order": traveller.order,
    }


def selections(availabilities: Sequence[Selection | SelectionDict]) -> list[Values]:
    """Validate the selections; a tariff locked to a round trip allows one company only."""
    chosen = [
        values_of(Selection, value, "availabilities", index=index)
        for index, value in enumerate(elements_of(availabilities, "availabilities", Selection))
    ]
    if len(chosen) > 1:
        _check_companies(chosen)
    return chosen


def _check_companies(chosen: Sequence[Values]) -> None:
    """Reject a tariff that is locked to a round trip with one company beside another company's."""
    companies = {selection["company"] for selection in chosen if "company" in selection}
    if len(companies) <= 1:
        return
    for index, selection in enumerate(chosen):
        if selection.get("roundtrip_locked"):
            problem = "the tariff is valid only as a round trip with the same company"
            raise InvalidInputError(problem, field=f"availabilities[{index}]")


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
    *,
    reservation_type: ReservationTypeName | str | None,
    vehicle: Vehicle | VehicleDict | None,
    contact: Contact | ContactDict | None,
) -> dict[str, object]:
    """Return the body of a booking. Interface: POST /api/booking."""
    body: dict[str, object] = {"passengers": _party(chosen, passengers)}
    if chosen:
        body["availabilities"] = [
            {
                "availability_id": selection["availability_id"],
                "tariff_id": selection["tariff_id"],
                "place_id": selection["place_id"],
            }
            for selection in chosen
        ]

    kind = optional(reservation_type, "reservation_type")
    if kind is None and chosen:
        kind = chosen[0].get("reservation_type")
    if kind is not None:
        body["reservation_type"] = kind

    if vehicle is not None:
        body["vehicle"] = values_of(Vehicle, vehicle, "vehicle")
    if contact is not None:
        body["contact"] = values_of(Contact, contact, "contact")
    return body


def to_sequence(
    passengers: Sequence[Passenger | PassengerDict | Traveller],
) -> Sequence[Passenger | PassengerDict | Traveller]:
    """Return the passengers, as a list if they are an iterator, which can be read only once."""
    return [*passengers] if isinstance(passengers, Iterator) else passengers


def key_for(
    key: str,
    chosen: Sequence[Values],
    passengers: Sequence[Passenger | PassengerDict | Traveller],
    *,
    vehicle: Vehicle | VehicleDict | None,
    contact: Contact | ContactDict | None,
) -> IdempotencyKey:
    """Return an idempotency key with what makes a booking the same.

    The travellers are as the caller gave them: their ages and types on the day of the first sailing
    may change from one call to the next. The fare, the place and the price are left out.

    Args:
        key: The caller's key.
        chosen: The selections; or the id of an offer, as MCP takes it.
        passengers: The travellers; no iterator.
        vehicle: The vehicle.
        contact: The contact.

    Raises:
        InvalidInputError: The key is invalid.
    """
    listed = elements_of(passengers, "passengers")
    booking: dict[str, object] = {
        "sailings": [_sailing_of(selection) for selection in chosen],
        "passengers": list(map(_parse_passenger, listed, count())),
    }
    if vehicle is not None:
        booking["vehicle"] = values_of(Vehicle, vehicle, "vehicle")
    if contact is not None:
        booking["contact"] = values_of(Contact, contact, "contact")
    return IdempotencyKey(printable_key(key), canonical_json(booking))


def _sailing_of(selection: Values) -> Values:
    """Return what a selection books: the sailing if the selection knows it, else the ids."""
    if any(name not in selection for name in _SAILING):
        return {name: selection[name] for name in _IDS if name in selection}
    sailing = {name: selection[name] for name in _SAILING}
    return sailing | {"depart_at": selection["depart_at"].astimezone(UTC)}


def mcp_passengers(passengers: object) -> list[dict[str, object]]:
    """Return the passengers of a booking as `create_booking` takes them, with other types."""
    listed = cast("list[dict[str, object]]", passengers)
    return [person | {"type": _MCP_CODES[cast("str", person["type"])]} for person in listed]


def _party(
    chosen: Sequence[Values], passengers: Sequence[Passenger | PassengerDict | Traveller]
) -> list[Values]:
    """Return the passengers of a booking, at their age and type on the day of the first sailing.

    1. Parse: every passenger becomes a new dict of its values. A `Traveller` was validated when it
       was made, and may still lack what a booking requires.
    2. Check: `assess` finds the age and the type of each, and contradictions of the whole party.
    3. Complete: a `Traveller` gets this age and type, and must have both names.
    4. Encode: the type and the gender become texts; the order is the position in the list, unless
       it is given.

    Raises:
        InvalidInputError: A passenger is invalid, lacks something or contradicts itself or another
            one; `field` names it.
    """
    listed = elements_of(passengers, "passengers")
    party = list(map(_parse_passenger, listed, count()))

    bands = passengers.bands if isinstance(passengers, Travellers) else DEFAULT_BANDS
    days = [selection["depart_at"].date() for selection in chosen if "depart_at" in selection]
    last_day = max(days) if days else None
    # If the day of a sailing is not known, it may be the first.
    first_day = min(days) if days and len(days) == len(chosen) else None

    ages, types, contradictions = assess(party, first_day, last_day, bands=bands)
    if contradictions:
        first_problem = contradictions[0]
        where = f"passengers[{first_problem.traveller}].{first_problem.field}"
        raise InvalidInputError(first_problem.problem, field=where)

    for index, (value, passenger) in enumerate(zip(listed, party, strict=True)):
        if isinstance(value, Traveller) and not isinstance(value, Passenger):
            age = None if first_day is None else ages[index]
            _complete(passenger, index, age=age, kind=types[index])
        passenger["type"] = _TYPES[passenger["type"]]
        passenger.setdefault("order", index + 1)
        if "gender" in passenger:
            passenger["gender"] = passenger["gender"][0]  # M or F
    return party


def _parse_passenger(value: object, index: int) -> Values:
    """Return the values of a passenger that are given, as a new dict."""
    if isinstance(value, Traveller):
        return drop_none(vars(value))
    return values_of(Passenger, value, "passengers", index=index)


def _complete(
    passenger: Values, index: int, *, age: int | None, kind: PassengerType | None
) -> None:
    """Set the type and the age of a traveller for a booking.

    Args:
        passenger: The values of the traveller.
        index: Its place in the list.
        age: Its age on the day of the first sailing; None: it is not known.
        kind: Its type on that day; None: it is not known.

    Raises:
        InvalidInputError: The type or a name is missing; `field` names it.
    """
    if kind is not None:
        passenger["type"] = kind
    missing = _REQUIRED.difference(passenger)
    if missing:
        where = f"passengers[{index}].{min(missing)}"
        raise InvalidInputError("required for a booking", field=where)
    if age is not None:
        passenger["age"] = age
