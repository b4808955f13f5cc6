"""Base models of records, the types of their values, and how a record with odd values is read.

**A field without a default decides. A field with one does not.** Programs book, pay or prove
something by a field that decides: if such a field cannot be read, neither can its record. A field
with a default never makes its record unreadable:

1. Pydantic reads the record. Usually that is all.
2. If that fails, `readable_members` looks at the fields that could not be read. If one of them
   decides, the error stands. It also stands if a record inside a field could not be read, because
   a field of that record decides: an amount that is no number is never passed over.
3. Null, an absent field, and an empty array or object mean the same: the field has its default. In
   a field that decides they mean no elements, or None, where its type has these.
4. Any other value that could not be read is left out and logged at DEBUG: an element of an array,
   the content of a named entry of an object, or the whole field. Then pydantic reads the rest.

Example: of ``{"id": "pl-1", "count": "many", "name": None}`` a `Place` reads ``count=None`` and
``name=""``. Without its id it is unreadable.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, auto
from functools import cache, partial
from inspect import Signature, isclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    LiteralString,
    NamedTuple,
    NoReturn,
    Self,
    TypeVar,
    cast,
    get_args,
    get_origin,
)

from pydantic import (
    AfterValidator,
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    JsonValue,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_serializer,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic_core import CoreSchema, PydanticCustomError, SchemaError, SchemaValidator

from ferry_sdk._runtime.fork import ProcessLock
from ferry_sdk._runtime.money import exact_amount
from ferry_sdk._runtime.threads import uninterrupted
from ferry_sdk.models.docstrings import describe_properties

logger: Final = logging.getLogger("ferry_sdk")

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
"""The largest power of ten in an amount, positive or negative.

