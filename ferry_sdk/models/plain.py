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

from .base import Amount, Currency, Identifier, Moment, OpenEnum
from .base import Values as JsonValues
from .columns import Columns, Convert, Members, NotPlainError, Rule

ModelT = TypeVar("ModelT", bound=BaseModel)


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


def looked_through(model: type[ModelT], records: list[Any]) -> Callable[[], list[ModelT]]:
    """See that all records are plain, and give what makes them models.

    Raises:
        NotPlainError: They are not.
    """
    columns = columns_of(model)
    if columns is None:
        raise NotPlainError
    _only(records, dict)
    return columns.look_through(records)


def _rule_of(field: FieldInfo) -> Rule | None:
    kind: Any = field.annotation
    known = next((rule for of, rule in _RULES if of == (kind, *field.metadata)), None)
    if known is not None or field.metadata:
        return known
    if _is_a(kind, OpenEnum):
        return _converted(lambda different: [*map(kind, different)], str)
    parts: tuple[Any, ...] = get_args(kind)
    is_tuple = get_origin(kind) is tuple and parts[1:] == (...,)
    held: type[BaseModel] = parts[0] if is_tuple else kind
    columns = columns_of(held) if _is_a(held, BaseModel) else None
    return None if columns is None else partial(_several if is_tuple else _one, columns)


def _is_a(kind: object, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _only(column: list[Any], *types: type) -> None:
    if not {*types}.issuperset(map(type, column)):
        raise NotPlainError


def _plain(*types: type) -> Rule:
    return lambda column: _only(column, *types)


def _anything(column: list[Any]) -> None:
    """What is in JSON is good where anything of JSON is."""


def _filled(column: list[Any]) -> None:
    _only(column, str)
    if not all(column):
        raise NotPlainError


def _converted(convert: Callable[[list[Any]], list[Any]], *types: type) -> Rule:
    """Each value that occurs is converted once: records of one answer repeat each other."""

    def look(column: list[Any]) -> Convert:
        _only(column, *types)
        different = [*{*column}]
        try:
            values = dict(zip(different, convert(different), strict=True))
        except ValueError:
            raise NotPlainError from None
        return partial(map, values.__getitem__)

    return look


def _amounts(column: list[Any]) -> Convert:
    _only(column, int, float)
    if inf in column or -inf in column:
        raise NotPlainError
    return _exact


def _exact(column: list[Any]) -> Iterable[Decimal]:
    """Numbers to the digits that they have in JSON, where 25 and 25.0 are two."""
    texts = [*map(repr, column)]
    values = {text: Decimal(text) for text in {*texts}}
    return map(values.__getitem__, texts)


def _tuples(column: list[Any]) -> Convert:
    _only(column, list)
    return partial(map, tuple)


def _tuples_of_texts(column: list[Any]) -> Convert:
    convert = _tuples(column)
    _only([*chain.from_iterable(column)], str)
    return convert


def _one(columns: Columns[Any], column: list[Any]) -> Convert:
    _only(column, dict)
    make = columns.look_through(column)
    return lambda _: make()


def _several(columns: Columns[Any], column: list[Any]) -> Convert:
    _only(column, list)
    records: list[Members] = [*chain.from_iterable(column)]
    _only(records, dict)
    make = columns.look_through(records)

    def parted(column: list[Any]) -> Iterable[tuple[Any, ...]]:
        models = iter(make())
        return [tuple(islice(models, len(part))) for part in column]

    return parted


_RULES: Final[tuple[tuple[tuple[object, ...], Rule], ...]] = (
    ((str,), _plain(str)),
    ((int,), _plain(int)),
    ((bool,), _plain(bool)),
    ((JsonValue,), _anything),
    ((JsonValues,), _tuples),
    ((tuple[str, ...],), _tuples_of_texts),
    (
        (Moment,),
        _converted(TypeAdapter(list[Moment]).validate_python, str, int, float),
    ),
    (get_args(Amount), _amounts),
    (get_args(Currency), _converted(TypeAdapter(list[Currency]).validate_python, str)),
    (get_args(Identifier), _filled),
)
"""By annotation and metadata, as a field has them."""
