"""Validate arguments and convert them to the JSON of the service, for either protocol."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache
from operator import itemgetter
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import NotRequired, Required, TypedDict

from ferry_sdk._engine.validation import encodable_text, flag
from ferry_sdk._runtime.threads import uninterrupted
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import Currency, Money, path_of
from ferry_sdk.models.enums import Gender, PassengerType
from ferry_sdk.models.inputs import (
    SOURCES,
    Contact,
    ContactDict,
    Input,
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
    parse_input,
)
from ferry_sdk.models.travellers import (
    DEFAULT_BANDS,
    AgeBands,
    Travellers,
    age_of,
    contradictions,
    first_day_possible,
    parse_day,
)

Values = dict[str, Any]
"""The fields of an input that are given, as Python values."""

_MCP_CODES: Final = {"Adult": "ADT", "Child": "CHD", "Infant": "INF"}
_SENT: Final = ("availability_id", "tariff_id", "place_id")
"""What is sent of a selection."""
_sent_of: Final = itemgetter(*_SENT)
_TYPES: Final = {kind: kind.value for kind in PassengerType}
_LETTERS: Final = {Gender.MALE: "M", Gender.FEMALE: "F"}
# Not `time.fromisoformat`: since Python 3.14 it takes 24:00 for midnight at the day's beginning.
_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_money: Final[TypeAdapter[Decimal]] = TypeAdapter(Money)
_currency: Final[TypeAdapter[str]] = TypeAdapter(Currency)

ReservationTypeName = Literal["TICKET", "PRESALE", "OPTION"]


def drop_none(**members: Any) -> dict[str, Any]:  # noqa: ANN401 -- any values
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


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
    return drop_none(
        passengers=travellers,
        vehicle=None if vehicle is None else values_of(VehicleQuery, vehicle, "vehicle"),
    )


def passengers_on(
    day: date, passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller]
) -> list[SearchPassenger]:
    """Return the passengers of a search, with travellers at their age and type on a day."""
    bands = passengers.bands if isinstance(passengers, Travellers) else DEFAULT_BANDS

    def parse(value: object, index: int) -> SearchPassenger:
        if not isinstance(value, Traveller):
            return parse_input(SearchPassenger, value, "passengers", index)
        age = age_of(vars(value), day)
        where = f"passengers[{index}]"
        for field, value_of_field in (("gender", value.gender), ("birth_date", age)):
            if value_of_field is None:
                raise InvalidInputError("required for a search", field=f"{where}.{field}")
        if cast("int", age) < 0:
            raise InvalidInputError("after the day of travel", field=f"{where}.birth_date")
        kind = value.type or bands.type_at(cast("int", age))
        order = {} if value.order is None else {"order": value.order}
        values = {"type": kind, "gender": value.gender, "age": age, **order}
        return SearchPassenger.model_validate(values)

    return [parse(value, index) for index, value in enumerate(_listed(passengers, "passengers"))]


def selections(availabilities: Sequence[Selection | SelectionDict]) -> list[Values]:
    """Validate the selections; a tariff locked to a round trip allows one company only."""
    chosen = [
        values_of(Selection, value, "availabilities", index)
        for index, value in enumerate(_listed(availabilities, "availabilities", Selection))
    ]
    if len(chosen) > 1 and len({choice["company"] for choice in chosen if "company" in choice}) > 1:
        for index, choice in enumerate(chosen):
            if choice.get("roundtrip_locked"):
                raise InvalidInputError(
                    "the tariff is valid only as a round trip with the same company",
                    field=f"availabilities[{index}]",
                )
    return chosen


def expiries(chosen: Iterable[Values]) -> dict[str, datetime]:
    """Return the known expiration dates of the tariffs, by argument."""
    return {
        f"availabilities[{index}]": selection["expiration_date"]
        for index, selection in enumerate(chosen)
        if "expiration_date" in selection
    }


def booking(
    availabilities: Sequence[Values] | None,
    passengers: Sequence[Passenger | PassengerDict | Traveller],
    reservation_type: ReservationTypeName | str | None,
    vehicle: Vehicle | VehicleDict | None,
    contact: Contact | ContactDict | None,
) -> dict[str, object]:
    """Return the body of a booking. Interface: POST /api/booking."""
    chosen = availabilities or ()
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
    listed = _listed(passengers, "passengers")
    party = [  # a dict is recognised first, because `isinstance` of a model is slow
        drop_none(**vars(value))
        if not isinstance(value, dict) and isinstance(value, Traveller)
        else values_of(Passenger, value, "passengers", index)  # pyright: ignore[reportUnknownArgumentType] -- from a caller
        for index, value in enumerate(listed)
    ]
    days = [selection["depart_at"].date() for selection in chosen if "depart_at" in selection]
    first = min(days) if days and len(days) == len(chosen) else None
    last = max(days) if days else None
    for problem in contradictions(party, first, last, bands):
        where = f"passengers[{problem.traveller}].{problem.field}"
        raise InvalidInputError(problem.problem, field=where)
    for index, passenger in enumerate(party):
        value = listed[index]
        is_traveller = not isinstance(value, dict) and isinstance(value, Traveller)
        if is_traveller and Passenger not in type(value).__mro__:  # pyright: ignore[reportUnknownArgumentType] -- from a caller
            age = age_of(passenger, first or first_day_possible())
            if "type" not in passenger and age is not None:
                passenger["type"] = bands.type_at(max(age, 0))
            for name in ("first_name", "last_name", "type"):
                if name not in passenger:
                    where = f"passengers[{index}].{name}"
                    raise InvalidInputError("required for a booking", field=where)
            if age is not None and first is not None:
                passenger["age"] = age
        passenger["type"] = _TYPES[passenger["type"]]
        passenger.setdefault("order", index + 1)
        if "gender" in passenger:
            passenger["gender"] = _LETTERS[passenger["gender"]]
    return party


def identifier(value: object, argument: str) -> str:
    """Return the identifier if it is valid as one segment of a path.

    Raises:
        InvalidInputError: It is empty, ``.`` or ``..``, or not a text that can be encoded.
    """
    if not isinstance(value, str) or not value.strip() or value in {".", ".."}:
        raise InvalidInputError("expected an identifier", field=argument)
    return value if value.isascii() else encodable_text(value, argument)


def identifiers(values: object, argument: str) -> list[str]:
    """Return a list of valid identifiers."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError("expected a list of identifiers", field=argument)
    return [
        identifier(value, f"{argument}[{index}]")
        for index, value in enumerate(cast("Iterable[object]", values))
    ]


