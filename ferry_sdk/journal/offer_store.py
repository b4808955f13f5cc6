"""What a journal stores for `ferry_sdk.offers`: each method runs a function of `offers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from ferry_sdk.journal import offers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import date, datetime

    from sqlalchemy import Connection

    from ferry_sdk.types import (
        AnswerRecord,
        ClaimRequest,
        OfferEventRecord,
        SearchClaim,
        SearchRecord,
        WishRecord,
    )

T = TypeVar("T")
P = ParamSpec("P")


class _Use(Protocol):
    """Runs a function with a connection of the journal."""

    def __call__(
        self,
        mode: Literal["read", "write"],
        work: Callable[Concatenate[Connection, P], T],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T: ...


class OfferStore:
    """The wishes of a journal, their searches, and what these have answered.

    Each method raises a `JournalError` if the journal cannot be used.

    Args:
        use: Runs a function with a connection of the journal.
    """

    def __init__(self, use: _Use) -> None:
        self._use = use

    def save_wish(self, wish: WishRecord) -> None:
        """Save a wish, or replace the one with its key; an equal one stays as it is."""
        self._use("write", offers.save_wish, wish)

    def remove_wish(self, key: str) -> bool:
        """Remove a wish and its events; return whether there was one."""
        return self._use("write", offers.remove_wish, key)

    def load_wishes(self) -> tuple[WishRecord, ...]:
        """Return all wishes, by their keys."""
        return self._use("read", offers.load_wishes)

    def wishes_to_look_up(
        self, now: datetime, keys: Collection[str] | None, *, most: int
    ) -> tuple[WishRecord, ...]:
        """Return wishes whose searches are not known, or were looked up long ago."""
        return self._use("read", offers.wishes_to_look_up, now, keys, most)

    def save_searches(
        self,
        now: datetime,
        looked_up: Sequence[tuple[WishRecord, Sequence[SearchRecord]]],
        ports: Mapping[str, str],
    ) -> None:
        """Save the searches of wishes, unless a wish was replaced or removed since."""
        self._use("write", offers.save_searches, now, looked_up, ports)

    def claim(self, request: ClaimRequest) -> SearchClaim:
        """Reserve calls for the searches that are due, and return these."""
        return self._use("write", offers.claim, request)

    def overdue(self, request: ClaimRequest) -> tuple[SearchRecord, ...]:
        """Return the searches that are due, without a claim."""
        return self._use("read", offers.overdue, request)

    def record(
        self,
        search_id: str,
        judge: offers.Judge,
        *,
        now: datetime,
        keys: Collection[str] | None,
    ) -> tuple[OfferEventRecord, ...]:
        """Judge and save an answer in one transaction, and return the events of these wishes."""
        return self._use("write", offers.record, search_id, judge, now=now, keys=keys)

    def end_search(self, search_id: str) -> None:
        """Note that a search failed in a way in which it would fail again soon."""
        self._use("write", offers.end_search, search_id)

    def end_wishes(self, first_day: date, make_event: Callable[[str], OfferEventRecord]) -> None:
        """End the wishes whose last day has passed, each with one event."""
        self._use("write", offers.end_wishes, first_day, make_event)

    def take_events(
        self, now: datetime, keys: Collection[str] | None, *, abandoned: bool
    ) -> tuple[OfferEventRecord, ...]:
        """Return the events that were not given; of other programs only those they abandoned."""
        return self._use("write", offers.take_events, now, keys, abandoned=abandoned)

    def delete_event(self, event_id: str) -> None:
        """Delete an event that was given."""
        self._use("write", offers.delete_event, event_id)

    def load_ports(self) -> dict[str, str]:
        """Return the names of the ports of all searches, by their codes."""
        return self._use("read", offers.load_ports)

    def load_answers(
        self, ends: tuple[str, str], since: datetime | None, until: datetime | None
    ) -> tuple[AnswerRecord, ...]:
        """Return the answers of searches between two ports, oldest first."""
        return self._use("read", offers.load_answers, ends, since, until)
