"""What the calls of planning return: the results, and what became of the calls behind them.

A record that cannot be read is passed on to the caller: a report, and a list of matches, have an
`UnreadableAnswer` for every list of the service with such records. `describe_unreadable` puts them
into words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    Self,
    SupportsIndex,
    TypeVar,
    overload,
)

from ferry_sdk._runtime.clock import Date, monotonic
from ferry_sdk.errors import FerryError
from ferry_sdk.models.base import Model
from ferry_sdk.models.catalogue import McpPort
from ferry_sdk.models.records import Records, Unreadable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

PORT_OPERATIONS: Final = ("catalogue.ports", "mcp.ports")
"""The calls that list ports."""


@dataclass(frozen=True, slots=True)
class AskedSearch:
    """One search: one company, from one port to another, on one day.

    Attributes:
        company: The company, as the search takes it.
        depart_code: The code of the port of departure.
        arrive_code: The code of the port of arrival.
        day: The day of departure.
    """

    company: str
    depart_code: str
    arrive_code: str
    day: Date


@dataclass(frozen=True, slots=True)
class FailedSearch(AskedSearch):
    """A search that failed.

    Attributes:
        error: Why.
    """

    error: FerryError


@dataclass(frozen=True, slots=True)
class UnreadableAnswer:
    """An answer with records that could not be read. What they say is not in the result.

    Attributes:
        search: The search; None: a catalogue.
        operation: The call, such as ``availability.search`` or ``catalogue.ports``.
        records: The records, as in the ``.unreadable`` of the call's list. Empty if the whole
            catalogue could not be read.
    """

    search: AskedSearch | None
    operation: str
    records: tuple[Unreadable, ...]


def unreadable_answers(
    operation: str, records: Records[Any], search: AskedSearch | None = None
) -> tuple[UnreadableAnswer, ...]:
    """Return the unreadable records of a list as one answer; nothing if all could be read."""
    if not records.unreadable:
        return ()
    return (UnreadableAnswer(search, operation, records.unreadable),)


def unusable(index: int, field: str, problem: str, record: Model) -> Unreadable:
    """Return the unreadable record for one that was read, but says too little to be used.

    Args:
        index: Its index in the service's list.
        field: The field that is missing or does not fit.
        problem: Why the record cannot be used.
        record: The record.
    """
    return Unreadable(index=index, field=field, problem=problem, raw=record.model_dump(mode="json"))


def ports_without_code(ports: Records[McpPort]) -> tuple[UnreadableAnswer, ...]:
    """Return the ports of MCP that no search can name as one answer.

    If no port has a code, the list has other fields than the library knows. Nothing is returned
    then: the list is not one of ports.
    """
    lost = tuple(
        unusable(index, "code", "no code", record=port)
        for index, port in numbered(ports)
        if not port.code
    )
    if not lost or len(lost) == len(ports):
        return ()
    return (UnreadableAnswer(search=None, operation="mcp.ports", records=lost),)


def numbered(records: Iterable[T]) -> Iterator[tuple[int, T]]:
    """Yield each record with its index in the service's list, which counts unreadable ones too."""
    lost: set[int] = set()
    if isinstance(records, Records):
        lost = {record.index for record in records.unreadable}
    indexes = (index for index in count() if index not in lost)
    return zip(indexes, records, strict=False)  # there are always further indexes


def count_unreadable(answers: Iterable[UnreadableAnswer]) -> int:
    """Return how many records could not be read; those of whole lists are not counted."""
    return sum(len(answer.records) for answer in answers)


def describe_unreadable(answers: Iterable[UnreadableAnswer]) -> str:
    """Return in words what could not be read, such as "2 records of catalogue.ports".

    Empty if everything could be read.
    """
    counts: Counter[str] = Counter()
    whole_lists: dict[str, None] = {}
    for answer in answers:
        if answer.records:
            counts[answer.operation] += len(answer.records)
        else:
            whole_lists[answer.operation] = None

    parts: list[str] = []
    for operation, number in counts.items():
        noun = "record" if number == 1 else "records"
        parts.append(f"{number} {noun} of {operation}")
    parts += [f"a whole list of {operation}" for operation in whole_lists]

    if not parts:
        return ""
    return f"{' and '.join(parts)} could not be read"


