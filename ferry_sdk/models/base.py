"""Base models of records, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, timezone
from decimal import Decimal
from functools import partial
from inspect import Signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NoReturn, TypeVar

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
    field_serializer,
)
from pydantic_core import PydanticCustomError
from typing_extensions import LiteralString, Self

from ferry_sdk._runtime.fork import ProcessLock
from ferry_sdk._runtime.money import exact_amount
from ferry_sdk._runtime.threads import uninterrupted
from ferry_sdk.models.docstrings import describe_properties

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


def _reject_change(*_: object, **__: object) -> NoReturn:
    raise TypeError("a record is immutable")


class FrozenDict(dict[KeyT, ValueT]):
    """An immutable mapping within a record."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers keep the signatures of dict
        __setitem__ = __delitem__ = __ior__ = _reject_change
        clear = pop = popitem = setdefault = update = _reject_change

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


_LARGEST_EXPONENT: Final = 5_000
"""Of an amount, up or down: more than a JSON number has, and few enough digits to add."""

_DEPRECATED: Final = frozenset(
    name
    for name, method in vars(BaseModel).items()
    if hasattr(getattr(method, "__func__", method), "__deprecated__")
)
"""Methods of pydantic 1, such as ``parse_raw``."""
_build_lock: Final = ProcessLock()


class _DeferredSignature:
    """The signature of a model that is not built yet: `inspect.signature` builds the model."""

    def __get__(self, instance: object, owner: type[BaseModel]) -> Signature:
        if instance is None and owner.model_rebuild(raise_errors=False) is not False:
            return owner.__signature__  # pydantic has replaced this descriptor
        raise AttributeError("__signature__")


class DeferredModel(BaseModel):
    """An immutable model that is built on first use, which makes the import cheaper.

    pydantic cannot repair a validator whose building was interrupted, so no signal may interrupt
    it.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        defer_build=True,
        frozen=True,
        hide_input_in_errors=True,
        json_schema_extra=describe_properties,
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401 -- the config of pydantic
        """Give a subclass its signature before it is built."""
        super().__init_subclass__(**kwargs)
        type.__setattr__(cls, "__signature__", _DeferredSignature())

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:  # noqa: ANN401 -- those of pydantic
        """Build the validator in a thread of its own, unless it is built."""
        # No names of the caller's frame: the thread has other frames, and no model needs them.
        return _build(partial(super().model_rebuild, **options | {"_parent_namespace_depth": 0}))


@uninterrupted
def _build(rebuild: Callable[[], bool | None]) -> bool | None:
    with _build_lock.current:
        return rebuild()


class Model(DeferredModel):
    """An immutable record; unknown fields are kept in ``model_extra``."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="allow",
        populate_by_name=True,
        protected_namespaces=(),
    )

    @property
    def model_extra(self) -> dict[str, Any]:
        """A copy of the unknown fields, because a record is immutable."""
        return dict(super().model_extra or {})

    @property
    def model_fields_set(self) -> set[str]:
        """A copy of the names of the fields that were set."""
        return set(super().model_fields_set)

    def __hash__(self) -> int:
        # Without arrays and objects: those of open JSON have no hash.
        values = map(vars(self).get, type(self).model_fields)
        return hash(tuple([each for each in values if not isinstance(each, (dict, list, tuple))]))

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """Return the known fields only, because unknown ones may hold personal data."""
        fields = type(self).model_fields
        return ((name, value) for name, value in super().__repr_args__() if name in fields)

    def __dir__(self) -> Iterable[str]:
        """Return the names without the deprecated methods of pydantic."""
        return sorted({*super().__dir__()} - _DEPRECATED)

    def _repr_html_(self) -> str:
        """Return the record as a card, for notebooks; it shows no more than the repr."""
        from ferry_sdk.notebook.cards import card_of  # noqa: PLC0415 -- for notebooks only

        return card_of(self)


_AMOUNTS: Final = ("amount", "balance_amount", "penalty_amount", "refund_amount", "total_price")


