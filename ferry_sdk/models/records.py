"""A list of records of which some could not be read."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from typing_extensions import Self

from ferry_sdk._fork import after_fork_in_child

if TYPE_CHECKING:
    from ferry_sdk.models.display.frames import By, DataFrame, MoneyAs

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


_making = threading.RLock()


def _begin_anew() -> None:
    """In a forked child, whose parent's lock may be held by a thread that is not there."""
    global _making  # noqa: PLW0603 -- there is one for all
    _making = threading.RLock()


after_fork_in_child(_begin_anew)


class Records(Sequence[T_co], Generic[T_co]):
    """An immutable sequence of records."""

    __slots__ = ("_made", "_make", "_size", "_unreadable")

    def __init__(self, records: Sequence[T_co] = (), unreadable: Sequence[Unreadable] = ()) -> None:
        self._made = tuple(records)
        self._make: Callable[[], Sequence[T_co]] | None = None
        self._size = len(self._made)
        self._unreadable = tuple(unreadable)

    @classmethod
    def made_by(
        cls,
        make: Callable[[], Sequence[T_co]],
        size: int,
        unreadable: Sequence[Unreadable] = (),
    ) -> Self:
        """Records of which there are so many, made when they are first looked at."""
        records = cls(unreadable=unreadable)
        records._make, records._size = make, size
        return records

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The records of the service's list that could not be read."""
        return self._unreadable

    @property
    def _records(self) -> tuple[T_co, ...]:
        if self._make is not None:
            with _making:
                if self._make is not None:
                    self._made = tuple(self._make())
                    self._make = None
        return self._made

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, index: int | slice) -> T_co | tuple[T_co, ...]:
        return self._records[index]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._records)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        them = cast("Records[object]", other)
        return tuple(self) == tuple(them) and self.unreadable == them.unreadable

    def __hash__(self) -> int:
        return hash(self._records)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._records, self.unreadable)

    def __repr__(self) -> str:
        lost = f", unreadable={len(self.unreadable)}" if self.unreadable else ""
        return f"Records({list(self._records)!r}{lost})"

    def _repr_html_(self) -> str | None:
        """The records as a table, for notebooks; no more of them than the repr shows."""
        from ferry_sdk.models.display.cards import table_of  # noqa: PLC0415 -- for notebooks only

        return table_of(self)

    def to_frame(self, *, by: By = "record", money: MoneyAs = "decimal") -> DataFrame:
        """The records as a pandas frame, with the fields that the repr shows.

        Moments are in UTC; a sailing's row also has the times on the ports' own clocks
        (`depart_local`, `arrive_local`), its exact `travel_time`, and its cheapest ticket
        (`lowest_amount`, `lowest_currency`). Needs the extra ``notebook``.

        Args:
            by: What a row stands for: a ``"record"``, or a ``"tariff"`` of a sailing.
            money: Amounts as exact ``"decimal"`` objects, or as ``"float"`` to calculate with.

        Raises:
            InvalidInputError: Rows of tariffs, of records that have none.
            ModuleNotFoundError: pandas is not installed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                frame = ferry.catalogue.ports().to_frame()
                print(list(frame.columns))
                # > ['code', 'name', 'country']
            ```
        """
        from ferry_sdk.models.display.frames import frame_of  # noqa: PLC0415 -- pandas is an extra's

        return frame_of(self, by=by, money=money)