A JSON number has fewer digits, and amounts of so many digits can still be added.
"""

LARGEST_COUNT: Final = 10**12
"""The largest `Count`, positive or negative. A time span and a column of a table can hold it."""

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
        # pydantic looks for names in the caller's frame, which the thread does not have. No model
        # needs such names.
        options["_parent_namespace_depth"] = 0
        return _build(partial(super().model_rebuild, **options))

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON schema.

        A default that is a record is written with the serializer of its class, which not every
        version of pydantic builds by itself.
        """
        for field in cls.model_fields.values():
            if isinstance(field.default, DeferredModel):
                type(field.default).model_rebuild()
        return super().__get_pydantic_json_schema__(schema, handler)


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

    @model_validator(mode="wrap")
    @classmethod
    def _read_tolerantly(cls, value: object, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Read a record without the values that cannot be read, unless one of them decides."""
        try:
            return read(value)
        except ValidationError as error:
            members = readable_members(cls, value, error)
            if members is None:
                raise
        return read(members)

    @property
    def model_extra(self) -> dict[str, Any]:
        """A copy of the unknown fields, because a record is immutable."""
        return dict(super().model_extra or {})

    @property
    def model_fields_set(self) -> set[str]:
        """A copy of the names of the fields that were set."""
        return set(super().model_fields_set)

    def __hash__(self) -> int:
        # Arrays and objects are left out, because those of open JSON have no hash.
        values = [vars(self).get(name) for name in type(self).model_fields]
        return hash(tuple(value for value in values if not isinstance(value, (dict, list, tuple))))

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


@cache
def strict_parser(model: type[BaseModel]) -> Callable[[object], Any]:
    """Return a function that parses a record strictly, and the records inside it too.

    The model's validator calls `Model._read_tolerantly` for each record. This function calls no
    Python code, so it is faster. A record that it accepts is parsed as by the model. A record that
    it rejects may still be read by the model.

    Example: of ``{"id": "pl-1", "name": None}`` it raises a `ValidationError`, and the model
    `Place` reads ``name=""``.
    """
    model.model_rebuild()
    try:
        return SchemaValidator(_without_tolerance(model.__pydantic_core_schema__)).validate_python
    except SchemaError:  # this version of pydantic refers to schemas in a way unknown here
        return model.__pydantic_validator__.validate_python


def _without_tolerance(schema: Any) -> Any:  # noqa: ANN401 -- any part of a schema
    """Return a schema of pydantic without the nodes that call `Model._read_tolerantly`."""
    if isinstance(schema, list):
        return [_without_tolerance(part) for part in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema

    node = cast("dict[str, Any]", schema)
    is_tolerant = node.get("type") == "function-wrap" and _is_tolerant(node["function"]["function"])
    if not is_tolerant:
        return {key: _without_tolerance(part) for key, part in node.items()}

    wrapped = _without_tolerance(node["schema"])
    if "ref" in node:  # other parts of the schema refer to the node by this name
        wrapped["ref"] = node["ref"]
    return wrapped


def _is_tolerant(validator: object) -> bool:
    return getattr(validator, "__func__", None) is vars(Model)["_read_tolerantly"].__func__


class _Member(NamedTuple):
    """A field of a record, with its names on the wire and in Python."""

    field: FieldInfo
    names: frozenset[str]

    @property
    def decides(self) -> bool:
        return self.field.is_required()

    @property
    def is_array(self) -> bool:
        return get_origin(self.field.annotation) is tuple

    @property
    def is_object(self) -> bool:
        """Whether it has entries with names of their own, such as ``possible_actions``."""
        return get_origin(self.field.annotation) is Mapping

    @property
    def may_be_none(self) -> bool:
        return type(None) in get_args(self.field.annotation)


class _Reading(Enum):
    """What becomes of a field that could not be read, unless a part of its content is readable."""

    UNREADABLE = auto()
    """The field decides, so its record cannot be read."""
    DEFAULT = auto()
    """The field has its default."""


def readable_members(
    model: type[BaseModel], value: object, error: ValidationError
) -> dict[str, object] | None:
    """Return the members of a record that can be read; None if one of the others decides.

    Args:
        model: The model of the record.
        value: The record as it came.
        error: What pydantic could not read.
    """
    if not isinstance(value, Mapping):
        return None
    record = dict(cast("Mapping[str, object]", value))
    members = _members_of(model)
    for name, places in _places_of(error).items():
        member = members.get(name)
        if member is None:  # half of a surrogate pair is no text, so it cannot name a field
            record = {key: content for key, content in record.items() if _is_text(key)}
            continue

        content = record.get(name)
        for other_name in member.names:
            record.pop(other_name, None)

        if content is None or content in ([], {}, ()):
            reading = _read_empty(member)
        else:
            reading = _read_partly(member, content, places)
            logger.debug("%s: %s cannot be read", model.__name__, name)

        if reading is _Reading.UNREADABLE:
            return None
        if reading is not _Reading.DEFAULT:
            record[name] = reading
    return record


def _places_of(error: ValidationError) -> dict[str, set[int | str]]:
    """Return the names of the fields that cannot be read, with the places inside each."""
    places: dict[str, set[int | str]] = {}
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        name, *path = problem["loc"] or ("",)
        places.setdefault(str(name), set()).update(path[:1])
    return places


def _read_empty(member: _Member) -> object:
    """Return the content of a field that is null, absent or empty, or what becomes of the field."""
    if not member.decides:
        return _Reading.DEFAULT
    if member.is_array:
        return ()
    return None if member.may_be_none else _Reading.UNREADABLE


def _read_partly(member: _Member, content: object, places: Collection[int | str]) -> object:
    """Return the readable part of a field's content, or what becomes of the field.

    Args:
        member: The field.
        content: Its content, as it came.
        places: The elements or entries that cannot be read, if it is an array or an object.
    """
    if member.decides or _holds_unreadable_record(member, content, places):
        return _Reading.UNREADABLE

    if member.is_array and isinstance(content, list | tuple):
        elements = enumerate(cast("Iterable[object]", content))
        return [element for index, element in elements if index not in places]

    if member.is_object and isinstance(content, Mapping):
        entries = cast("Mapping[str, object]", content).items()
        readable: dict[str, object] = {}
        for key, inner in entries:
            if _is_text(key):
                readable[key] = {} if key in places else inner
        return readable

    return _Reading.DEFAULT


@cache
def _members_of(model: type[BaseModel]) -> Mapping[str, _Member]:
    """Return the members of a model by each of their names."""
    members: dict[str, _Member] = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        aliases = alias.choices if isinstance(alias, AliasChoices) else [alias]
        names = frozenset([name, *(each for each in aliases if isinstance(each, str))])
        members.update(dict.fromkeys(names, _Member(field, names)))
    return members


def wire_names(model: type[BaseModel]) -> Collection[str]:
    """Return every name that a field of a model may have in JSON."""
    return _members_of(model).keys()


def _holds_unreadable_record(member: _Member, content: object, places: Iterable[int | str]) -> bool:
    """Return whether a record inside a field cannot be read, because a field of it decides."""
    if not _is_record(member.field.annotation):
        return False

    elements: list[object] = []
    if member.is_array:
        if isinstance(content, list | tuple):
            elements = [content[place] for place in places if isinstance(place, int)]
    elif member.is_object:
        if isinstance(content, Mapping):
            entries = cast("Mapping[object, object]", content)
            elements = [entries.get(place) for place in places]
    else:
        elements = [content]

    return any(isinstance(element, Mapping) for element in elements)


def _is_record(annotation: object) -> bool:
    """Return whether the type of a field is a record, or has records in it."""
    parts = get_args(annotation)
    if parts:
        return any(_is_record(part) for part in parts)
    return isclass(annotation) and issubclass(annotation, Model)


def _is_text(name: object) -> bool:
    """Return whether a name can be encoded; one with half of a surrogate pair cannot."""
    try:
        str(name).encode()
    except UnicodeEncodeError:
        return False
    return True


_AMOUNTS: Final = ("amount", "balance_amount", "penalty_amount", "refund_amount", "total_price")


class PricedModel(Model):
    """A record with amounts in its `currency`; in JSON they have the decimals of the currency."""

    if TYPE_CHECKING:
        currency: Currency

    @field_serializer(*_AMOUNTS, when_used="json", check_fields=False)
    def _write_amount(self, amount: Decimal) -> str:
        return exact_amount(amount, self.currency)


class LongNumber(float):
    """A JSON number that is not zero, with more digits than its float; its repr has all of them."""

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


def _reject_huge(number: int) -> int:
    if abs(number) > LARGEST_COUNT:
        raise invalid("expected a smaller number")
    return number


def _reject_float(value: object) -> object:
    if isinstance(value, float | bool):
        raise invalid("money is a Decimal, an int or a str, never a float")
    return value


def _reject_vast(amount: Decimal) -> Decimal:
    if abs(amount.adjusted()) > _LARGEST_EXPONENT:
        raise invalid("expected an amount of money")
    return amount


_LAST_SECOND: Final = 253_402_300_799
"""The end of the year 9999 in epoch seconds; a larger number is epoch milliseconds."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _parse_epoch_or_keep(value: float) -> datetime | str:
    """Return the moment of epoch seconds or milliseconds; of any other number, its text."""
    if isinstance(value, bool):
        raise invalid("expected a moment, not a boolean")
    try:
        if abs(value) <= _LAST_SECOND:
            return _EPOCH + timedelta(seconds=value)
        return _EPOCH + timedelta(milliseconds=value)
    except (OverflowError, ValueError):
        return str(value)


_aware: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)
_LONGEST_MOMENT: Final = 60
"""A text of more characters is no moment."""
_UNUSUAL: Final = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]*) ?(?:(UTC|GMT)|([+-]\d\d)(?::?(\d\d))?)"
)
"""ISO 8601 with a space before the offset, or with an offset without minutes.

For example ``2026-07-13T20:20:00 +01:00``, ``2026-07-13 20:20+01`` and ``2026-07-13T20:20:00 UTC``.
"""


