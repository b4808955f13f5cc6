"""What every search of trips returns: the results, and a report of the searches behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, TypeVar, overload

from ferry_sdk.errors import FerryError

T = TypeVar("T")


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
    day: date


@dataclass(frozen=True, slots=True)
class FailedSearch(AskedSearch):
    """A search that failed.

    Attributes:
        error: Why.
    """

    error: FerryError


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
            connections, whether two routes meet between them.
        left_out: How many trips were found without a fare of the wanted `reservation_type`; of
            connections, how many single sailings.
    """

    asked: tuple[AskedSearch, ...] = ()
    answered: tuple[AskedSearch, ...] = ()
    nothing: tuple[AskedSearch, ...] = ()
    failed: tuple[FailedSearch, ...] = ()
    not_asked: tuple[AskedSearch, ...] = ()
    seconds: float = 0.0
    has_route: bool = True
    left_out: int = 0

    @property
    def calls(self) -> int:
        """The number of searches that were made."""
        return len(self.asked)

    @property
    def is_complete(self) -> bool:
        """Whether every company was asked and answered."""
        answers = len(self.answered) + len(self.nothing)
        return answers == self.calls and not self.not_asked

    def __repr__(self) -> str:
        if not self.has_route:
            return "<SearchReport: no company sails such a route>"
        names = ("asked", "answered", "nothing", "failed", "not_asked")
        counts = ", ".join(f"{len(getattr(self, name))} {name}" for name in names)
        return f"<SearchReport: {counts}{left_out_note(self)}>"


def left_out_note(report: SearchReport) -> str:
    """Return what a repr says of the trips that were left out; empty if there is none."""
    return f", {report.left_out} left out by reservation_type" if report.left_out else ""


class SearchResult(Sequence[T]):
    """What a search has found: an immutable sequence.

    Args:
        results: The trips or itineraries, in their order.
        report: Which companies were asked, and what became of each search.
    """

    __slots__ = ("_found", "report")
    _KIND: ClassVar[str]
    _NO_ROUTE: ClassVar[str]

    def __init__(self, results: Iterable[T], report: SearchReport) -> None:
        self._found = tuple(results)
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
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[T]:
        return iter(self._found)

    def __repr__(self) -> str:
        counts = f"{len(self)} {self._KIND} by {self.report.calls} searches"
        note = f"{counts}{left_out_note(self.report)}" if self.report.has_route else self._NO_ROUTE
        return f"<{type(self).__name__}: {note}>"
