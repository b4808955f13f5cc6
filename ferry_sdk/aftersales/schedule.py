"""When each watched booking is read.

Each booking is in one of three heaps:

1. It waits for the moment of its next read. That is after a gap, which doubles from 15 seconds to
   15 minutes, or at a deadline of the booking that comes earlier. A deadline that is near makes the
   gap shorter.
2. Or it rests until a moment that `departures.next_read` names, often a day later. That is a moment
   of the service's clock, and not a delay: when a reply says that this clock is ahead, the bookings
   that are late are read at once.
3. Then it is ready, and waits until it is its turn. The booking that may wait least comes first: if
   a limiter lets few reads through, those are delayed that are far from any deadline or departure.

For example, one booking lapses in an hour and another one in a day. If both are ready at the same
moment, the first one is read first. The heaps hold a few hundred bytes a booking.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from ferry_sdk._engine.service_clock import ServiceClock
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.aftersales.departures import Sailing
from ferry_sdk.aftersales.events import FINAL, BookingSnapshot
from ferry_sdk.models.enums import Stage

_GAPS: Final = (15.0, 900.0)
_GAPS_IN_PROGRESS: Final = (2.0, 60.0)
"""Seconds between two reads of a booking: the first, and the longest; each gap doubles."""
_SHORTEST_GAP: Final = 1.0
_NEAR: Final = 8
"""The gap is at most this part of the time to or since a deadline, but not below 5 s."""
_SHORTEST_NEAR: Final = 5.0


@dataclass(slots=True, eq=False)
class Entry:
    """A watched booking.

    Attributes:
        booking_id: The booking.
        before: Its state at the last read; None if it was not read.
        reported_stage: The stage at the last read. If that stage has an event, it was given.
        reminded: The deadline of the last event ``lapsing``.
        limits: Its deadlines in seconds since the epoch, by the service's clock.
        gap: Seconds until the next read, unless a deadline comes earlier.
        failures: How often in a row a read of it failed that may succeed later.
        refusals: How often in a row the service refused to show it.
        unreadable: How often in a row a field of it could not be read.
        is_recorded: Whether the journal has a snapshot of it.
        is_not_known: Whether ``not_known`` was given, and the booking was not read since.
        writes: How many writes of it the journal had when the watch began.
        sailings: Its sailings, and what was given of them; empty unless it is watched until
            departure.
    """

    booking_id: str
    before: BookingSnapshot | None = None
    reported_stage: Stage | None = None
    reminded: datetime | None = None
    limits: tuple[float, ...] = ()
    gap: float = _GAPS[0]
    failures: int = 0
    refusals: int = 0
    unreadable: int = 0
    is_recorded: bool = False
    is_not_known: bool = False
    writes: int = 0
    sailings: list[Sailing] = field(default_factory=list[Sailing])

    @property
    def gaps(self) -> tuple[float, float]:
        """The shortest and the longest gap, in seconds, when no deadline is near."""
        in_progress = self.before is not None and self.before.stage == Stage.IN_PROGRESS
        return _GAPS_IN_PROGRESS if in_progress else _GAPS


class _Waiting(NamedTuple):
    """A booking that waits for the moment of its read. The tuple sorts by that moment.

    Attributes:
        when: The moment, on the clock.
        number: Orders bookings of the same moment.
        latest: When the read should begin at the latest.
        entry: The booking.
    """

    when: float
    number: int
    latest: float
    entry: Entry


class _Resting(NamedTuple):
    """A booking that rests until a moment, in seconds since the epoch by the service's clock."""

    until: float
    number: int
    entry: Entry


class _Ready(NamedTuple):
    """A booking that is to be read. The tuple sorts by how long the read may wait."""

    latest: float
    number: int
    entry: Entry