def _parse_unusual(text: str) -> datetime | None:
    """Return the moment of a text whose offset pydantic cannot read; None if it is no moment."""
    match = _UNUSUAL.fullmatch(text) if len(text) <= _LONGEST_MOMENT else None
    if match is None:
        return None
    clock, zone, hours, minutes = match.groups()
    offset = "Z" if zone else f"{hours}:{minutes or '00'}"
    with suppress(ValidationError):
        return _aware.validate_python(clock + offset)
    return None


def _parse_moment(value: object, parse: ValidatorFunctionWrapHandler) -> datetime:
    try:
        moment: datetime = parse(value)
    except ValidationError:
        unusual = _parse_unusual(value) if isinstance(value, str) else None
        if unusual is None:
            raise
        return unusual
    return moment


_EPOCH_DIGITS: Final = (10, 13)
"""The number of digits of epoch seconds and of milliseconds, from 2001 to 2286."""


def _parse_moment_or_keep(value: object) -> object:
    if isinstance(value, int | float):
        return _parse_epoch_or_keep(value)
    if not isinstance(value, str):
        return value
    if len(value) in _EPOCH_DIGITS and value.isascii() and value.isdigit():
        return _parse_epoch_or_keep(int(value))
    # A moment has a hyphen behind the four digits of its year.
    if value[4:5] != "-" or len(value) > _LONGEST_MOMENT:
        return value
    with suppress(ValidationError):
        return _aware.validate_python(value)
    return _parse_unusual(value) or value


def parse_moments(values: list[Any]) -> list[Any]:
    """Return what `LooseMoment` reads of each value.

    Most lists have whole epoch seconds only. For those, no function is called for each value.
    """
    are_whole = {*map(type, values)} == {int}
    if are_whole and min(values) >= 0 and max(values) <= _LAST_SECOND:
        return [_EPOCH + timedelta(seconds=seconds) for seconds in values]
    return [_parse_moment_or_keep(value) for value in values]


_DAY: Final = len("YYYY-MM-DD")


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

Moment = Annotated[AwareDatetime, WrapValidator(_parse_moment)]
"""A moment with its offset: ISO 8601 with an offset, or epoch seconds (then UTC)."""

LooseMoment = Annotated[datetime | str, BeforeValidator(_parse_moment_or_keep)]
"""An aware `datetime`, also of epoch seconds and milliseconds; any other text or number is kept as
a `str`."""

LooseDay = Annotated[date | str, BeforeValidator(_parse_day_or_keep)]
"""A date as YYYY-MM-DD; any other text is kept."""

Identifier = Annotated[str, StringConstraints(min_length=1, strict=True)]
"""An identifier: a string that is not empty; numbers are not converted."""

Count = Annotated[int, AfterValidator(_reject_huge)]
"""A whole number of things or of a unit, such as minutes; ``10.0`` is one too."""

Values = tuple[JsonValue, ...]
"""An array whose elements the interface does not define."""

Members = Annotated[Mapping[str, JsonValue], AfterValidator(FrozenDict)]
"""An object whose members the interface does not define."""


def path_of(error: ValidationError) -> tuple[str, str]:
    """Return the path of the first invalid field (``tickets[0].status``) and the problem.

    Neither contains the invalid value.
    """
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "model_type":  # pydantic names the class, which need not be public
        problem = "expected an object"
    return path_text(first["loc"]), problem


def path_text(location: tuple[int | str, ...]) -> str:
    """Return a path as a text, such as ``passengers[0].birth_date``."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif text:
            text += f".{part}"
        else:
            text = part
    return text
