"""A list of records of which some could not be read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, cast, overload

T_co = TypeVar("T_co", covariant=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that could not be read.

    Attributes:
        index: Its place in the service's list, from 0.
        field: The field that was wrong, as a path (``tariffs[0].amount``).
        problem: What was wrong with it.
        raw: The record as it came; it does not show in the repr.
    """

    index: int
    field: str
    problem: str
    raw: object = dataclasses.field(repr=False)


class Records(Sequence[T_co], Generic[T_co]):
    """An immutable sequence of records.

    Attributes:
        unreadable: The records of the service's list that could not be read.
    """

    __slots__ = ("_records", "unreadable")

    unreadable: tuple[Unreadable, ...]

    def __init__(self, records: Sequence[T_co] = (), unreadable: Sequence[Unreadable] = ()) -> None:
        self._records = tuple(records)
        self.unreadable = tuple(unreadable)

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, index: int | slice) -> T_co | tuple[T_co, ...]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._records)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        them = cast("Records[object]", other)
        return tuple(self) == tuple(them) and self.unreadable == them.unreadable

    def __hash__(self) -> int:
        return hash(self._records)

    def __repr__(self) -> str:
        lost = f", unreadable={len(self.unreadable)}" if self.unreadable else ""
        return f"Records({list(self._records)!r}{lost})"
