"""Watch bookings: which is read when, and which events a read gives.

Each booking waits in a heap until its next read, and then in a second heap until it is its turn:
there, the booking that may wait least comes first, so that a limiter that lets little through
delays the bookings that are far from any deadline. Both heaps hold a few hundred bytes a booking.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final, cast, overload

from ferry_sdk._engine.http import RawResponse, parse_date
from ferry_sdk._engine.validation import seconds as check_seconds
from ferry_sdk.aftersales.events import (
    FINAL,
    LAPSING,
    STAGE_EVENTS,
    BookingEvent,
    BookingSnapshot,
    EventKind,
    parse_snapshot,
)
from ferry_sdk.aftersales.steps import (
    CONCURRENCY,
    Blocking,
    Reads,
    Sleep,
    Steps,
    perform,
    perform_async,
)
from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    ConfigurationError,
    FerryError,
    InvalidInputError,
)
from ferry_sdk.models.bookings import Booking, BookingCreated
from ferry_sdk.models.enums import Stage
from ferry_sdk.resources.arguments import identifier
from ferry_sdk.safety import failure_kind

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

_GAPS: Final = (15.0, 900.0)
_GAPS_IN_PROGRESS: Final = (2.0, 60.0)
"""Seconds between two reads of a booking: the first, and the longest; each gap doubles."""
_SHORTEST_GAP: Final = 1.0
_NEAR: Final = 8
"""The gap is at most this part of the time to or since a deadline, but not below 5 s."""
_SHORTEST_NEAR: Final = 5.0
_READ_TIMEOUT: Final = 30.0
"""Seconds for one read, waits for the limiter included; it is then tried again later."""
_REFUSALS: Final = 3
"""Refusals in a row after which a booking counts as not known: a service may need a moment."""
_LONGEST_PAUSE: Final = 60.0

BookingOrId = str | Booking | BookingCreated


@overload
def watch(
    ferry: Ferry,
    bookings: Iterable[BookingOrId],
    *,
    deadline: float,
    journal: Journal | None = None,
) -> Generator[BookingEvent, None, None]: ...
@overload
def watch(
    ferry: AsyncFerry,
    bookings: Iterable[BookingOrId],
    *,
    deadline: float,
    journal: Journal | None = None,
) -> AsyncGenerator[BookingEvent, None]: ...
def watch(
    ferry: Ferry | AsyncFerry,
    bookings: Iterable[BookingOrId],
    *,
    deadline: float,
    journal: Journal | None = None,
) -> Generator[BookingEvent, None, None] | AsyncGenerator[BookingEvent, None]:
    """Poll bookings and give an event for each change, until all have come to rest.

    A booking has come to rest when it is ticketed, voided, lapsed or rejected. It is read when a
    deadline of its own passes, more often before that, and else with growing gaps of up to 15
    minutes. Reads that fail are tried again later and do not end the watch. A booking that the
    service refuses to show three times in a row gives the event ``not_known``.

    Each event is given at least once. An event counts as given when the next one is asked for;
    with a journal that is recorded, so that the next watch continues where this one stopped. A
    stage that no watch has given before is an event too, even if the booking was in it from the
    start. Interface: GET /api/booking/{id}.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is an async iterator.
        bookings: Ids, or bookings, with which the first read is compared.
        deadline: Maximum time in seconds.
        journal: Records which events were given.

    Returns:
        An iterator of events.

    Raises:
        InvalidInputError: An argument is invalid.
        AuthenticationError: The service rejects the token; raised by the iterator.
        JournalError: The journal cannot be used; raised by the iterator.
    """
    watcher = Watcher(
        bookings,
        deadline=check_seconds(deadline, "deadline"),
        journal=journal,
    )
    if isinstance(ferry, AsyncFerry):
        return perform_async(ferry, watcher.steps())
    return perform(ferry, watcher.steps())


@dataclass(slots=True)
class _Entry:
    """A watched booking.

    Attributes:
        before: What is known of it; None if it was not read.
        stage: The last stage that was given as an event or recorded.
        reminded: The deadline of the last reminder.
        limits: Its deadlines in seconds since the epoch, by the service's clock.
        gap: Seconds until the next read, unless a deadline comes earlier.
        refusals: How often in a row the service refused to show it.
        is_recorded: Whether the journal knows all of this.
    """

    booking_id: str
    before: BookingSnapshot | None = None
    stage: Stage | None = None
    reminded: datetime | None = None
    limits: tuple[float, ...] = ()
    gap: float = _GAPS[0]
    refusals: int = 0
    is_recorded: bool = False


class Watcher:
    """The decisions of a watch.

    Args:
        bookings: Ids, or bookings.
        deadline: Maximum time in seconds.
        journal: Records which events were given.
        clock: A monotonic clock, in seconds.
        wall_time: The seconds since the epoch, until the service has told its own.
        jitter: Returns the factor of a gap.
    """

    def __init__(
        self,
        bookings: Iterable[BookingOrId],
        *,
        deadline: float,
        journal: Journal | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_time: Callable[[], float] = time.time,
        jitter: Callable[[], float] = lambda: random.uniform(0.75, 1.25),  # noqa: S311 -- no secret
    ) -> None:
        self._clock = clock
        self._jitter = jitter
        self._journal = journal
        self._deadline = clock() + deadline
        self._ahead = wall_time() - clock()  # what the service's time is ahead of the clock
        self._entries = {one.booking_id: one for one in _entries_of(bookings)}
        self._waiting: list[tuple[float, int, float, _Entry]] = []
        self._ready: list[tuple[float, int, _Entry]] = []
        self._count = 0
        self._failures = 0
        self._paused_until = 0.0

    def steps(self) -> Steps[BookingEvent]:
        """Yield what to do next, and the events."""
        yield from self._load()
        while (now := self._clock()) < self._deadline:
            while self._waiting and self._waiting[0][0] <= now:
                _, count, latest, entry = heappop(self._waiting)
                heappush(self._ready, (latest, count, entry))
            if self._ready and now >= self._paused_until:
                yield from self._read(min(self._deadline - now, _READ_TIMEOUT))
            elif self._ready or self._waiting:
                wake = self._paused_until if self._ready else self._waiting[0][0]
                yield Sleep(max(min(wake, self._deadline) - now, 0.0))
            else:
                return

    def _load(self) -> Steps[BookingEvent]:
        """Schedule the first read of each booking, with what the journal knows of it."""
        if self._journal is not None:
            load = self._journal.load_snapshots
            known: dict[str, str] = yield Blocking(partial(load, [*self._entries]))
            for booking_id, text in known.items():
                if snapshot := parse_snapshot(text):
                    entry = self._entries[booking_id]
                    entry.before, entry.reminded = snapshot
                    entry.stage, entry.is_recorded = entry.before.stage, True
        for entry in self._entries.values():
            self._push(entry, 0.0)
        self._entries.clear()

    def _read(self, seconds: float) -> Steps[BookingEvent]:
        """Read the most urgent bookings."""
        count = min(len(self._ready), CONCURRENCY)
        entries = [heappop(self._ready)[-1] for _ in range(count)]
        answers = yield Reads(tuple(partial(_get, entry.booking_id, seconds) for entry in entries))
        for entry, answer in zip(entries, answers, strict=True):
            if isinstance(answer, FerryError):
                yield from self._handle_failure(entry, answer)
            else:
                yield from self._compare(entry, answer)

    def _compare(self, entry: _Entry, response: RawResponse[Booking]) -> Steps[BookingEvent]:
        """Give the events of a booking, record them, and schedule the next read."""
        date = parse_date(response.headers.get("date", ""))
        if date is not None:
            self._ahead = date - self._clock()
        self._failures = entry.refusals = 0
        at = self._now()
        booking, before, reminded = response.parse(), entry.before, entry.reminded
        after = BookingSnapshot.of(booking)
        if before is not None and len(after.departures) < len(before.departures):
            after = replace(after, departures=before.departures)  # a reply that left some out
        for kind in self._kinds(entry, after, at):
            yield BookingEvent(entry.booking_id, kind, after.stage, at, booking, before)
        if self._journal is not None and not (
            entry.is_recorded and (after, entry.reminded) == (before, reminded)
        ):
            text = after.to_text(entry.reminded)
            yield Blocking(partial(self._journal.save_snapshot, entry.booking_id, text))
            entry.is_recorded = True
        if before is None or before.stage != after.stage:
            entry.gap = _gaps_in(after.stage)[0]
        entry.before, entry.stage = after, after.stage
        if after.stage in FINAL:
            return
        entry.limits = _limits_of(booking, after)
        self._schedule(entry)

    def _kinds(self, entry: _Entry, after: BookingSnapshot, at: datetime) -> Iterator[EventKind]:
        before = entry.before
        if before is not None and before.differs(after):
            yield "changed"
        if after.stage != entry.stage and after.stage in STAGE_EVENTS:
            yield STAGE_EVENTS[after.stage]
        limit = after.lapses_at
        if limit is not None and limit - LAPSING <= at < limit and entry.reminded != limit:
            entry.reminded = limit
            yield "lapsing"

    def _handle_failure(self, entry: _Entry, error: FerryError) -> Steps[BookingEvent]:
        """Try again later, or give up the booking.

        A read that may succeed later pauses all reads for a moment, longer after each failure in
        a row, because the service or the network may be down.
        """
        if isinstance(error, AuthenticationError | ConfigurationError | InvalidInputError):
            raise error
        if failure_kind(error) is None:
            entry.refusals += 1
            if entry.refusals >= _REFUSALS:
                at, before = self._now(), entry.before
                yield BookingEvent(entry.booking_id, "not_known", None, at, None, before, error)
                return
        else:
            self._failures += 1
            pause = self._jitter() * min(0.5 * 2**self._failures, _LONGEST_PAUSE)
            asked = error.retry_after or 0.0 if isinstance(error, APIError) else 0.0
            self._paused_until = self._clock() + max(pause, asked)
        self._schedule(entry)

    def _schedule(self, entry: _Entry) -> None:
        """Schedule the next read: after the gap, or at a deadline that comes earlier."""
        now = self._now().timestamp()
        left = [limit - now for limit in entry.limits]
        near = min(map(abs, left), default=math.inf)
        gap = min(entry.gap * self._jitter(), max(near / _NEAR, _SHORTEST_NEAR))
        entry.gap = min(entry.gap * 2, _gaps_in(entry.stage)[1])
        limit = min((one for one in left if one > 0), default=math.inf)
        self._push(entry, max(min(gap, limit), _SHORTEST_GAP), 0.0 if limit <= gap else None)

    def _push(self, entry: _Entry, delay: float, slack: float | None = None) -> None:
        """Schedule a read after a delay; it may then wait for as long as the slack."""
        if slack is None:
            slack = self._slack(entry)
        when = self._clock() + delay
        self._count += 1
        heappush(self._waiting, (when, self._count, when + slack, entry))

    def _slack(self, entry: _Entry) -> float:
        """Return how long a read may wait: less, the nearer the deadline."""
        longest = _gaps_in(entry.stage)[1]
        before = entry.before
        if before is None or before.lapses_at is None:
            return longest * (2 if before is not None and before.stage in FINAL else 1)
        left = max((before.lapses_at - self._now()).total_seconds(), 0.0) / _NEAR
        return longest * left / (longest + left)

    def _now(self) -> datetime:
        """Return the service's time."""
        return datetime.fromtimestamp(self._clock() + self._ahead, tz=timezone.utc)