class Schedule(ServiceClock):
    """The heaps, and the service's clock.

    Args:
        clock: A monotonic clock, in seconds.
        wall_time: The seconds since the epoch, until the service has told its own.
        jitter: Returns the factor of a gap.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        wall_time: Callable[[], float] = time.time,
        jitter: Callable[[], float] = lambda: random.uniform(0.75, 1.25),  # noqa: S311 -- no secret
    ) -> None:
        super().__init__(clock, wall_time)
        self.jitter: Callable[[], float] = jitter
        self._waiting: list[_Waiting] = []
        self._resting: list[_Resting] = []
        self._ready: list[_Ready] = []
        self._numbers = count()

    def next_read(self) -> float | None:
        """Return when the next read may begin, by the clock; None if there is none."""
        now = self.clock()
        while self._waiting and self._waiting[0].when <= now:
            waiting = heappop(self._waiting)
            heappush(self._ready, _Ready(waiting.latest, waiting.number, waiting.entry))

        while self._resting and self._resting[0].until - self._ahead <= now:
            _, number, entry = heappop(self._resting)
            heappush(self._ready, _Ready(now + self._slack(entry), number, entry))

        if self._ready:
            return now
        moments = [waiting.when for waiting in self._waiting[:1]]
        moments += [resting.until - self._ahead for resting in self._resting[:1]]
        return min(moments, default=None)

    @property
    def has_resting(self) -> bool:
        """Whether a booking rests until a moment of the service's clock."""
        return bool(self._resting)

    def pop(self, most: int) -> list[Entry]:
        """Take the most urgent bookings from those that are ready, at most so many."""
        count_taken = min(len(self._ready), most)
        return [heappop(self._ready).entry for _ in range(count_taken)]

    def add_next(self, entry: Entry, at_most: float = math.inf) -> None:
        """Schedule the next read: after the gap, or at a deadline that comes earlier.

        Args:
            entry: The booking.
            at_most: The longest gap in seconds, after a read that failed.
        """
        now = self.now().timestamp()
        seconds_to_limits = [limit - now for limit in entry.limits]  # below 0: the limit is past
        nearest = min((abs(seconds) for seconds in seconds_to_limits), default=math.inf)
        next_limit = min(
            (seconds for seconds in seconds_to_limits if seconds > 0), default=math.inf
        )

        longest_near_limit = max(nearest / _NEAR, _SHORTEST_NEAR)
        gap = min(entry.gap * self.jitter(), longest_near_limit, at_most)
        has_succeeded = at_most == math.inf
        if has_succeeded:
            entry.gap = min(entry.gap * 2, entry.gaps[1])

        if next_limit <= gap:
            self.add(entry, max(next_limit, _SHORTEST_GAP), slack=0.0)
        else:
            self.add(entry, max(gap, _SHORTEST_GAP))

    def add(self, entry: Entry, delay: float = 0.0, slack: float | None = None) -> None:
        """Schedule a read after a delay; it may then wait for as long as the slack."""
        if slack is None:
            slack = self._slack(entry)
        when = self.clock() + delay
        heappush(
            self._waiting, _Waiting(when, next(self._numbers), latest=when + slack, entry=entry)
        )

    def rest(self, entry: Entry, until: float) -> None:
        """Schedule a read at a moment, in seconds since the epoch by the service's clock."""
        heappush(self._resting, _Resting(until, next(self._numbers), entry))

    def _slack(self, entry: Entry) -> float:
        """Return how long a read may wait: less, the nearer the deadline or the departure."""
        longest = entry.gaps[1]
        before = entry.before
        now = self.now()
        moments = [each.departs_at for each in entry.sailings if each.departs_at is not None]
        moments = [moment for moment in moments if moment > now]  # the ships that have not left
        if before is not None and before.lapses_at is not None:
            moments.append(before.lapses_at)

        if moments:
            left = max((min(moments) - now).total_seconds(), 0.0) / _NEAR
            return longest * left / (longest + left)  # less than `left`, and less than `longest`
        if before is not None and before.stage in FINAL:
            return longest * 2
        return longest
