"""Fast validation of long lists of records, column by column.

pydantic defines what a valid record is. If every value has exactly the JSON type of its field, its
result is known in advance. Such lists are validated one field at a time, in loops that run in C,
and their dicts become the `__dict__` of the models. Nothing is changed until the whole list is
validated; any other list raises an error and is left to pydantic.

1. `columns_of` finds the rules of each field of a model, once. A rule checks all values of a field
   at once, and may return a function that converts them. A model with a field that has no rule is
   left to pydantic.
2. `Columns.validate` groups the records by the names and order of their members. Usually there is
   one group.
3. Each group is split into columns, one for each field, and the rules check the columns.
4. The function that `validate` returns makes the models, on first access of the list: it converts
   the columns, writes them back into the records, and gives each model its record as `__dict__`.

Example: of ``[{"code": "FRMRS", "name": "Marseille"}, {"code": "ITGOA", "name": "Genoa"}]``, the
columns of `Port` are ``["FRMRS", "ITGOA"]`` and ``["Marseille", "Genoa"]``. One `str.join` over a
column shows that all its values are texts, and no value needs a conversion. With a number among the
names, `str.join` raises a TypeError.
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
"""Checks a column. Returns a converter to the field values; None if they stay the same.

It raises a TypeError or ValueError if a value has another type than its field.
"""

_NUMBERS: Final = frozenset[type]({int, float, LongNumber})
_WHOLE: Final = frozenset[type]({int})
_LIST: Final = frozenset[type]({list})
_NOTHING: Final[Members] = {}
_exhaust: Final = deque[Any](maxlen=0).extend
"""Run an iterator to its end in C, and keep none of its values."""


def _setter_of(slot: str) -> Any:  # noqa: ANN401 -- a function, or None
    """Return the function that sets a slot of a model; None if pydantic has no such slot."""
    return getattr(vars(BaseModel).get(slot), "__set__", None)


# pydantic does not document the slots of a model. Where one is missing, lists are not validated
# by columns, but record by record.
_set_values: Final = _setter_of("__dict__")
_set_present: Final = _setter_of("__pydantic_fields_set__")
_set_extra: Final = _setter_of("__pydantic_extra__")
_set_private: Final = _setter_of("__pydantic_private__")
IS_SUPPORTED: Final = None not in {_set_values, _set_present, _set_extra, _set_private}


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

    A layout depends only on the names of the members, so it is found once for the same names.

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
        # If the names of all records in a row are those of the first record, repeated, then all
        # records have the same members in the same order. One comparison of two lists shows it.
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

        # With n members in each record, the column of a member is every n-th value of all records.
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
                extra = [_take_members(record, layout.extra) for record in contents]

            # What the constructor of a model would do, for all records in five loops in C.
            models = [*map(object.__new__, repeat(self._model, len(records)))]
            _exhaust(map(_set_values, models, contents))
            _exhaust(map(_set_present, models, repeat(layout.present)))
            _exhaust(map(_set_extra, models, extra))
            _exhaust(map(_set_private, models, repeat(None)))
            return models

        return make

    def _layout_of(self, names: tuple[str, ...]) -> Layout:
        fields = self._model.model_fields
        if any(field.is_required() for name, field in fields.items() if name not in names):
            raise NotUniformError

        # Fields of one type have the same rule object, such as `_check_texts`, so one call checks
        # all of their columns. A rule that is made for a field, such as that of an enumeration,
        # checks one column.
        fields_of: dict[Rule, list[str]] = {}
        for name in names:
            for rule in self._rules.get(name, ()):
                fields_of.setdefault(rule, []).append(name)

        return Layout(
            rules=tuple((rule, tuple(own_fields)) for rule, own_fields in fields_of.items()),
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


def _take_members(record: Members, names: Sequence[str]) -> Members:
    """Remove members from a record, and return them."""
    return {name: record.pop(name) for name in names}


def _rules_of(field: FieldInfo) -> Sequence[Rule]:
    """Return the rules of a field; none if it needs pydantic."""
    kind: Any = field.annotation
    if field.validation_alias or field.default_factory:
        return ()
    if field.metadata or (kind,) in _RULES:
        return _RULES.get((kind, *field.metadata), ())
    if isclass(kind) and issubclass(kind, OpenEnum):
        return (_convert_distinct(partial(_members_of, kind)),)

    parts: tuple[Any, ...] = get_args(kind)
    is_tuple = get_origin(kind) is tuple and parts[1:] == (...,)
    record_type: Any = parts[0] if is_tuple else kind
    is_record = isclass(record_type) and issubclass(record_type, BaseModel)
    columns = columns_of(record_type) if is_record else None
    if columns is None:
        return ()
    rule: Rule = partial(_check_nested_records, columns) if is_tuple else columns.validate
    return (rule,)


def _members_of(kind: type[OpenEnum], values: Iterable[str]) -> list[OpenEnum]:
    """Return the members of an enumeration for their values."""
    return [*map(kind, values)]


def _check_types(types: frozenset[type], column: Column) -> None:
    if not types.issuperset(map(type, column)):
        raise NotUniformError


def _accept_all(column: Column) -> None:
    """Accept any JSON value."""


def _check_texts(column: Column) -> None:
    # `join` raises a TypeError at the first value that is no text: one loop in C, where a look at
    # each type is a call for each value.
    text: str = "".join(column)
    if not text.isascii():
        text.encode()  # half of a surrogate pair is no text


def _check_counts(column: Column) -> None:
    _check_types(_WHOLE, column)
    if column and (max(column) > LARGEST_COUNT or min(column) < -LARGEST_COUNT):
        raise NotUniformError


def _check_not_empty(column: Column) -> None:
    if not all(column):
        raise NotUniformError


def _convert_distinct(convert: Callable[[list[Any]], list[Any]]) -> Rule:
    """Convert each distinct value once, because values repeat within a response."""

    def check(column: Column) -> Converter:
        distinct = [*{*column}]
        values = dict(zip(distinct, convert(distinct), strict=True))
        return partial(map, values.__getitem__, column)

    return check


def _check_amounts(column: Column) -> Converter | None:
    """Convert numbers to their exact digits in JSON: 25 and 25.0 differ, and so do 0.0 and -0.0."""
    types = {*map(type, column)}
    if not types <= _NUMBERS:
        raise NotUniformError
    distinct = {*column}
    if not distinct.isdisjoint((inf, -inf)):
        raise NotUniformError

    # Equal numbers of one type have the same digits, so the distinct numbers are converted. Equal
    # numbers of two types do not, nor do 0.0 and -0.0: there the distinct texts are converted.
    if 0 in distinct or len(types) > 1 or LongNumber in types:
        column = [*map(repr, column)]
    return _convert_numbers(column)


def _decimals_of(numbers: Iterable[object]) -> list[Decimal]:
    return [*map(Decimal, map(str, numbers))]


_convert_numbers: Final = _convert_distinct(_decimals_of)


def _check_not_negative(column: Column) -> None:
    if min(column, default=0) < 0:
        raise NotUniformError


def _convert_lists(column: Column) -> Converter:
    """Convert each list to a tuple."""
    _check_types(_LIST, column)
    return partial(map, tuple, column)


def _check_texts_inside(column: Column) -> None:
    _check_texts([*chain.from_iterable(column)])


def _check_nested_records(columns: Columns[Any], column: Column) -> Converter:
    """Check the records of all lists as one list, and convert each list to a tuple of models."""
    _check_types(_LIST, column)
    make = columns.validate([*chain.from_iterable(column)])

    def split_models() -> Iterable[tuple[Any, ...]]:
        models = iter(make())
        return [tuple(islice(models, size)) for size in map(len, column)]

    return split_models


_check_bools: Final = partial(_check_types, frozenset([bool]))
_check_moments: Final = partial(_check_types, frozenset([str, int, float]))
_RULES: Final[dict[tuple[Any, ...], Sequence[Rule]]] = {
    (str,): (_check_texts,),
    get_args(Count): (_check_counts,),
    (Optional[Count],): (_check_counts,),  # noqa: UP045 -- pyright knows no `|` of an Annotated
    (bool,): (_check_bools,),
    (Optional[LooseMoment],): (_check_moments, _convert_distinct(parse_moments)),  # noqa: UP045 -- the same
    (JsonValue,): (_accept_all,),
    (JsonValues,): (_convert_lists,),
    (tuple[str, ...],): (_convert_lists, _check_texts_inside),
    get_args(Moment): (
        _check_moments,
        _convert_distinct(TypeAdapter(list[AwareDatetime]).validate_python),
    ),
    get_args(Amount): (_check_amounts,),
    get_args(Price): (_check_amounts, _check_not_negative),
    get_args(Currency): (_convert_distinct(TypeAdapter(list[Currency]).validate_python),),
    get_args(Identifier): (_check_texts, _check_not_empty),
}
"""Rules by annotation and metadata of a field, in their order."""
