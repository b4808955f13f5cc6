"""The rule of each field type: which values are valid in a column, and how to convert them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cache, partial
from itertools import chain, islice
from math import inf
from typing import Any, Final, TypeVar, get_args, get_origin

from pydantic import BaseModel, JsonValue, TypeAdapter
from pydantic.fields import FieldInfo

from ferry_sdk.models.base import Amount, Currency, Identifier, LongNumber, Moment
from ferry_sdk.models.base import Values as JsonValues
from ferry_sdk.models.bulk import columns as bulk
from ferry_sdk.models.bulk.columns import Column, Columns, Converter, Members, NotUniformError, Rule
from ferry_sdk.models.enums import OpenEnum

ModelT = TypeVar("ModelT", bound=BaseModel)

_NUMBERS: Final = frozenset[type]({int, float, LongNumber})


@cache
def columns_of(model: type[ModelT]) -> Columns[ModelT] | None:
    """Return the columns of a model; None if a field has no rule and needs pydantic."""
    rules: dict[str, Rule] = {}
    for name, field in model.model_fields.items():
        rule = None if field.validation_alias else _rule_of(field)
        if rule is None:
            return None
        rules[name] = rule
    return Columns(model, rules)


def validate_columns(model: type[ModelT], records: list[Any]) -> Callable[[], list[ModelT]]:
    """Validate the records, and return a function that creates the models.

    Raises:
        NotUniformError: A value has another type than its field.
    """
    columns = columns_of(model) if bulk.IS_SUPPORTED else None
    if columns is None:
        raise NotUniformError
    _require_types(records, dict)
    return columns.validate(records)


def _rule_of(field: FieldInfo) -> Rule | None:
    kind: Any = field.annotation
    known = next((rule for of, rule in _RULES if of == (kind, *field.metadata)), None)
    if known is not None or field.metadata:
        return known
    if _is_a(kind, OpenEnum):
        return _distinct_texts(lambda distinct: [*map(kind, distinct)])
    parts: tuple[Any, ...] = get_args(kind)
    is_tuple = get_origin(kind) is tuple and parts[1:] == (...,)
    held: type[BaseModel] = parts[0] if is_tuple else kind
    columns = columns_of(held) if _is_a(held, BaseModel) else None
    rule = _nested_records if is_tuple else _nested_record
    return None if columns is None else partial(rule, columns)


def _is_a(kind: object, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _require_types(column: Column, *types: type) -> None:
    if not {*types}.issuperset(map(type, column)):
        raise NotUniformError


def _of_types(*types: type) -> Rule:
    return lambda column: _require_types(column, *types)


def _anything(column: Column) -> None:
    """Accept any JSON value."""


def _texts(column: Column) -> None:
    try:
        "".join(column)
    except TypeError:
        raise NotUniformError from None


def _non_empty_texts(column: Column) -> None:
    _texts(column)
    if not all(column):
        raise NotUniformError


def _distinct_texts(convert: Callable[[list[Any]], list[Any]]) -> Rule:
    def check(column: Column) -> Converter:
        try:
            distinct = [*{*column}]
        except TypeError:
            raise NotUniformError from None
        _texts(distinct)
        return _each_once(convert, distinct, column)

    return check


def _datetimes(column: Column) -> Converter:
    _require_types(column, str, int, float)
    return _each_once(_parse_moments, [*{*column}], column)


def _each_once(
    convert: Callable[[list[Any]], list[Any]], distinct: list[Any], column: Column
) -> Converter:
    """Convert each distinct value once, because values repeat within a response."""
    try:
        values = dict(zip(distinct, convert(distinct), strict=True))
    except ValueError:
        raise NotUniformError from None
    return partial(map, values.__getitem__, column)


def _amounts(column: Column) -> Converter:
    """Convert numbers to their exact digits in JSON: 25 and 25.0 differ, and so do 0.0 and -0.0."""
    kinds = {*map(type, column)}
    if not kinds <= _NUMBERS:
        raise NotUniformError
    distinct = {*column}
    if not distinct.isdisjoint((inf, -inf)):
        raise NotUniformError
    if 0 in distinct or len(kinds) > 1 or LongNumber in kinds:
        column = [*map(repr, column)]
        distinct = {*column}

    def convert_amounts() -> Iterable[Decimal]:
        values = dict(zip(distinct, map(Decimal, map(str, distinct)), strict=True))
        return map(values.__getitem__, column)

    return convert_amounts


def _tuples(column: Column) -> Converter:
    _require_types(column, list)
    return partial(map, tuple, column)


def _tuples_of_texts(column: Column) -> Converter:
    convert = _tuples(column)
    _texts([*chain.from_iterable(column)])
    return convert


def _nested_record(columns: Columns[Any], column: Column) -> Converter:
    _require_types(column, dict)
    return columns.validate(column)


def _nested_records(columns: Columns[Any], column: Column) -> Converter:
    _require_types(column, list)
    records: list[Members] = [*chain.from_iterable(column)]
    _require_types(records, dict)
    make = columns.validate(records)

    def split_models() -> Iterable[tuple[Any, ...]]:
        models = iter(make())
        return [tuple(islice(models, size)) for size in map(len, column)]

    return split_models


_parse_moments: Final = TypeAdapter(list[Moment]).validate_python
_RULES: Final[tuple[tuple[tuple[object, ...], Rule], ...]] = (
    ((str,), _texts),
    ((int,), _of_types(int)),
    ((bool,), _of_types(bool)),
    ((JsonValue,), _anything),
    ((JsonValues,), _tuples),
    ((tuple[str, ...],), _tuples_of_texts),
    ((Moment,), _datetimes),
    (get_args(Amount), _amounts),
    (get_args(Currency), _distinct_texts(TypeAdapter(list[Currency]).validate_python)),
    (get_args(Identifier), _non_empty_texts),
)
"""Rules by annotation and metadata of a field."""