class PricedModel(Model):
    """A record with amounts in its `currency`; in JSON they have the decimals of the currency."""

    if TYPE_CHECKING:
        currency: Currency

    @field_serializer(*_AMOUNTS, when_used="json", check_fields=False)
    def _write_amount(self, amount: Decimal) -> str:
        return exact_amount(amount, self.currency)


class LongNumber(float):
    """A JSON number with more digits than a float holds; its repr has all of them."""

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, text: str) -> Self:
        """Create it from the text on the wire; its float value is the nearest one."""
        number = super().__new__(cls, text)
        number._text = text
        return number

    def __repr__(self) -> str:
        return self._text

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # float has none of its own
        return (self._text,)


def invalid(problem: LiteralString) -> PydanticCustomError:
    """Return the error of a validator; unlike a ValueError's, its `errors()` are JSON."""
    return PydanticCustomError("value_error", problem)


def _reject_negative(amount: Decimal) -> Decimal:
    if amount < 0:
        raise invalid("expected a number from 0")
    return amount


def _reject_float(value: object) -> object:
    if isinstance(value, float | bool):
        raise invalid("money is a Decimal, an int or a str, never a float")
    return value


def _reject_vast(amount: Decimal) -> Decimal:
    if abs(amount.adjusted()) > _LARGEST_EXPONENT:
        raise invalid("expected an amount of money")
    return amount


def _parse_epoch(value: object) -> object:
    """Read seconds; pydantic alone would read large numbers as milliseconds."""
    if isinstance(value, bool):
        raise invalid("expected a moment, not a boolean")
    if isinstance(value, int | float):
        try:
            return datetime.fromtimestamp(value, tz=timezone.utc)
        except (OverflowError, OSError, ValueError):
            raise invalid("not a moment in epoch seconds") from None
    return value


_DAY = len("YYYY-MM-DD")
_moment: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


def _parse_moment_or_keep(value: object) -> object:
    if isinstance(value, str) and value[4:5] == "-":
        with suppress(ValidationError):
            return _moment.validate_python(value)
    return _parse_epoch(value)


def _parse_day_or_keep(value: object) -> object:
    if isinstance(value, str) and len(value) == _DAY and value[4] == value[7] == "-":
        with suppress(ValueError):
            return date.fromisoformat(value)
    return value


Amount = Annotated[Decimal, AfterValidator(_reject_vast)]
"""Money in a record: a JSON number, exact to the digits on the wire, also of a `LongNumber`."""

Price = Annotated[Amount, AfterValidator(_reject_negative)]
"""An `Amount` that a traveller pays; a negative one would be an offer to be paid."""

Money = Annotated[Decimal, BeforeValidator(_reject_float), AfterValidator(_reject_vast)]
"""Money in an argument: `Decimal`, `int` or `str`; a `float` is rejected."""

Currency = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{3}$", to_upper=True, strict=True)]
"""An ISO 4217 code, converted to upper case (``Eur`` becomes ``EUR``)."""

Moment = AwareDatetime
"""A moment with its offset: ISO 8601 with an offset, or epoch seconds (then UTC)."""

LooseMoment = Annotated[datetime | str, BeforeValidator(_parse_moment_or_keep)]
"""An aware `datetime`; a text without an offset, or that is no moment, stays a `str`."""

LooseDay = Annotated[date | str, BeforeValidator(_parse_day_or_keep)]
"""A date as YYYY-MM-DD; any other text is kept."""

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text that may be missing at some stages; null becomes the empty string."""

Identifier = Annotated[str, StringConstraints(min_length=1, strict=True)]
"""An identifier: a string that is not empty; numbers are not converted."""

Values = tuple[JsonValue, ...]
"""An array whose elements the interface does not define."""

Members = Annotated[Mapping[str, JsonValue], AfterValidator(FrozenDict)]
"""An object whose members the interface does not define."""


def path_of(error: ValidationError) -> tuple[str, str]:
    """Return the path of the first invalid field (``tickets[0].status``) and the problem.

    Neither contains the invalid value.
    """
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return path_text(first["loc"]), first["msg"].removeprefix("Value error, ")


def path_text(location: tuple[int | str, ...]) -> str:
    """Return a path as a text, such as ``passengers[0].birth_date``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
