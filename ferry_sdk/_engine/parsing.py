"""Parsers from decoded JSON to records.

A long list is validated column by column, in parts that fit a processor's cache. If a part has a
value of an unexpected type, pydantic validates its records one by one, as it does those of a short
list. A record that fails is left out of the list and reported in ``.unreadable``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from pydantic import BaseModel, ValidationError

from ferry_sdk._engine.log import logger
from ferry_sdk.errors import UnexpectedResponseError, mark_quoted
from ferry_sdk.models.base import path_of, strict_parser, wire_names
from ferry_sdk.models.bulk import validate_columns
from ferry_sdk.models.records import Records, Unreadable

CHUNK_SIZE = 250
"""Records of one part, which fit a processor's cache."""

SHORTEST_BY_COLUMNS = 8
"""Records of the shortest list that is validated by columns.

By columns, one record takes twice as long as by pydantic, and three take as long. Eight take three
quarters of the time, if they have the same members.
"""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
ModelT = TypeVar("ModelT", bound=BaseModel)


class Answer(Protocol[T_co]):
    """A parser from a decoded JSON value to the result of a call.

    It raises `UnexpectedResponseError`, which names the field, if the value is not valid.
    """

    def read(self, value: object) -> T_co: ...


class Record(Generic[ModelT]):
    """One record; `requested_ids` are by the members of the reply that repeat them."""

    def __init__(self, model: type[ModelT], **requested_ids: str) -> None:
        self.model = model
        self.requested_ids = requested_ids

    def read(self, value: object) -> ModelT:
        """Parse the record; the error of an invalid one names the field."""
        if self.requested_ids:
            _check_ids(self.requested_ids, value)
        try:
            record: ModelT = self.model.__pydantic_validator__.validate_python(value)
        except ValidationError as error:
            where, problem = path_of(error)
            name = self.model.__name__
            raise unreadable_error(name, where, problem=problem, value=value) from None
        return record


def prepare(answer: Answer[Any]) -> None:
    """Build the validator of a record, which pydantic otherwise builds with the first reply."""
    model: type[BaseModel] | None = getattr(answer, "model", None)
    if model is not None and not model.__pydantic_complete__:
        model.model_rebuild()


class RecordList(Generic[ModelT]):
    """A list of records: a JSON list, a member of an object, or a single record."""

    def __init__(self, model: type[ModelT], *, member: str | None = None) -> None:
        self.model = model
        self.member = member

    def read(self, value: object) -> Records[ModelT]:
        """Parse the records; those that are not valid are kept apart."""
        items = self._items(value)
        lost: list[Unreadable] = []
        if len(items) < SHORTEST_BY_COLUMNS:
            records = self._validate_each(0, items, lost)
            if lost:
                self._report_lost(lost, items)
            return Records(records, lost)

        makers: list[Callable[[], Sequence[ModelT]]] = []
        for first in range(0, len(items), CHUNK_SIZE):
            part = items[first : first + CHUNK_SIZE]
            makers.append(self._validate(first, part, lost))
        if lost:
            self._report_lost(lost, items)

        def make_records() -> list[ModelT]:
            records: list[ModelT] = []
            for make in makers:
                records += make()
            return records

        return Records[ModelT].from_factory(make_records, len(items) - len(lost), lost)

    def _items(self, value: object) -> list[object]:
        """Return the elements of a list; null and an empty object are a list without any."""
        if isinstance(value, dict):
            members = cast("dict[str, object]", value)
            name = self._list_member(members)
            value = members.get(name, members)
            if value and not isinstance(value, list):
                # An object whose member is no list is itself the only record, if it is one.
                is_record = not members.keys().isdisjoint(wire_names(self.model))
                value = [members] if is_record else members

        if value is None or value == {}:
            return []
        if not isinstance(value, list):
            expected = f"a list of {self.model.__name__}"
            raise unreadable_error(expected, None, problem="not a list", value=value)
        return cast("list[object]", value)

    def _list_member(self, members: dict[str, object]) -> str:
        """Return the member that may be the list: the named one, or else the only one.

        The only member of ``{"departures": […]}`` is the list; that of ``{"id": "p-1"}`` is not, if
        `id` is a field of the record.
        """
        if self.member not in members and len(members) == 1:
            (only,) = members
            if only not in self.model.model_fields:
                return only
        return self.member or ""

    def _validate(
        self, first: int, items: list[object], lost: list[Unreadable]
    ) -> Callable[[], Sequence[ModelT]]:
        """Return a function that makes the records of a part; add those that fail to `lost`."""
        try:
            return validate_columns(self.model, items)
        except (TypeError, ValueError):
            records = self._validate_each(first, items, lost)

        def get_records() -> Sequence[ModelT]:
            return records

        return get_records

    def _validate_each(
        self, first: int, items: list[object], lost: list[Unreadable]
    ) -> list[ModelT]:
        """Return the records of a part, each validated by pydantic; add those that fail."""
        records: list[ModelT] = []
        parse_strictly = strict_parser(self.model)
        for index, item in enumerate(items, first):
            try:
                records.append(parse_strictly(item))
            except ValidationError:
                self._validate_tolerantly(index, item, records, lost)
        return records

    def _validate_tolerantly(
        self, index: int, item: object, records: list[ModelT], lost: list[Unreadable]
    ) -> None:
        try:
            records.append(self.model.__pydantic_validator__.validate_python(item))
        except ValidationError as error:
            where, problem = path_of(error)
            lost.append(Unreadable(index=index, field=where, problem=problem, raw=item))

    def _report_lost(self, lost: Sequence[Unreadable], items: Sequence[object]) -> None:
        """Log the records that fail; if all of them do, raise."""
        if len(lost) == len(items):
            first = lost[0]
            where = f"[{first.index}].{first.field}".rstrip(".")
            expected = f"a list of {self.model.__name__}"
            raise unreadable_error(expected, where, problem=first.problem, value=items)

        for record in lost:
            logger.warning(
                "%s %d of %d is unreadable and left out: %s: %s",
                self.model.__name__,
                record.index,
                len(items),
                record.field,
                record.problem,
            )


class Passthrough(Generic[T]):
    """The value as it is, such as any JSON value, or one that the call itself made."""

    def __init__(self, **requested_ids: str) -> None:
        self.requested_ids = requested_ids

    def read(self, value: object) -> T:
        """Return the value."""
        _check_ids(self.requested_ids, value)
        return cast("T", value)


def _check_ids(requested_ids: Mapping[str, str], value: object) -> None:
    """Raise if the reply names another id than the requested one; it may name none.

    The error contains nothing of the reply, which may be about another customer's booking.
    """
    members = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    for name, requested_id in requested_ids.items():
        returned_id = members.get(name)
        if isinstance(returned_id, str) and returned_id not in {requested_id, ""}:
            raise UnexpectedResponseError(
                f"the reply has another {name} than the requested one", field=name
            )


def unreadable_error(
    expected: str, where: str | None, *, problem: str, value: object
) -> UnexpectedResponseError:
    """Return the error of a reply that cannot be parsed.

    Args:
        expected: What the reply should be, such as ``Booking``.
        where: The path of the invalid field; None for the whole reply.
        problem: What is wrong there.
        value: The reply.
    """
    place = f": {where}" if where else ""
    message = f"the reply cannot be read as {expected}{place}: {problem}"
    return mark_quoted(UnexpectedResponseError(message, field=where, body=value), where or "")
