"""What the decoded JSON of an answer is read as."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from pydantic import BaseModel, JsonValue, ValidationError

from ferry_sdk.errors import UnexpectedResponseError
from ferry_sdk.models.base import path_of
from ferry_sdk.models.bulk.columns import NotUniformError
from ferry_sdk.models.bulk.rules import validate_columns
from ferry_sdk.models.records import Records, Unreadable

logger: logging.Logger = logging.getLogger("ferry_sdk")

_A_PART = 1000
"""Records that a processor's cache has room for."""
_A_FEW = 60
"""Records that a part is not halved below; pydantic reads them one by one."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
ModelT = TypeVar("ModelT", bound=BaseModel)


class Answer(Protocol[T_co]):
    """Reads a decoded JSON value as what the caller gets."""

    def read(self, value: object) -> T_co:
        """Read it.

        Raises:
            UnexpectedResponseError: It is something else; the error names the field.
        """
        ...


class Record(Generic[ModelT]):
    """One record.

    Args:
        model: What it is read as.
        asked: The ids that were asked for, by the members that repeat them.
    """

    def __init__(self, model: type[ModelT], **asked: str) -> None:
        self.model = model
        self.asked = asked

    def read(self, value: object) -> ModelT:
        """Read the record; what cannot be read is an error that names the field."""
        _check_ids(self.asked, value)
        try:
            return self.model.model_validate(value)
        except ValidationError as error:
            where, problem = path_of(error)
            raise unreadable_error(self.model.__name__, where, problem, value) from None

    def __repr__(self) -> str:
        return f"Record({self.model.__name__})"


def prepare(answer: Answer[Any]) -> None:
    """Build the validator of a record, which pydantic otherwise builds with the first reply."""
    model: type[BaseModel] | None = getattr(answer, "model", None)
    if model is not None:
        model.model_rebuild()


class RecordList(Generic[ModelT]):
    """A list of records: bare, as a member of an object, or a single record that stands alone."""

    def __init__(self, model: type[ModelT], *, member: str | None = None) -> None:
        self.model = model
        self.member = member

    def read(self, value: object) -> Records[ModelT]:
        """Read the records; the ones that cannot be read are kept apart."""
        items = self._items(value)
        lost: list[Unreadable] = []
        makers = [
            make
            for first in range(0, len(items), _A_PART)
            for make in self._validate_columns(first, items[first : first + _A_PART], lost)
        ]
        if lost:
            self._report_lost(lost, items)
        return Records[ModelT].from_factory(
            lambda: [record for make in makers for record in make()],
            len(items) - len(lost),
            lost,
        )

    def _items(self, value: object) -> list[object]:
        if isinstance(value, dict):
            members = cast("dict[str, object]", value)
            only = next(iter(members.values())) if len(members) == 1 else None
            inner = members.get(self.member, only) if self.member else only
            value = cast("object", inner) if isinstance(inner, list) else [members]
        if not isinstance(value, list):
            raise unreadable_error(f"a list of {self.model.__name__}", None, "no list", value)
        return cast("list[object]", value)

    def _validate_columns(
        self, first: int, items: list[object], lost: list[Unreadable]
    ) -> Iterator[Callable[[], Sequence[ModelT]]]:
        """What makes the records, those that are not plain found by halves."""
        try:
            yield validate_columns(self.model, items)
        except NotUniformError:
            half = len(items) // 2
            if half < _A_FEW:
                records = [*self._validate_each(first, items, lost)]
                yield lambda: records
            else:
                yield from self._validate_columns(first, items[:half], lost)
                yield from self._validate_columns(first + half, items[half:], lost)

    def _validate_each(
        self, first: int, items: Sequence[object], lost: list[Unreadable]
    ) -> Iterator[ModelT]:
        for index, item in enumerate(items, first):
            try:
                yield self.model.model_validate(item)
            except ValidationError as error:
                where, problem = path_of(error)
                lost.append(Unreadable(index=index, field=where, problem=problem, raw=item))

    def _report_lost(self, lost: Sequence[Unreadable], items: Sequence[object]) -> None:
        if len(lost) == len(items):
            first = lost[0]
            where = f"[{first.index}].{first.field}".rstrip(".")
            raise unreadable_error(f"a list of {self.model.__name__}", where, first.problem, items)
        for one in lost:
            logger.warning(
                "%s %d of %d left out as unreadable: %s: %s",
                self.model.__name__,
                one.index,
                len(items),
                one.field,
                one.problem,
            )

    def __repr__(self) -> str:
        return f"Many({self.model.__name__})"


class Json:
    """The JSON value as it is.

    Args:
        asked: The ids that were asked for, by the members that repeat them.
    """

    def __init__(self, **asked: str) -> None:
        self.asked = asked

    def read(self, value: object) -> JsonValue:
        """Give it back."""
        _check_ids(self.asked, value)
        return cast("JsonValue", value)

    def __repr__(self) -> str:
        return "Json()"


class Constant(Generic[T]):
    """A value that the call made itself, of a type it knows."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind

    def read(self, value: object) -> T:
        """Give it back."""
        assert isinstance(value, self.kind)  # noqa: S101 -- the call's own promise
        return value

    def __repr__(self) -> str:
        return f"Just({self.kind.__name__})"


def _check_ids(asked: Mapping[str, str], value: object) -> None:
    """Refuse an answer that names another id than the one asked for; it may name none.

    The error holds nothing of the answer, which is about somebody else's booking.
    """
    members = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    for name, wanted in asked.items():
        named = members.get(name)
        if isinstance(named, str) and named not in {wanted, ""}:
            raise UnexpectedResponseError(
                f"the reply names another {name} than the one asked for", field=name
            )


def unreadable_error(
    what: str, where: str | None, problem: str, value: object
) -> UnexpectedResponseError:
    """The error of an answer that is not what was asked for."""
    place = f": {where}" if where else ""
    return UnexpectedResponseError(
        f"the reply cannot be read as {what}{place}: {problem}", field=where, body=value
    )
