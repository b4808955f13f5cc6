"""When each watched booking is read.

Each booking waits in a heap until its next read, and then in a second heap until it is its turn:
there, the booking that may wait least comes first, so that a limiter that lets little through
delays the bookings that are far from any deadline. Both heaps hold a few hundred bytes a booking.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from heapq import heappop, heappush
from itertools import count
from typing import Final

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.aftersales.events import FINAL, BookingSnapshot
from ferry_sdk.models.enums import Stage

_GAPS: Final = (15.0, 900.0)
_GAPS_IN_PROGRESS: Final = (2.0, 60.0)
"""Seconds between two reads of a booking: the first, and the longest; each gap doubles."""
_SHORTEST_GAP: Final = 1.0
_NEAR: Final = 8
"""The gap is at most this part of the time to or since a deadline, but not below 5 s."""
_SHORTEST_NEAR: Final = 5.0
_LAST: Final = datetime(9999, 12, 31, tzinfo=timezone.utc).timestamp()


@dataclass(slots=True, eq=False)
class Entry:
    """A watched booking.

    Attributes:
        before: What is known of it; None if it was not read.
        given: The stage at the last read. If that stage has an event, it was given.
        reminded: The deadline of the last reminder.
        limits: Its deadlines in seconds since the epoch, by the service's clock.
        gap: Seconds until the next read, unless a deadline comes earlier.
        failures: How often in a row a read of it failed that may succeed later.
        refusals: How often in a row the service refused to show it.
        unreadable: How often in a row a field of it could not be read.
        is_recorded: Whether the journal knows all of this.
    """

    booking_id: str
    before: BookingSnapshot | None = None
    given: Stage | None = None
    reminded: datetime | None = None
    limits: tuple[float, ...] = ()
    gap: float = _GAPS[0]
    failures: int = 0
    refusals: int = 0
    unreadable: int = 0
    is_recorded: bool = False

    @property
    def gaps(self) -> tuple[float, float]:
        """The shortest and the longest gap, in seconds, when no deadline is near."""
        in_progress = self.before is not None and self.before.stage == Stage.IN_PROGRESS
        return _GAPS_IN_PROGRESS if in_progress else _GAPS


class Schedule:
    """The two heaps, and the service's clock.

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
        self.clock: Callable[[], float] = clock
        self.jitter: Callable[[], float] = jitter
        self._ahead = wall_time() - clock()  # what the service's time is ahead of the clock
        self._waiting: list[tuple[float, int, float, Entry]] = []
        self._ready: list[tuple[float, int, Entry]] = []
        self._numbers = count()

    def set_time(self, service_time: float) -> None:
        """Set the service's clock, in seconds since the epoch."""
        self._ahead = service_time - self.clock()

    def now(self) -> datetime:
        """Return the service's time, within the calendar even if the service's clock is not."""
        return datetime.fromtimestamp(min(self.clock() + self._ahead, _LAST), tz=timezone.utc)

    def next_read(self) -> float | None:
        """Return when the next read may begin, by the clock; None if there is none."""
        now = self.clock()
        while self._waiting and self._waiting[0][0] <= now:
            _, number, latest, entry = heappop(self._waiting)
            heappush(self._ready, (latest, number, entry))
        if self._ready:
            return now
        return self._waiting[0][0] if self._waiting else None

    def pop(self, most: int) -> list[Entry]:
        """Return the most urgent bookings, at most so many."""
        return [heappop(self._ready)[-1] for _ in range(min(len(self._ready), most))]

    def add_next(self, entry: Entry, at_most: float = math.inf) -> None:
        """Schedule the next read: after the gap, or at a deadline that comes earlier.

        Args:
            entry: The booking.
            at_most: The longest gap in seconds, after a read that failed.
        """
        now = self.now().timestamp()
        left = [limit - now for limit in entry.limits]
        near = min(map(abs, left), default=math.inf)
        gap = min(entry.gap * self.jitter(), max(near / _NEAR, _SHORTEST_NEAR), at_most)
        if at_most == math.inf:
            entry.gap = min(entry.gap * 2, entry.gaps[1])
        limit = min((seconds for seconds in left if seconds > 0), default=math.inf)
        self.add(entry, max(min(gap, limit), _SHORTEST_GAP), 0.0 if limit <= gap else None)

    def add(self, entry: Entry, delay: float = 0.0, slack: float | None = None) -> None:
        """Schedule a read after a delay; it may then wait for as long as the slack."""
        when = self.clock() + delay
        latest = when + (self._slack(entry) if slack is None else slack)
        heappush(self._waiting, (when, next(self._numbers), latest, entry))

    def _slack(self, entry: Entry) -> float:
        """Return how long a read may wait: less, the nearer the deadline."""
        longest, before = entry.gaps[1], entry.before
        if before is None or before.lapses_at is None:
            return longest * (2 if before is not None and before.stage in FINAL else 1)
        left = max((before.lapses_at - self.now()).total_seconds(), 0.0) / _NEAR
        return longest * left / (longest + left)
