"""Fast validation of long lists of records, column by column.

pydantic defines what a valid record is. If every value has exactly the JSON type of its field, its
result is known in advance. Such lists are validated one field at a time, in loops that run in C,
and their dicts become the `__dict__` of the models. Nothing is changed until the whole list is
validated; any other list raises an error and is left to pydantic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import cache, lru_cache, partial
from inspect import isclass
from itertools import chain, islice, repeat
from math import inf
from typing import Any, Final, Generic, NamedTuple, Optional, TypeVar, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, JsonValue, TypeAdapter
from pydantic.fields import FieldInfo

from ferry_sdk.models.base import (
    LARGEST_COUNT,
    Amount,
    Count,
    Currency,
    Identifier,
    LongNumber,
    LooseMoment,
    Moment,
    Price,
    parse_moments,
)
from ferry_sdk.models.base import Values as JsonValues
from ferry_sdk.models.enums import OpenEnum

ModelT = TypeVar("ModelT", bound=BaseModel)
Members = dict[str, Any]
Column = list[Any]
Converter = Callable[[], Iterable[Any]]
Rule = Callable[[Column], Converter | None]
"""Validates a column. Returns a converter to the field values; None if they stay the same.

It raises a TypeError or ValueError if a value has another type than its field.
"""

_NUMBERS: Final = frozenset[type]({int, float, LongNumber})
_NOTHING: Final[Members] = {}
_all_done: Final = deque[Any](maxlen=0).extend
# pydantic does not document the slots of a model. Where one is missing, lists are not validated
# by columns, but record by record.
_PARTS: Final = "__dict__ __pydantic_fields_set__ __pydantic_extra__ __pydantic_private__"
_setters: Final[list[Any]] = [
    getattr(vars(BaseModel).get(name), "__set__", None) for name in _PARTS.split()
]
IS_SUPPORTED: Final = None not in _setters
_set_values, _set_present, _set_extra, _set_private = _setters


class NotUniformError(ValueError):
    """A value has another type than its field; only pydantic can decide whether it is valid."""


class Layout(NamedTuple):
    """How to convert records that have the same members in the same order.

    Attributes:
        rules: Each rule with its fields, which are validated as one column.
        present: The names of all members.
        is_exact: Whether the members are exactly the fields, in order.
        extra: The names of the other members.
    """

    rules: tuple[tuple[Rule, tuple[str, ...]], ...]
    present: set[str]
    is_exact: bool
    extra: tuple[str, ...]


class Columns(Generic[ModelT]):
    """Validates lists of records of one model.

    Args:
        model: The model.
        rules: The rules of each field.
    """

    def __init__(self, model: type[ModelT], rules: dict[str, Sequence[Rule]]) -> None:
        self._model = model
        self._rules = rules
        self._blank = {name: field.default for name, field in model.model_fields.items()}
        self._layout = lru_cache(maxsize=64)(self._layout_of)

    def validate(self, records: Sequence[Members]) -> Callable[[], list[ModelT]]:
        """Validate the records, and return a function that creates the models, repeatably.

        Raises:
            TypeError: A record is not a dict, or a value has another type than its field.
            ValueError: A value has another type than its field.
        """
        # A dict has a name once, so as many of these names as there can be are in the same order.
        first: tuple[str, ...] = tuple(records[0]) if records else ()
        if records and [*chain.from_iterable(records)] == [*first] * len(records):
            return self._validate_group(first, records)
        names_of = [*map(tuple, records)]
        groups: dict[tuple[str, ...], list[Members]] = {}
        for names, record in zip(names_of, records, strict=True):
            groups.setdefault(names, []).append(record)
        builders = {names: self._validate_group(names, group) for names, group in groups.items()}

        def make() -> list[ModelT]:
            models = {names: iter(make_group()) for names, make_group in builders.items()}
            return [next(models[names]) for names in names_of]

        return make

    def _validate_group(
        self, names: tuple[str, ...], records: Sequence[Members]
    ) -> Callable[[], list[ModelT]]:
        layout = self._layout(names)
        values = [*chain.from_iterable(map(dict[str, Any].values, records))]
        changes: list[tuple[tuple[str, ...], Converter]] = []
        for rule, fields in layout.rules:
            column: list[Any] = []
            for field in fields:
                column += values[names.index(field) :: len(names)]
            converted = rule(column)
            if converted is not None:
                changes.append((fields, converted))

        def make() -> list[ModelT]:
            # It starts over if a previous run was interrupted or forked.
            for fields, converted in changes:
                converted_values = iter(converted())
                for field in fields:
                    for record, value in zip(records, converted_values):  # noqa: B905 -- the values of the next field follow
                        record[field] = value
            contents: Sequence[Members] = records
            extra: Iterable[Members] = repeat(_NOTHING)
            if not layout.is_exact:
                contents = [self._blank | record for record in records]
            if layout.extra:
                extra = [{name: record.pop(name) for name in layout.extra} for record in contents]
            models = [*map(object.__new__, repeat(self._model, len(records)))]
            _all_done(map(_set_values, models, contents))
            _all_done(map(_set_present, models, repeat(layout.present)))
            _all_done(map(_set_extra, models, extra))
            _all_done(map(_set_private, models, repeat(None)))
            return models

        return make

    def _layout_of(self, names: tuple[str, ...]) -> Layout:
        fields = self._model.model_fields
        if any(field.is_required() for name, field in fields.items() if name not in names):
            raise NotUniformError
        own = [name for name in names if name in fields]
        rules = dict.fromkeys(rule for name in own for rule in self._rules[name])
        return Layout(
            rules=tuple(
                (rule, tuple(name for name in own if rule in self._rules[name])) for rule in rules
            ),
            present={*names},
            is_exact=names == tuple(fields),
            extra=tuple(name for name in names if name not in fields),
        )


@cache
def columns_of(model: type[ModelT]) -> Columns[ModelT] | None:
    """Return the columns of a model; None if a field needs pydantic."""
    rules = {name: _rules_of(field) for name, field in model.model_fields.items()}
    return Columns(model, rules) if all(rules.values()) else None


def validate_columns(model: type[ModelT], records: list[Any]) -> Callable[[], list[ModelT]]:
    """Validate the records, and return a function that creates the models.

    Raises:
        TypeError: A value has another type than its field.
        ValueError: The same.
    """
    columns = columns_of(model) if IS_SUPPORTED else None
    if columns is None:
        raise NotUniformError
    return columns.validate(records)


def _rules_of(field: FieldInfo) -> Sequence[Rule]:
    """Return the rules of a field; none if it needs pydantic."""
    kind: Any = field.annotation
    if field.validation_alias or field.default_factory:
        return ()
    if field.metadata or (kind,) in _RULES:
        return _RULES.get((kind, *field.metadata), ())
    if isclass(kind) and issubclass(kind, OpenEnum):
        return (_distinct(lambda values: [*map(kind, values)]),)
    parts: tuple[Any, ...] = get_args(kind)
    is_tuple = get_origin(kind) is tuple and parts[1:] == (...,)
    held: Any = parts[0] if is_tuple else kind
    columns = columns_of(held) if isclass(held) and issubclass(held, BaseModel) else None
    if columns is None:
        return ()
    return (partial(_nested_records, columns) if is_tuple else columns.validate,)


def _require_types(column: Column, *types: type) -> None:
    if not {*types}.issuperset(map(type, column)):
        raise NotUniformError


def _of_types(*types: type) -> Rule:
    return lambda column: _require_types(column, *types)


def _anything(column: Column) -> None:
    """Accept any JSON value."""


def _texts(column: Column) -> None:
    text: str = "".join(column)
    if not text.isascii():
        text.encode()  # half of a surrogate pair is no text


def _counts(column: Column) -> None:
    _require_types(column, int)
    if column and (max(column) > LARGEST_COUNT or min(column) < -LARGEST_COUNT):
        raise NotUniformError


def _not_empty(column: Column) -> None:
    if not all(column):
        raise NotUniformError


def _distinct(convert: Callable[[list[Any]], list[Any]]) -> Rule:
    """Convert each distinct value once, because values repeat within a response."""

    def check(column: Column) -> Converter:
        distinct = [*{*column}]
        values = dict(zip(distinct, convert(distinct), strict=True))
        return partial(map, values.__getitem__, column)

    return check


def _amounts(column: Column) -> Converter | None:
    """Convert numbers to their exact digits in JSON: 25 and 25.0 differ, and so do 0.0 and -0.0."""
    kinds = {*map(type, column)}
    if not kinds <= _NUMBERS:
        raise NotUniformError
    distinct = {*column}
    if not distinct.isdisjoint((inf, -inf)):
        raise NotUniformError
    if 0 in distinct or len(kinds) > 1 or LongNumber in kinds:
        column = [*map(repr, column)]
    return _decimals(column)


_decimals: Final = _distinct(lambda distinct: [*map(Decimal, map(str, distinct))])


def _not_negative(column: Column) -> None:
    if min(column, default=0) < 0:
        raise NotUniformError


def _tuples(column: Column) -> Converter:
    _require_types(column, list)
    return partial(map, tuple, column)


def _texts_inside(column: Column) -> None:
    _texts([*chain.from_iterable(column)])


def _nested_records(columns: Columns[Any], column: Column) -> Converter:
    _require_types(column, list)
    make = columns.validate([*chain.from_iterable(column)])

    def split_models() -> Iterable[tuple[Any, ...]]:
        models = iter(make())
        return [tuple(islice(models, size)) for size in map(len, column)]

    return split_models


_RULES: Final[dict[tuple[Any, ...], Sequence[Rule]]] = {
    (str,): (_texts,),
    get_args(Count): (_counts,),
    (Optional[Count],): (_counts,),  # noqa: UP045 -- pyright knows no `|` of an Annotated
    (bool,): (_of_types(bool),),
    (Optional[LooseMoment],): (  # noqa: UP045 -- the same
        _of_types(str, int, float),
        _distinct(parse_moments),
    ),
    (JsonValue,): (_anything,),
    (JsonValues,): (_tuples,),
    (tuple[str, ...],): (_tuples, _texts_inside),
    get_args(Moment): (
        _of_types(str, int, float),
        _distinct(TypeAdapter(list[AwareDatetime]).validate_python),
    ),
    get_args(Amount): (_amounts,),
    get_args(Price): (_amounts, _not_negative),
    get_args(Currency): (_distinct(TypeAdapter(list[Currency]).validate_python),),
    get_args(Identifier): (_texts, _not_empty),
}
"""Rules by annotation and metadata of a field, in their order."""