@dataclass(frozen=True, slots=True, repr=False)
class SearchReport:
    """Which companies were asked, and what became of each search.

    Attributes:
        asked: The searches that were made.
        answered: Those that found sailings.
        nothing: Those for which nothing sails.
        failed: Those that failed, each with its error.
        not_asked: The searches beyond `max_calls`, and those that a deadline or the end of a stream
            left no time for.
        seconds: How long it took, the catalogues included.
        has_route: Whether any company sails from the one place to the other, on whatever day; of
            connections, whether two routes meet between them. None: it is not known, because a
            journey, a departure or a port could not be read.
        left_out: How many trips were found without a fare of the wanted `reservation_type`; of
            connections, how many single sailings.
        unreadable: The answers, of searches and of catalogues, with records that could not be
            read: a cheaper sailing, or a further company, may be among them.
    """

    asked: tuple[AskedSearch, ...] = ()
    answered: tuple[AskedSearch, ...] = ()
    nothing: tuple[AskedSearch, ...] = ()
    failed: tuple[FailedSearch, ...] = ()
    not_asked: tuple[AskedSearch, ...] = ()
    seconds: float = 0.0
    has_route: bool | None = True
    left_out: int = 0
    unreadable: tuple[UnreadableAnswer, ...] = ()

    @property
    def calls(self) -> int:
        """The number of searches that were made."""
        return len(self.asked)

    @property
    def is_complete(self) -> bool:
        """Whether every company was asked and answered, and every record could be read."""
        answers = len(self.answered) + len(self.nothing)
        return answers == self.calls and not self.not_asked and not self.unreadable

    def __repr__(self) -> str:
        if self.has_route is None:
            lost = unreadable_note(self.unreadable)
            return f"<SearchReport: it is not known whether a company sails such a route{lost}>"
        if not self.has_route:
            return "<SearchReport: no company sails such a route>"
        names = ("asked", "answered", "nothing", "failed", "not_asked")
        counts = ", ".join(f"{len(getattr(self, name))} {name}" for name in names)
        return f"<SearchReport: {counts}{notes_of(self)}>"


@dataclass(slots=True)
class SearchProgress:
    """What became of the searches so far, from which the report is made.

    Attributes:
        ended: The searches that were made and have ended.
        answered: Those that found sailings.
        nothing: Those for which nothing sails.
        failed: Those that failed.
        not_asked: The searches that were not made.
        has_route: As in the report.
        left_out: As in the report.
        unreadable: As in the report.
        began_at: When the first step began, on the monotonic clock.
        seconds: How long it took; None: it has not ended.
    """

    ended: list[AskedSearch] = field(default_factory=list[AskedSearch])
    answered: list[AskedSearch] = field(default_factory=list[AskedSearch])
    nothing: list[AskedSearch] = field(default_factory=list[AskedSearch])
    failed: list[FailedSearch] = field(default_factory=list[FailedSearch])
    not_asked: list[AskedSearch] = field(default_factory=list[AskedSearch])
    has_route: bool | None = True
    left_out: int = 0
    unreadable: list[UnreadableAnswer] = field(default_factory=list[UnreadableAnswer])
    began_at: float = field(default_factory=monotonic)
    seconds: float | None = None

    def stop_clock(self) -> None:
        """Let `seconds` be the time until now, unless the clock was stopped before."""
        if self.seconds is None:
            self.seconds = monotonic() - self.began_at

    def report(self, under_way: Iterable[AskedSearch]) -> SearchReport:
        """Return the report as of now, given the searches that are under way."""
        seconds = self.seconds
        if seconds is None:
            seconds = monotonic() - self.began_at
        return SearchReport(
            asked=(*self.ended, *under_way),
            answered=tuple(self.answered),
            nothing=tuple(self.nothing),
            failed=tuple(self.failed),
            not_asked=tuple(self.not_asked),
            seconds=seconds,
            has_route=self.has_route,
            left_out=self.left_out,
            unreadable=tuple(self.unreadable),
        )


