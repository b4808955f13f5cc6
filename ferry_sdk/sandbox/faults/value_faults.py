"""Faults that change the JSON value of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from ferry_sdk.sandbox.faults.details import Details

_ENUMERATIONS = ("stage", "status", "payment_status", "ticket_status", "direction", "type", "use")


class ValueFault(Details):
    """A fault that changes the value of an answer."""

    def reshape(self, value: JsonValue) -> JsonValue:
        """Return the changed value; `value` itself is not modified."""
        raise NotImplementedError


class WrongShape(ValueFault):
    """Valid JSON of an unexpected type.

    Attributes:
        value: The value to answer; by default an object for an array, else an array.
    """

    value: JsonValue = None

    def reshape(self, value: JsonValue) -> JsonValue:
        """Return the other value."""
        if "value" in self.model_fields_set:
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
        way: list[str] = []
        record = value
        if isinstance(record, dict) and len(record) == 1:
            ((name, record),) = record.items()
            way.append(name)
        if isinstance(record, list):
            way.append(str(self.index))
            record = record[self.index] if self.index < len(record) else None
        field = self.field or self.usual_field(record)
        return value if field is None else _replace(value, [*way, *field.split(".")], self.new())

    def usual_field(self, record: JsonValue) -> str | None:
        """Return the path of the field to change if none is given."""
        return next(iter(record), None) if isinstance(record, dict) else None

    def new(self) -> Sequence[JsonValue]:
        """Return the replacement of the field: one value, or none to remove it."""
        return ()


class MissingField(WrongField):
    """One missing field in one record."""


class NullField(WrongField):
    """One null field in one record."""

    def new(self) -> Sequence[JsonValue]:
        """Return null."""
        return (None,)


class UnknownEnum(WrongField):
    """One unknown enumeration value.

    Attributes:
        field: The path; by default the first field that is an enumeration.
        index: The index of the record in a list.
        value: The unknown value.
    """

    value: str = "Unheard"

    def usual_field(self, record: JsonValue) -> str | None:
        """Return the path of the outermost enumeration."""
        return next(_enumerations(record), None)

    def new(self) -> Sequence[JsonValue]:
        """Return the unknown value."""
        return (self.value,)


def _replace(value: JsonValue, path: Sequence[str], new: Sequence[JsonValue]) -> JsonValue:
    """Return a copy of `value` with `new` at `path`, or `value` if the path does not exist."""
    step, *rest = path
    if isinstance(value, dict) and step in value:
        inner = [_replace(value[step], rest, new)] if rest else new
        pairs = ((key, [old] if key != step else inner) for key, old in value.items())
        return {key: kept[0] for key, kept in pairs if kept}
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        place = int(step)
        inner = [_replace(value[place], rest, new)] if rest else new
        return [*value[:place], *inner, *value[place + 1 :]]
    return value


def _enumerations(value: JsonValue, way: str = "") -> Iterator[str]:
    """Yield the paths of the enumerations, outermost first."""
    inner: Iterator[tuple[str, JsonValue]] = iter(())
    if isinstance(value, dict):
        yield from (way + name for name in _ENUMERATIONS if isinstance(value.get(name), str))
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = ((str(place), item) for place, item in enumerate(value))
    for name, item in inner:
        yield from _enumerations(item, f"{way}{name}.")
