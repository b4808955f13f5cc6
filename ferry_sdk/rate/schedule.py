"""The schedule of turns: GCRA of pyrate-limiter for one process, a script in Redis for several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable

LATENESS: Final = 0.025
"""Seconds after which a turn lapses. What was missed for longer is not made up for."""
UNITS: Final = 1_000_000
"""A schedule counts in microseconds: milliseconds round a fast rate."""


class Limit(NamedTuple):
    """A number of requests in an interval.

    Attributes:
        text: The rate as the user gave it.
        number: How many requests leave.
        interval: In how many microseconds.
        burst: How many may leave at once.
    """

    text: str
    number: int
    interval: int
    burst: int


class Turn(NamedTuple):
    """The turn of a request.

    Attributes:
        moment: When it is; if it is not reserved, when to ask for it again.
        is_reserved: Whether it is reserved.
    """

    moment: float
    is_reserved: bool


class Schedule(Protocol):
    """Gives turns."""

    def reserve(self, clock: Callable[[], float], *, is_urgent: bool) -> Turn:
        """Reserve the next turn.

        Args:
            clock: The monotonic clock.
            is_urgent: Reserve it however far ahead it is. Else a turn of a shared schedule is
                reserved late, so that an urgent request of another process can have it.

        Raises:
            ConnectionFailedError: The storage does not answer.
        """
        ...


class MemorySchedule:
    """The schedule of one process."""

    def __init__(self, limit: Limit) -> None:
        from pyrate_limiter import GCRA, Rate, RateItem, StateBucket  # noqa: PLC0415 -- an extra installs it

        rate = Rate(limit.number, limit.interval, burst=limit.burst)
        self._bucket = StateBucket([rate], GCRA())
        self._new_item = RateItem

    def reserve(self, clock: Callable[[], float], *, is_urgent: bool) -> Turn:
        """Reserve the next turn."""
        del is_urgent  # nobody else reserves turns of this schedule
        moment = clock() - LATENESS
        while not self._bucket.put(item := self._new_item("ferry_sdk", int(moment * UNITS))):
            moment += cast("int", self._bucket.waiting(item)) / UNITS
        return Turn(moment, is_reserved=True)
