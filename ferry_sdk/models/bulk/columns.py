"""Lists of records read column by column, where they are just as the interface shows them.

pydantic decides what a record is. But where every member is of the very JSON type of its field, it
is known what pydantic would make of it. Such a list is looked through here one field at a time, in
the loops that Python has in C, and its own dicts become those of the models. Nothing is changed
before all of it is seen to be so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

ModelT = TypeVar("ModelT", bound=BaseModel)
Members = dict[str, Any]
Column = list[Any]
Converted = Callable[[], Iterable[Any]]
Rule = Callable[[Column], Converted | None]
"""Looks through a column: what gives its fields' values; None where it holds them."""

_NOTHING: Final[Members] = {}
_all_done: Final = deque[Any](maxlen=0).extend
# pydantic does not document the slots of a model. Where one is missing, lists are not validated
# by columns, but record by record.
_setters: Final[list[Any]] = [
    getattr(vars(BaseModel).get(name), "__set__", None)
    for name in (
        "__dict__",
        "__pydantic_fields_set__",
        "__pydantic_extra__",
        "__pydantic_private__",
    )
]
IS_SUPPORTED: Final = None not in _setters
_set_values, _set_present, _set_extra, _set_private = _setters


class NotUniformError(ValueError):
    """Something is not just as the interface shows it, for good or ill."""


class Layout(NamedTuple):
    """What is to be done to records of the same members in the same order.

    Attributes:
        rules: Each with the fields that it is for, which are looked through as one column.
        present: The names of all members.
        is_usual: Whether they are all the fields, in their order, and nothing else.
        made: The absent fields whose default is made anew each time.
        extra: The names of the other members.
    """

    rules: tuple[tuple[Rule, tuple[str, ...]], ...]
    present: set[str]
    is_usual: bool
    made: tuple[str, ...]
    extra: tuple[str, ...]


class Columns(Generic[ModelT]):
    """Reads lists of the records of one model.

    Args:
        model: The model.
        rules: What makes a column plain, for each of its fields.
    """

    def __init__(self, model: type[ModelT], rules: dict[str, Rule]) -> None:
        self._model = model
        self._rules = rules
        self._blank = {name: field.default for name, field in model.model_fields.items()}
        self._layout = lru_cache(maxsize=64)(self._layout_of)

    def look_through(self, records: Sequence[Members]) -> Callable[[], list[ModelT]]:
        """See that all records are plain, and give what makes them models, as often as it is asked.

        Raises:
            NotPlainError: They are not.
        """
        kinds: set[tuple[str, ...]] = {*map(tuple, records)}
        if len(kinds) == 1:
            return self._look(kinds.pop(), records)
        names_of = [*map(tuple, records)]
        groups: dict[tuple[str, ...], list[Members]] = {}
        for names, record in zip(names_of, records, strict=True):
            groups.setdefault(names, []).append(record)
        made = {names: self._look(names, group) for names, group in groups.items()}

        def make() -> list[ModelT]:
            models = {names: iter(make_group()) for names, make_group in made.items()}
            return [next(models[names]) for names in names_of]

        return make

    def _look(
        self, names: tuple[str, ...], records: Sequence[Members]
    ) -> Callable[[], list[ModelT]]:
        layout = self._layout(names)
        values = [*chain.from_iterable(map(dict[str, Any].values, records))]
        changes: list[tuple[tuple[str, ...], Converted]] = []
        for rule, fields in layout.rules:
            column: list[Any] = []
            for field in fields:
                column += values[names.index(field) :: len(names)]
            converted = rule(column)
            if converted is not None:
                changes.append((fields, converted))
        return partial(self._made, layout, records, changes)

    def _made(
        self,
        layout: Layout,
        records: Sequence[Members],
        changes: Iterable[tuple[tuple[str, ...], Converted]],
    ) -> list[ModelT]:
        """Make the models, from the beginning if that was interrupted, or forked, in the middle."""
        for fields, converted in changes:
            values = iter(converted())
            for field in fields:
                for record, value in zip(records, values):  # noqa: B905 -- the next field's follow
                    record[field] = value
        extra: Iterable[Members] = repeat(_NOTHING)
        if not layout.is_usual:
            records = [self._blank | record for record in records]
        if layout.extra:
            extra = [{name: record.pop(name) for name in layout.extra} for record in records]
        for name in layout.made:
            default = self._model.model_fields[name].get_default
            for record in records:
                record[name] = default(call_default_factory=True)
        models = [*map(object.__new__, repeat(self._model, len(records)))]
        _all_done(map(_set_values, models, records))
        _all_done(map(_set_present, models, repeat(layout.present)))
        _all_done(map(_set_extra, models, extra))
        _all_done(map(_set_private, models, repeat(None)))
        return models

    def _layout_of(self, names: tuple[str, ...]) -> Layout:
        fields = self._model.model_fields
        absent = [name for name in fields if name not in names]
        if any(fields[name].is_required() for name in absent):
            raise NotUniformError
        known = [name for name in names if name in fields]
        rules = dict.fromkeys(self._rules[name] for name in known)
        return Layout(
            rules=tuple(
                (rule, tuple(name for name in known if self._rules[name] is rule)) for rule in rules
            ),
            present={*names},
            is_usual=names == tuple(fields),
            made=tuple(name for name in absent if fields[name].default_factory),
            extra=tuple(name for name in names if name not in fields),
        )