def _get(booking_id: str, seconds: float, ferry: Ferry | AsyncFerry) -> Any:  # noqa: ANN401 -- awaited for an AsyncFerry only
    # The watch itself tries again, so that one booking does not keep the others waiting.
    view = ferry.with_options(max_retries=0, deadline=seconds)
    return view.with_raw_response.bookings.get(booking_id)


def _entries_of(bookings: Iterable[BookingOrId]) -> Iterator[_Entry]:
    if isinstance(bookings, str | bytes) or not isinstance(bookings, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("expected a list of bookings or ids", field="bookings")
    for index, one in enumerate(bookings):
        if isinstance(one, Booking | BookingCreated):
            yield _Entry(one.booking_id, BookingSnapshot.of(one))
        else:
            yield _Entry(identifier(cast("object", one), f"bookings[{index}]"))


def _gaps_in(stage: Stage | None) -> tuple[float, float]:
    return _GAPS_IN_PROGRESS if stage == Stage.IN_PROGRESS else _GAPS


def _limits_of(booking: Booking, snapshot: BookingSnapshot) -> tuple[float, ...]:
    """Return when the booking may change, or is to be reminded of, in seconds since the epoch."""
    limits = [action.time_limit for action in booking.possible_actions.values()]
    if snapshot.lapses_at is not None:
        limits += [booking.expire_at, snapshot.lapses_at - LAPSING]
    return tuple({one.timestamp() for one in limits if isinstance(one, datetime)})