class RouteNotes(NamedTuple):
    """What is said of a search between two places that have no route.

    Attributes:
        none: No company sails.
        unknown: It is not known, because records could not be read.
    """

    none: str
    unknown: str

    def note(self, report: SearchReport) -> str | None:
        """Return what a report's `has_route` means; None: there is a route."""
        if report.has_route is None:
            return self.unknown
        return None if report.has_route else self.none


SAILING: Final = RouteNotes(
    none="no company sails from the one place to the other",
    unknown="it is not known whether a company sails from the one place to the other",
)
"""The notes of a search of trips."""
CONNECTION: Final = RouteNotes(
    none="no company sails with one change from the one place to the other",
    unknown="it is not known whether one can sail with one change from the one place to the other",
)
"""The notes of a search of connections; one company may sail all the way."""


def unreadable_note(answers: Iterable[UnreadableAnswer]) -> str:
    """Return what a repr says of the records that could not be read; empty if there is none."""
    text = describe_unreadable(answers)
    return f", {text}" if text else ""


def notes_of(report: SearchReport) -> str:
    """Return what a repr says of what a search lacks: trips left out, and unreadable records."""
    left_out = f", {report.left_out} left out by reservation_type" if report.left_out else ""
    return f"{left_out}{unreadable_note(report.unreadable)}"


class Matches(tuple[T_co, ...], Generic[T_co]):  # noqa: SLOT001 -- a tuple has no slots
    """What was found: a tuple that notebooks show as a table.

    Attributes:
        unreadable: The catalogues with records that could not be read. What they name was not
            found.
    """

    unreadable: tuple[UnreadableAnswer, ...]

    if TYPE_CHECKING:  # Jedi does not find these in the tuple

        @overload
        def __getitem__(self, index: SupportsIndex, /) -> T_co: ...
        @overload
        def __getitem__(self, index: slice, /) -> tuple[T_co, ...]: ...
        def __getitem__(self, index: SupportsIndex | slice, /) -> T_co | tuple[T_co, ...]: ...

    def __new__(
        cls, found: Iterable[T_co] = (), unreadable: Iterable[UnreadableAnswer] = ()
    ) -> Self:
        """Return the matches.

        Args:
            found: What was found.
            unreadable: The catalogues with records that could not be read.
        """
        matches = super().__new__(cls, found)
        matches.unreadable = tuple(unreadable)
        return matches

    def __repr__(self) -> str:
        matches = super().__repr__()
        if not self.unreadable:
            return matches
        return f"<Matches: {matches}{unreadable_note(self.unreadable)}>"

    def _repr_html_(self) -> str:
        from ferry_sdk.notebook.cards import matches_table  # noqa: PLC0415 -- for notebooks

        return matches_table(self, describe_unreadable(self.unreadable))


class SearchResult(Sequence[T]):
    """What a search has found: an immutable sequence.

    Args:
        results: The trips or itineraries, in their order.
        report: Which companies were asked, and what became of each search.
    """

    __slots__ = ("_results", "report")
    _KIND: ClassVar[str]
    _ROUTE_NOTES: ClassVar[RouteNotes]

    def __init__(self, results: Iterable[T], report: SearchReport) -> None:
        self._results = tuple(results)
        self.report: SearchReport = report

    @property
    def left_out(self) -> int:
        """How many trips were found without a fare of the wanted `reservation_type`.

        Of connections, how many single sailings.
        """
        return self.report.left_out

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[T]:
        return iter(self._results)

    def __repr__(self) -> str:
        no_route = self._ROUTE_NOTES.note(self.report)
        if no_route is not None:
            note = f"{no_route}{unreadable_note(self.report.unreadable)}"
        else:
            counts = f"{len(self)} {self._KIND} by {self.report.calls} searches"
            note = f"{counts}{notes_of(self.report)}"
        return f"<{type(self).__name__}: {note}>"
