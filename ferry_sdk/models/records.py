"""Lists of records, created on first access, some of which may be unreadable.

Creating model objects is most of the cost of a long list. `Records` therefore keeps a factory
that runs once, under a lock, when the records are first accessed. The length is known before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast, overload

from ferry_sdk._runtime.fork import ProcessLock

if TYPE_CHECKING:
    from ferry_sdk.notebook.frames import By, DataFrame, MoneyAs

T_co = TypeVar("T_co", covariant=True)

_MOST_SHOWN = 5
"""The repr of a list with more records shows the first and the last one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that could not be parsed.

    Attributes:
        index: Its index in the service's list, from 0.
        field: The invalid field, as a path (``tariffs[0].amount``).
        problem: The reason.
        raw: The record as received; not part of the repr.
    """

    index: int
    field: str
    problem: str
    raw: object = dataclasses.field(repr=False)


_lock: Final = ProcessLock()


class Match:
    """The base of dataclasses that a search by name returns; notebooks show a card of each."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from ferry_sdk.notebook.cards import match_card  # noqa: PLC0415 -- for notebooks only

        return match_card(self)


class Records(Sequence[T_co], Generic[T_co]):
    """An immutable sequence of records."""

    __module__ = "ferry_sdk"  # in a session, Jedi then asks a list, which knows its records' type
    __slots__ = ("_factory", "_size", "_unreadable", "_values")

    def __init__(self, records: Sequence[T_co] = (), unreadable: Sequence[Unreadable] = ()) -> None:
        self._values = tuple(records)
        self._factory: Callable[[], Sequence[T_co]] | None = None
        self._size = len(self._values)
        self._unreadable = tuple(unreadable)

    @classmethod
    def from_factory(
        cls,
        factory: Callable[[], Sequence[T_co]],
        size: int,
        unreadable: Sequence[Unreadable] = (),
    ) -> Self:
        """Return `size` records that the factory creates on first access."""
        records = cls(unreadable=unreadable)
        records._factory = factory
        records._size = size
        return records

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The records of the service's list that could not be parsed."""
        return self._unreadable

    @property
    def _records(self) -> tuple[T_co, ...]:
        if self._factory is not None:
            with _lock.current:
                if self._factory is not None:  # no other thread ran it while this one waited
                    self._values = tuple(self._factory())
                    self._factory = None
        return self._values

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
        other_records = cast("Records[object]", other)
        has_same_records = tuple(self) == tuple(other_records)
        return has_same_records and self.unreadable == other_records.unreadable

    def __hash__(self) -> int:
        return hash(self._records)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._records, self.unreadable)

    def __repr__(self) -> str:
        lost = f", unreadable={len(self.unreadable)}" if self.unreadable else ""
        records = [repr(record) for record in self._records]
        if len(records) > _MOST_SHOWN:
            records[1:-1] = [f"... {len(records) - 2} more ..."]
        return f"Records([{', '.join(records)}]{lost})"

    def _repr_html_(self) -> str | None:
        """Return the records as a table, for notebooks; it shows no more than the repr."""
        from ferry_sdk.notebook.cards import table_of  # noqa: PLC0415 -- for notebooks only

        return table_of(self)

    def to_frame(self, *, by: By = "record", money: MoneyAs = "decimal") -> DataFrame:
        """Return the records as a pandas frame, with the fields of the repr.

        Moments are in UTC. A sailing's row also has the local times of its ports
        (`depart_local`, `arrive_local`), its exact `travel_time`, and its cheapest ticket
        (`lowest_amount`, `lowest_currency`). ``frame.attrs["unreadable"]`` is the number of records
        that could not be read. Requires the extra ``notebook``.

        Args:
            by: The content of a row: a ``"record"``, or a ``"tariff"`` of a sailing.
            money: The type of amounts: exact ``"decimal"`` objects, or ``"float"``.

        Raises:
            InvalidInputError: An option has another value, or rows of tariffs were requested for
                records without tariffs, or a member is no record of the service, such as a trip;
                ``trips.to_frame()`` returns the frame of trips.
            ModuleNotFoundError: pandas is not installed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                frame = ferry.catalogue.ports().to_frame()
                print(list(frame.columns))
                # > ['code', 'name', 'country', 'country_code']
            ```
        """
        from ferry_sdk.notebook.frames import frame_of  # noqa: PLC0415 -- pandas is an extra's

        return frame_of(self, by=by, money=money)
