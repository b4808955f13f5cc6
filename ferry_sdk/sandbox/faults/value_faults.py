"""Faults that make a good JSON answer wrong in one place, or give it another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, JsonValue

from ferry_sdk.sandbox.faults.kinds import Details

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ENUMERATIONS = ("stage", "status", "payment_status", "ticket_status", "direction", "type", "use")


class ValueFault(Details):
    """A fault that changes the value of an answer."""

    def reshape(self, value: JsonValue) -> JsonValue:
        """The value in place of `value`, which stays as it is."""
        raise NotImplementedError


class WrongShape(ValueFault):
    """Good JSON, but not what was asked for.

    Attributes:
        value: What is answered; left out, an object for an array and an array for an object.
    """

    value: JsonValue = None

    def reshape(self, value: JsonValue) -> JsonValue:
        """Another value altogether."""
        if "value" in self.model_fields_set:
            return self.value
        return {"unexpected": True} if isinstance(value, list) else ["unexpected"]


class WrongField(ValueFault):
    """One field of one record is wrong.

    Attributes:
        field: Its path, `tariffs.0.amount` for example; left out, the record's first field.
        index: Which record of a list, counted from 0.
    """

    field: Annotated[str, Field(min_length=1)] | None = None
    index: Annotated[int, Field(ge=0)] = 0

    def reshape(self, value: JsonValue) -> JsonValue:
        """The value with the field changed; the same value where there is no such field."""
        way: list[str] = []
        record = value
        if isinstance(record, dict) and len(record) == 1:
            ((name, record),) = record.items()
            way.append(name)
        if isinstance(record, list):
            way.append(str(self.index))
            record = record[self.index] if self.index < len(record) else None
        field = self.field or self.usual_field(record)
        return value if field is None else _replaced(value, [*way, *field.split(".")], self.new())

    def usual_field(self, record: JsonValue) -> str | None:
        """The path of the field that is changed where none is named."""
        return next(iter(record), None) if isinstance(record, dict) else None

    def new(self) -> Sequence[JsonValue]:
        """What stands in the field's place: one value or none."""
        raise NotImplementedError


class MissingField(WrongField):
    """One field of one record is missing."""

    def new(self) -> Sequence[JsonValue]:
        """Nothing."""
        return ()


class NullField(WrongField):
    """One field of one record is null."""

    def new(self) -> Sequence[JsonValue]:
        """Null."""
        return (None,)


class UnknownEnum(WrongField):
    """One value is on nobody's list.

    Attributes:
        field: Its path; left out, the first field that has a list of values.
        index: Which record of a list, counted from 0.
        value: The value nobody knows.
    """

    value: str = "Unheard"

    def usual_field(self, record: JsonValue) -> str | None:
        """The outermost field that has a list of values."""
        return next(_enumerations(record), None)

    def new(self) -> Sequence[JsonValue]:
        """The value nobody knows."""
        return (self.value,)


def _replaced(value: JsonValue, path: Sequence[str], new: Sequence[JsonValue]) -> JsonValue:
    """A copy of `value` with `new` in the place that `path` leads to, if it leads anywhere."""
    step, *rest = path
    if isinstance(value, dict) and step in value:
        inner = [_replaced(value[step], rest, new)] if rest else new
        pairs = ((key, [old] if key != step else inner) for key, old in value.items())
        return {key: kept[0] for key, kept in pairs if kept}
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        place = int(step)
        inner = [_replaced(value[place], rest, new)] if rest else new
        return [*value[:place], *inner, *value[place + 1 :]]
    return value


def _enumerations(value: JsonValue, way: str = "") -> Iterator[str]:
    """The paths of the fields that have a list of values, the outermost first."""
    inner: Iterator[tuple[str, JsonValue]] = iter(())
    if isinstance(value, dict):
        yield from (way + name for name in _ENUMERATIONS if isinstance(value.get(name), str))
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = ((str(place), item) for place, item in enumerate(value))
    for name, item in inner:
        yield from _enumerations(item, f"{way}{name}.")