def file_path(value: object, argument: str) -> Path:
    """Return the path of a file.

    Raises:
        InvalidInputError: It is not a path, or not a valid file name.
    """
    try:
        path = Path(os.fspath(cast("str", value)))
        is_good = "\0" not in os.fsdecode(os.fsencode(path)) and path.name not in {"", ".."}
    except (TypeError, ValueError):
        is_good, path = False, Path()
    if not is_good:
        raise InvalidInputError("expected the path of a file", field=argument)
    return path


def day(value: object, argument: str) -> str:
    """Return a date as YYYY-MM-DD."""
    return parse_day(value, argument).isoformat()


def clock_time(value: object, argument: str) -> str:
    """Return a time of day as HH:MM."""
    if isinstance(value, time | datetime):
        return value.strftime("%H:%M")
    if isinstance(value, str) and _TIME.fullmatch(value):
        return value
    raise InvalidInputError("expected a time, or a text as HH:MM", field=argument)


def moment(value: object, argument: str) -> str:
    """Return an aware datetime in ISO 8601; a text is returned unchanged."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.isoformat()
    if isinstance(value, str) and value:
        return value
    raise InvalidInputError("expected a datetime with a time zone", field=argument)


def money(value: object, argument: str) -> Decimal:
    """Return an amount from a `Decimal`, `int` or `str`; reject a `float`."""
    try:
        amount = _money.validate_python(value)
    except ValidationError as error:
        raise InvalidInputError(path_of(error)[1], field=argument) from None
    if not amount.is_finite():
        raise InvalidInputError("expected a finite amount", field=argument)
    return amount


def optional_money(value: object, argument: str) -> Decimal | None:
    """Return an amount or None, as `money` does."""
    return None if value is None else money(value, argument)


def currency_of(value: object, *amounts: Decimal | None) -> str | None:
    """Return the currency of some amounts in upper case, or None.

    Raises:
        InvalidInputError: It is no ISO 4217 code, or there is no amount.
    """
    if value is None:
        return None
    try:
        code = _currency.validate_python(value)
    except ValidationError:
        raise InvalidInputError("expected a currency, such as EUR", field="currency") from None
    if all(amount is None for amount in amounts):
        raise InvalidInputError("expected an amount in this currency", field="currency")
    return code


def text(value: object, argument: str) -> str:
    """Return a text; reject one that is blank."""
    if isinstance(value, str) and value.strip():
        return value
    raise InvalidInputError("expected a text", field=argument)


def optional(value: object, argument: str) -> str | None:
    """Return a text or None; reject a text that is blank."""
    return None if value is None else text(value, argument)


def values_of(model: type[Input], value: object, argument: str, index: int | None = None) -> Values:
    """Validate an input, a model or a dict, and return its fields that are not None."""
    # `cast` would be a call, and pyright knows no type of a dict's values that is not written.
    if isinstance(value, dict):
        values: Values | None
        try:
            values = _shape_of(model)(value)  # pyright: ignore[reportUnknownArgumentType] -- from a caller
        except ValidationError:
            values = None
        if values is not None and len(values) == len(value):  # pyright: ignore[reportUnknownArgumentType] -- from a caller
            return values
    return drop_none(**vars(parse_input(model, value, argument, index)))  # pyright: ignore[reportUnknownArgumentType]


@cache
@uninterrupted
def _shape_of(model: type[Input]) -> Callable[[object], Values]:
    """Return a validator of dicts with the fields of a model, none of them None.

    It returns a dict of the given fields in half the time that a model of all fields takes. It
    leaves unknown fields out, because pydantic takes longer to refuse them. Only the model decides
    about a dict that it refuses or shortens.
    """
    annotated: Any = Annotated
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        members = get_args(field.annotation)
        kind = members[0] if members[1:] == (NoneType,) else field.annotation
        parts = (kind, *field.metadata, None)
        need: Any = Required if field.is_required() else NotRequired
        fields[name] = need[annotated[parts]]
    shape: Any = with_config(ConfigDict(extra="ignore"))(TypedDict("shape", fields))  # type: ignore[operator]  # mypy knows it with literals only
    return TypeAdapter(shape).validator.validate_python


def _listed(values: object, argument: str, model: type[Input] | None = None) -> Sequence[object]:
    """Return the elements of a list or another iterable; reject an empty one."""
    if not isinstance(values, (list, tuple)):
        # Iterating over a model yields its fields.
        is_one = isinstance(values, str | Mapping | BaseModel)
        if is_one or not isinstance(values, Iterable):
            source = "" if model is None else SOURCES[model]
            raise InvalidInputError(f"expected a list{source}", field=argument)
        values = tuple(cast("Iterable[object]", values))
    if not values:
        raise InvalidInputError("expected at least one", field=argument)
    return values  # pyright: ignore[reportUnknownVariableType] -- from a caller


_CHECKS: Final = {"at": day, "time": clock_time, "open": flag}
"""The checks of the arguments of a search, by the last word of their names; others are ids."""
_SEARCH: Final = [
    field for field in fields(SearchArguments) if field.name not in {"passengers", "vehicle"}
]
