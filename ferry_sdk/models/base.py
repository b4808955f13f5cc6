"""What every record on the wire is built from: base models and the kinds of values in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn, TypeVar, cast

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from typing_extensions import Self

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("a record does not change")


class FrozenDict(dict[KeyT, ValueT]):
    """A mapping of a record, which does not change as the record does not."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a checker is not to know of other signatures than a dict's
        __setitem__ = __delitem__ = __ior__ = _refuse
        clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class Model(BaseModel):
    """An immutable record; a field never seen before is kept in ``model_extra``."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        defer_build=True,
        extra="allow",
        frozen=True,
        populate_by_name=True,
        protected_namespaces=(),
        hide_input_in_errors=True,
    )

    @property
    def model_extra(self) -> dict[str, Any]:
        """The fields never seen before: a copy, as a record does not change."""
        return dict(super().model_extra or {})

    @property
    def model_fields_set(self) -> set[str]:
        """The fields that were there: a copy, as a record does not change."""
        return set(super().model_fields_set)

    def __hash__(self) -> int:
        values = vars(self)
        parts = tuple([values.get(name) for name in type(self).model_fields])
        try:
            return hash(parts)
        except TypeError:  # the interface leaves open what is in it, such as a list
            return hash(_hashable(parts))

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """The fields that are known: what else the service says may be personal."""
        known = type(self).model_fields
        return ((name, value) for name, value in super().__repr_args__() if name in known)

    def _repr_html_(self) -> str:
        """Return the record as a card, for notebooks; it shows no more than the repr."""
        from ferry_sdk.models.display.cards import record_card  # noqa: PLC0415 -- for notebooks only

        return record_card(self)


def _hashable(value: object) -> object:
    """Something of the same hash for equal values of JSON."""
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return frozenset((name, _hashable(member)) for name, member in members.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, cast("Iterable[object]", value)))
    return value


class LongNumber(float):
    """A number of JSON with more digits than a float keeps; its repr has all of them."""

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, text: str) -> Self:
        """Make it of the text on the wire; as a float it is the nearest one."""
        number = super().__new__(cls, text)
        number._text = text
        return number

    def __repr__(self) -> str:
        return self._text

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        return (self._text,)


def _amount(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number is expected, not a boolean")
    return Decimal(repr(value)) if isinstance(value, LongNumber) else value


def _spent_or_said(value: object) -> object:
    if isinstance(value, float | bool):
        raise ValueError("money is a Decimal, an int or a str, never a float")
    return value


def _from_epoch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a moment is expected, not a boolean")
    if isinstance(value, int | float):
        try:
            return datetime.fromtimestamp(value, tz=timezone.utc)
        except (OverflowError, OSError, ValueError):
            raise ValueError("not a moment in epoch seconds") from None
    return value


_DAY = len("YYYY-MM-DD")
_moment: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


def _moment_or_text(value: object) -> object:
    if isinstance(value, str):
        if value[4:5] != "-":
            return value
        try:
            return _moment.validate_python(value)
        except ValidationError:
            return value
    return _from_epoch(value)


def _day_or_text(value: object) -> object:
    if isinstance(value, str) and len(value) == _DAY and value[4] == value[7] == "-":
        try:
            return date.fromisoformat(value)
        except ValueError:
            return value
    return value


def _absent_as_empty(value: object) -> object:
    return "" if value is None else value


Amount = Annotated[Decimal, BeforeValidator(_amount)]
"""Money as the service says it: a JSON number, exact to the digits on the wire."""

Money = Annotated[Decimal, BeforeValidator(_spent_or_said)]
"""Money as a caller says it: `Decimal`, `int` or `str`; a `float` is refused."""

Currency = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{3}$", to_upper=True, strict=True)]
"""An ISO 4217 code in upper case, whatever case the wire has (``Eur`` is ``EUR``)."""

Moment = AwareDatetime
"""A moment with its offset: ISO 8601 with an offset, or epoch seconds (then UTC)."""

LooseMoment = Annotated[datetime | str, BeforeValidator(_moment_or_text)]
"""A moment where the interface promises no offset: what cannot be read as one stays the text."""

LooseDay = Annotated[date | str, BeforeValidator(_day_or_text)]
"""A date of the calendar: what is not written YYYY-MM-DD stays the text."""

Text = Annotated[str, BeforeValidator(_absent_as_empty)]
"""A text that is not there yet at some stages: absent and null are the empty string."""

Identifier = Annotated[str, StringConstraints(min_length=1, strict=True)]
"""An identifier: a string, never empty, never a number taken for one."""

Values = tuple[JsonValue, ...]
"""An array whose elements the interface does not show."""

Members = Annotated[Mapping[str, JsonValue], AfterValidator(FrozenDict)]
"""An object whose members the interface does not show."""


def path_of(error: ValidationError) -> tuple[str, str]:
    """Where a record is wrong first, as a path (``tickets[0].status``), and what is wrong there.

    The value that is wrong is in neither.
    """
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    text = ""
    for part in first["loc"]:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text, first["msg"].removeprefix("Value error, ")
