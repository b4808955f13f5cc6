"""Validate arguments and convert them to the JSON of the service, for either protocol."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from ferry_sdk._engine.validation import flag
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import Currency, Money, path_of
from ferry_sdk.models.enums import Gender, PassengerType
from ferry_sdk.models.inputs import (
    Contact,
    ContactDict,
    Input,
    Passenger,
    PassengerDict,
    SearchPassenger,
    SearchPassengerDict,
    Selection,
    SelectionDict,
    Vehicle,
    VehicleDict,
    VehicleQuery,
    VehicleQueryDict,
)

ModelT = TypeVar("ModelT", bound=Input)
Vocabulary = Mapping[PassengerType, str]

REST_CODES: Final[Vocabulary] = {kind: kind.value for kind in PassengerType}
MCP_CODES: Final[Vocabulary] = {
    PassengerType.ADULT: "ADT",
    PassengerType.CHILD: "CHD",
    PassengerType.INFANT: "INF",
}
_LETTERS: Final = {Gender.MALE: "M", Gender.FEMALE: "F"}
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# Not `time.fromisoformat`: since Python 3.14 it takes 24:00 for midnight at the day's beginning.
_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_money: Final[TypeAdapter[Decimal]] = TypeAdapter(Money)
_currency: Final[TypeAdapter[str]] = TypeAdapter(Currency)

ReservationTypeName = Literal["TICKET", "PRESALE", "OPTION"]


def drop_none(**members: object) -> dict[str, object]:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def search(
    passengers: Sequence[SearchPassenger | SearchPassengerDict],
    vehicle: VehicleQuery | VehicleQueryDict | None,
    **request: object,
) -> dict[str, object]:
    """Return the body of a search. Interface: POST /api/availability."""
    checked = {
        name: _SEARCH[name](value, name)
        for name, value in request.items()
        if value is not None or name in _REQUIRED
    }
    travellers = [
        {
            "order": traveller.order or number,
            "type": traveller.type.value,
            "param": traveller.param or traveller.type.value[0],
            "gender": traveller.gender.value,
            "age": traveller.age,
        }
        for number, traveller in enumerate(
            _parse_list(SearchPassenger, passengers, "passengers"), 1
        )
    ]
    return drop_none(
        request=checked,
        passengers=travellers,
        vehicle=_parse_optional(VehicleQuery, vehicle, "vehicle"),
    )


def selections(availabilities: Sequence[Selection | SelectionDict]) -> list[Selection]:
    """Validate the selections; a tariff locked to a round trip allows one company only."""
    chosen = _parse_list(Selection, availabilities, "availabilities")
    locked = [index for index, one in enumerate(chosen) if one.roundtrip_locked]
    if locked and len({one.company for one in chosen if one.company is not None}) > 1:
        raise InvalidInputError(
            "the tariff is valid only as a round trip with the same company",
            field=f"availabilities[{locked[0]}]",
        )
    return chosen


def expiries(chosen: Iterable[Selection]) -> dict[str, datetime]:
    """Return the known expiration dates of the tariffs, by argument."""
    return {
        f"availabilities[{index}]": one.expiration_date
        for index, one in enumerate(chosen)
        if one.expiration_date is not None
    }


def booking(
    codes: Vocabulary,
    *,
    availabilities: Sequence[Selection] | None,
    passengers: Sequence[Passenger | PassengerDict],
    reservation_type: ReservationTypeName | str | None,
    vehicle: Vehicle | VehicleDict | None,
    contact: Contact | ContactDict | None,
) -> dict[str, object]:
    """Return the body of a booking. Interface: POST /api/booking, create_booking."""
    return drop_none(
        availabilities=None if availabilities is None else [to_wire(one) for one in availabilities],
        passengers=[
            _passenger(codes, traveller, number)
            for number, traveller in enumerate(_parse_list(Passenger, passengers, "passengers"), 1)
        ],
        reservation_type=optional(reservation_type, "reservation_type")
        or next((one.reservation_type for one in availabilities or ()), None),
        vehicle=_parse_optional(Vehicle, vehicle, "vehicle"),
        contact=_parse_optional(Contact, contact, "contact"),
    )


def _passenger(codes: Vocabulary, traveller: Passenger, number: int) -> dict[str, object]:
    passenger = to_wire(traveller)
    passenger["type"] = codes[traveller.type]
    passenger["order"] = traveller.order or number
    if traveller.gender is not None:
        passenger["gender"] = _LETTERS[traveller.gender]
    return passenger


def identifier(value: object, argument: str) -> str:
    """Return the identifier if it is valid as one segment of a path.

    Raises:
        InvalidInputError: It is empty, ``.`` or ``..``, or not a text that can be encoded.
    """
    if not isinstance(value, str) or not value.strip() or value in {".", ".."}:
        raise InvalidInputError("expected an identifier", field=argument)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInputError("not a text that can be encoded", field=argument) from None
    return value


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
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            pass
    raise InvalidInputError("expected a date, or a text as YYYY-MM-DD", field=argument)


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


def to_wire(model: Input) -> dict[str, object]:
    """Return an input as the JSON object on the wire, without pydantic's slow serializer."""
    values = vars(model)
    sent = {name: values[name] for name in _sent_fields(type(model)) if values[name] is not None}
    for name in model.dates:
        if name in sent:
            sent[name] = date.isoformat(sent[name])
    return sent


@cache
def _sent_fields(model: type[Input]) -> tuple[str, ...]:
    return tuple(name for name in model.model_fields if name not in model.not_sent)


def _parse_optional(model: type[ModelT], value: object, argument: str) -> dict[str, object] | None:
    return None if value is None else to_wire(_parse(model, value, argument))


def _parse_list(model: type[ModelT], values: object, argument: str) -> list[ModelT]:
    if not isinstance(values, list | tuple) and (
        not isinstance(values, Iterable)
        or isinstance(values, str | Mapping | BaseModel)  # iterating over a model yields its fields
    ):
        raise InvalidInputError("expected a list", field=argument)
    read = [
        _parse(model, value, argument, index)
        for index, value in enumerate(cast("Iterable[object]", values))
    ]
    if not read:
        raise InvalidInputError("expected at least one", field=argument)
    return read


def _parse(model: type[ModelT], value: object, argument: str, index: int | None = None) -> ModelT:
    try:
        checked: ModelT = model.__pydantic_validator__.validate_python(value)
    except ValidationError as error:
        where, problem = path_of(error)
    else:
        return checked
    if index is not None:
        argument = f"{argument}[{index}]"
    raise InvalidInputError(problem, field=f"{argument}.{where}" if where else argument)


_SEARCH: Final[Mapping[str, Callable[[object, str], object]]] = {
    "company": identifier,
    "depart_code": identifier,
    "arrive_code": identifier,
    "out_journey_id": identifier,
    "out_at": day,
    "out_time": clock_time,
    "out_is_open": flag,
    "ret_journey_id": identifier,
    "ret_at": day,
    "ret_time": clock_time,
    "ret_is_open": flag,
}
"""The functions that check the arguments of a search."""
_REQUIRED: Final = ("company", "depart_code", "arrive_code", "out_journey_id", "out_at", "out_time")
