"""Validate single arguments and convert them to the JSON of the service."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, time
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, NotRequired, Required, cast, get_args

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from ferry_sdk._engine.validation import encodable_text
from ferry_sdk._runtime.threads import uninterrupted
from ferry_sdk._runtime.values import is_a, is_iterable
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import Currency, Money, path_of
from ferry_sdk.models.inputs import Input, parse_input
from ferry_sdk.models.travellers import parse_day

Values = dict[str, Any]
"""The fields of an input that are given, as Python values."""

# Not `time.fromisoformat`: since Python 3.14 it reads 24:00 as midnight at the start of the day.
_TIME: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_KEY: Final = re.compile(r"[ -~]{1,255}")
_money: Final[TypeAdapter[Decimal]] = TypeAdapter(Money)
_currency: Final[TypeAdapter[str]] = TypeAdapter(Currency)

ReservationTypeName = Literal["TICKET", "PRESALE", "OPTION"]


def drop_none(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


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
    if isinstance(values, str | bytes) or not is_iterable(values):
        raise InvalidInputError("expected a list of identifiers", field=argument)
    return [identifier(value, f"{argument}[{index}]") for index, value in enumerate(values)]


def file_path(value: object, argument: str) -> Path:
    """Return the path of a file.

    Raises:
        InvalidInputError: It is not a path, or not a valid file name.
    """
    with suppress(TypeError, ValueError):
        path = Path(os.fspath(cast("str", value)))
        if b"\0" not in os.fsencode(path) and path.name not in {"", ".."}:
            return path
    raise InvalidInputError("expected the path of a file", field=argument)


def day(value: object, argument: str) -> str:
    """Return a date as YYYY-MM-DD."""
    return parse_day(value, argument).isoformat()


def clock_time(value: object, argument: str) -> str:
    """Return a time of day as HH:MM."""
    if isinstance(value, time) or is_a(value, datetime):
        return value.strftime("%H:%M")
    if isinstance(value, str) and _TIME.fullmatch(value):
        return value
    raise InvalidInputError("expected a time, or a text as HH:MM", field=argument)


def moment(value: object, argument: str) -> str:
    """Return an aware datetime in ISO 8601; a text is returned unchanged."""
    if is_a(value, datetime) and value.tzinfo is not None:
        return value.isoformat()
    if isinstance(value, str) and value:
        return value
    raise InvalidInputError("expected a datetime with a time zone", field=argument)


def money(value: object, argument: str) -> Decimal:
    """Return an amount from a `Decimal`, `int` or `str`; reject a `float`."""
    try:
        return _money.validate_python(value)
    except ValidationError as error:
        raise InvalidInputError(path_of(error)[1], field=argument) from None


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


def printable_key(value: object) -> str:
    """Return an idempotency key; reject one that the journal does not keep."""
    if isinstance(value, str) and _KEY.fullmatch(value):
        return value
    raise InvalidInputError("expected 1 to 255 printable ASCII characters", field="idempotency_key")


def values_of(model: type[Input], value: object, argument: str, index: int | None = None) -> Values:
    """Validate an input, a model or a dict, and return its fields that are not None.

    A dict is read by `_shape_of` first, in half the time that the model takes. The result counts if
    it has every member of the dict. If not, the model decides, and writes the error.
    """
    # Not `cast`, which would be a call: pyright knows no type for the values of this dict.
    if isinstance(value, dict):
        try:
            values = _shape_of(model)(value)  # pyright: ignore[reportUnknownArgumentType] -- from a caller
        except (ValidationError, TypeError):
            pass  # the model decides, below
        else:
            if len(values) == len(value):  # pyright: ignore[reportUnknownArgumentType] -- from a caller
                return values

    # The caller may have passed anything, so pyright does not know the type of the value.
    parsed = parse_input(model, value, argument, index=index)  # pyright: ignore[reportUnknownArgumentType]
    return drop_none(vars(parsed))


@cache
@uninterrupted
def _shape_of(model: type[Input]) -> Callable[[object], Values]:
    """Return a validator of dicts that have fields of a model, none of them None.

    It returns a new dict of the given fields only, where a model has a value for every field. It
    leaves unknown fields out, because pydantic takes longer to reject them; the caller notices it
    by the number of members.

    Example: of `Vehicle` it makes a typed dict with
    ``{"code": Required[Identifier], "brand": NotRequired[_Name], ...}``.
    """
    annotated: Any = Annotated  # type checkers know no `Annotated` of a variable
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        members = get_args(field.annotation)
        is_optional = members[1:] == (NoneType,)
        kind = members[0] if is_optional else field.annotation
        need: Any = Required if field.is_required() else NotRequired
        parts = (kind, *field.metadata, None)  # `Annotated` rejects a kind without metadata
        fields[name] = need[annotated[parts]]

    shape: Any = TypedDict("shape", fields)  # type: ignore[misc]  # mypy knows it with literals only
    with_config(ConfigDict(extra="ignore"))(shape)
    return TypeAdapter(shape).validator.validate_python
