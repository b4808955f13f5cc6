"""What makes a column of each kind plain: the types in it, and what is true of its values."""

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
from ferry_sdk.models.bulk.columns import Column, Columns, Converted, Members, NotUniformError, Rule
from ferry_sdk.models.enums import OpenEnum

ModelT = TypeVar("ModelT", bound=BaseModel)

_NUMBERS: Final = frozenset[type]({int, float, LongNumber})


@cache
def columns_of(model: type[ModelT]) -> Columns[ModelT] | None:
    """The columns of a model; None where only pydantic knows what some field means."""
    rules: dict[str, Rule] = {}
    for name, field in model.model_fields.items():
        rule = None if field.validation_alias else _rule_of(field)
        if rule is None:
            return None
        rules[name] = rule
    return Columns(model, rules)


def validate_columns(model: type[ModelT], records: list[Any]) -> Callable[[], list[ModelT]]:
    """See that all records are plain, and give what makes them models.

    Raises:
        NotPlainError: They are not.
    """
    columns = columns_of(model) if bulk.IS_SUPPORTED else None
    if columns is None:
        raise NotUniformError
    _only(records, dict)
    return columns.look_through(records)


def _rule_of(field: FieldInfo) -> Rule | None:
    kind: Any = field.annotation
    known = next((rule for of, rule in _RULES if of == (kind, *field.metadata)), None)
    if known is not None or field.metadata:
        return known
    if _is_a(kind, OpenEnum):
        return _words(lambda different: [*map(kind, different)])
    parts: tuple[Any, ...] = get_args(kind)
    is_tuple = get_origin(kind) is tuple and parts[1:] == (...,)
    held: type[BaseModel] = parts[0] if is_tuple else kind
    columns = columns_of(held) if _is_a(held, BaseModel) else None
    return None if columns is None else partial(_several if is_tuple else _one, columns)


def _is_a(kind: object, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _only(column: Column, *types: type) -> None:
    if not {*types}.issuperset(map(type, column)):
        raise NotUniformError


def _plain(*types: type) -> Rule:
    return lambda column: _only(column, *types)


def _anything(column: Column) -> None:
    """What is in JSON is good where anything of JSON is."""


def _texts(column: Column) -> None:
    try:
        "".join(column)
    except TypeError:
        raise NotUniformError from None


def _filled(column: Column) -> None:
    _texts(column)
    if not all(column):
        raise NotUniformError


def _words(convert: Callable[[list[Any]], list[Any]]) -> Rule:
    def look(column: Column) -> Converted:
        try:
            different = [*{*column}]
        except TypeError:
            raise NotUniformError from None
        _texts(different)
        return _each_once(convert, different, column)

    return look


def _datetimes(column: Column) -> Converted:
    _only(column, str, int, float)
    return _each_once(_read_moments, [*{*column}], column)


def _each_once(
    convert: Callable[[list[Any]], list[Any]], different: list[Any], column: Column
) -> Converted:
    """Each value that occurs is converted once: records of one answer repeat each other."""
    try:
        values = dict(zip(different, convert(different), strict=True))
    except ValueError:
        raise NotUniformError from None
    return partial(map, values.__getitem__, column)


def _amounts(column: Column) -> Converted:
    """Numbers to the digits that they have in JSON, where 25 and 25.0 are two, as 0.0 and -0.0."""
    kinds = {*map(type, column)}
    if not kinds <= _NUMBERS:
        raise NotUniformError
    different = {*column}
    if not different.isdisjoint((inf, -inf)):
        raise NotUniformError
    if 0 in different or len(kinds) > 1 or LongNumber in kinds:
        column = [*map(repr, column)]
        different = {*column}

    def exact() -> Iterable[Decimal]:
        values = dict(zip(different, map(Decimal, map(str, different)), strict=True))
        return map(values.__getitem__, column)

    return exact


def _tuples(column: Column) -> Converted:
    _only(column, list)
    return partial(map, tuple, column)


def _tuples_of_texts(column: Column) -> Converted:
    convert = _tuples(column)
    _texts([*chain.from_iterable(column)])
    return convert


def _one(columns: Columns[Any], column: Column) -> Converted:
    _only(column, dict)
    return columns.look_through(column)


def _several(columns: Columns[Any], column: Column) -> Converted:
    _only(column, list)
    records: list[Members] = [*chain.from_iterable(column)]
    _only(records, dict)
    make = columns.look_through(records)

    def parted() -> Iterable[tuple[Any, ...]]:
        models = iter(make())
        return [tuple(islice(models, size)) for size in map(len, column)]

    return parted


_read_moments: Final = TypeAdapter(list[Moment]).validate_python
_RULES: Final[tuple[tuple[tuple[object, ...], Rule], ...]] = (
    ((str,), _texts),
    ((int,), _plain(int)),
    ((bool,), _plain(bool)),
    ((JsonValue,), _anything),
    ((JsonValues,), _tuples),
    ((tuple[str, ...],), _tuples_of_texts),
    ((Moment,), _datetimes),
    (get_args(Amount), _amounts),
    (get_args(Currency), _words(TypeAdapter(list[Currency]).validate_python)),
    (get_args(Identifier), _filled),
)
"""By annotation and metadata, as a field has them."""
