"""Faults that change the JSON value of an answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from enum import Enum
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue
from pydantic_core import PydanticCustomError

from ferry_sdk.sandbox.faults.details import Details


class Removed(Enum):
    """The type of `REMOVED`."""

    REMOVED = "removed"


REMOVED = Removed.REMOVED
"""What replaces a field that is removed."""
_ENUMERATIONS = ("stage", "status", "payment_status", "ticket_status", "direction", "type", "use")


class ValueFault(Details):
    """A fault that changes the value of an answer."""

    def reshape(self, value: JsonValue) -> JsonValue:
        """Return the changed value; `value` itself is not modified."""
        raise NotImplementedError


def _check_writable(value: JsonValue) -> JsonValue:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # half a surrogate pair, or a number such as infinity
        raise PydanticCustomError("json", "The value cannot be written as JSON in UTF-8") from None
    return value


class WrongShape(ValueFault):
    """Valid JSON of an unexpected type.

    Attributes:
        value: The value to answer; by default an object for an array, else an array.
    """

    value: Annotated[JsonValue, AfterValidator(_check_writable)] = None

    def reshape(self, value: JsonValue) -> JsonValue:
        """Return the other value."""
        if "value" in self.model_fields_set:  # also null
            return self.value
        return {"unexpected": True} if isinstance(value, list) else ["unexpected"]


class WrongField(ValueFault):
    """One wrong field in one record.

    Attributes:
        field: The path, such as `tariffs.0.amount`; by default the record's first field.
        index: The index of the record in a list.
    """

    field: Annotated[str, Field(min_length=1)] | None = None
    index: Annotated[int, Field(ge=0)] = 0

    def reshape(self, value: JsonValue) -> JsonValue:
        """Return the value with the field changed, or unchanged if there is no such field."""
        record = value
        path: list[str] = []
        if isinstance(record, dict) and len(record) == 1:
            # An object that only holds a list, such as `{"ports": […]}`.
            ((name, record),) = record.items()
            path.append(name)
        if isinstance(record, list):
            path.append(str(self.index))
            record = record[self.index] if self.index < len(record) else None

        field = self.field or self.default_field(record)
        if field is None:
            return value
        return _change(value, [*path, *field.split(".")], self.replacement())

    def default_field(self, record: JsonValue) -> str | None:
        """Return the path of the field to change if none is given."""
        return next(iter(record), None) if isinstance(record, dict) else None

    def replacement(self) -> JsonValue | Removed:
        """Return the new value of the field, or `REMOVED`."""
        return REMOVED


class MissingField(WrongField):
    """One missing field in one record."""


class NullField(WrongField):
    """One null field in one record."""

    def replacement(self) -> JsonValue | Removed:
        """Return null."""
        return None


class UnknownEnum(WrongField):
    """One unknown enumeration value.

    Attributes:
        field: The path; by default the first field that is an enumeration.
        index: The index of the record in a list.
        value: The unknown value.
    """

    value: str = "Unheard"

    def default_field(self, record: JsonValue) -> str | None:
        """Return the path of the outermost enumeration."""
        return next(_enumerations(record), None)

    def replacement(self) -> JsonValue | Removed:
        """Return the unknown value."""
        return self.value


class FareChange(ValueFault):
    """Other prices of the sailings that a search finds. A booking costs what it did before.

    Attributes:
        factor: Multiplies the amounts.
    """

    factor: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 0.9

    def reshape(self, value: JsonValue) -> JsonValue:
        """Return the sailings with other amounts; any other value is not changed."""
        if not isinstance(value, list):
            return value
        sailings: Any = deepcopy(value)
        for sailing in sailings:
            for tariff in sailing["tariffs"]:
                tariff["amount"] = round(tariff["amount"] * self.factor, 2)
                tariff["balance_amount"] = round(tariff["balance_amount"] * self.factor, 2)
        changed: JsonValue = sailings
        return changed


def _change(value: JsonValue, path: Sequence[str], new: JsonValue | Removed) -> JsonValue:
    """Return a copy of `value` with `new` at `path`, or `value` if the path does not exist.

    `_change({"tariffs": [{"amount": 10}]}, ["tariffs", "0", "amount"], None)` returns
    `{"tariffs": [{"amount": None}]}`.
    """
    step, *rest = path
    copy: Any  # a dict with texts as its keys, or a list with numbers
    key: Any
    if isinstance(value, dict) and step in value:
        copy = dict(value)
        key = step
    elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        copy = list(value)
        key = int(step)
    else:
        return value

    if rest:
        copy[key] = _change(copy[key], rest, new)
    elif isinstance(new, Removed):
        del copy[key]
    else:
        copy[key] = new
    changed: JsonValue = copy
    return changed


def _enumerations(value: JsonValue, path: str = "") -> Iterator[str]:
    """Yield the paths of the enumerations, outermost first."""
    members: Iterable[tuple[str, JsonValue]] = ()
    if isinstance(value, dict):
        yield from (path + name for name in _ENUMERATIONS if isinstance(value.get(name), str))
        members = value.items()
    elif isinstance(value, list):
        members = ((str(index), item) for index, item in enumerate(value))
    for name, member in members:
        yield from _enumerations(member, f"{path}{name}.")
