"""The queue of a process: requests that wait for their turn.

Only the request at the head asks the schedule. With a rate of 50 a second and three requests A, B
and C that join in this order:

1. Each request calls `join`, and then `take`, which says how long it has to sleep until it looks
   again. For A, the head, that is 0: it must call `reserve`.
2. A reserves the next turn. It belongs to the queue, not to A.
3. A looks again, sleeps until the turn is due, takes it and leaves. `leave` wakes B, the new head.
4. B reserves the next turn, 20 ms later, and so on.

- A read-back that joins now becomes the head, and takes the turn that B has reserved.
- If B is cancelled, C takes the turn that B has reserved: no turn is lost.
- If the event loop of B is stalled, C sees after a second that B did not look again when it had to,
  and passes B.
- A turn that nobody took within `LATENESS` lapses: a process that was stalled does not send
  afterwards what it could not send before.

pyrate-limiter's own waiters are not used: all of them poll the schedule, so they miss turns, and
after a stall they leave together.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from threading import RLock
from typing import Final

from ferry_sdk._engine.effects import Signal
from ferry_sdk.errors import ConnectionFailedError
from ferry_sdk.rate.schedule import LATENESS, Schedule

_CHECK_AFTER: Final = 1.0
"""Seconds after which a request checks whether the head still looks."""
_CHECK_LATER: Final = 0.01
"""Seconds that it checks later for each request that waits, so that a long queue costs no more."""


@dataclass(slots=True, eq=False)
class Waiter:
    """A request in the queue.

    Attributes:
        awake_by: When it has to look again; if it does not, its event loop is stalled or ended.
        goes_first: Whether it comes before those that do not.
        signal: Ends its sleep; a new one for each sleep.
        is_stalled: Whether others pass it, until it looks again.
    """

    awake_by: float
    goes_first: bool
    signal: Signal = field(default_factory=Signal)
    is_stalled: bool = False


class WaitingQueue:
    """The requests of a process that wait, and the turn that they have reserved.

    Args:
        schedule: Gives turns, to this queue and possibly to those of other processes.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule: Schedule = schedule
        self._lock = RLock()  # a waiter may leave when it is garbage-collected within the lock
        self._first: OrderedDict[Waiter, None] = OrderedDict()
        self._others: OrderedDict[Waiter, None] = OrderedDict()

        # The reserved turn, if there is one, and when it lapses; else when to ask for one.
        self._turn: float | None = None
        self._lapses_at = 0.0
        self._ask_at = 0.0
        self._is_asking = False

        # The last failure of the storage, and until when it is everybody's.
        self._failure = ""
        self._failed_until = 0.0

    def join(self, now: float, *, goes_first: bool) -> Waiter:
        """Add a request at the end, or behind those that go first."""
        waiter = Waiter(now, goes_first)
        with self._lock:
            self._line_of(waiter)[waiter] = None
        return waiter

    def leave(self, waiter: Waiter, now: float) -> None:
        """Remove a request; the next one takes over."""
        with self._lock:
            was_head = self._head() is waiter
            self._line_of(waiter).pop(waiter, None)
            if was_head:
                self._wake_head(now)

    def take(self, waiter: Waiter, now: float) -> float | None:
        """Take the turn, if it is due and this request is the head.

        Returns:
            None if the request has its turn. Else the seconds after which, or after whose signal,
            it has to look again; 0 if it has to reserve a turn.

        Raises:
            ConnectionFailedError: The storage did not answer a moment ago.
        """
        with self._lock:
            waiter.signal = Signal()
            waiter.is_stalled = False
            if now < self._failed_until:
                raise ConnectionFailedError(self._failure)

            if self._is_asking or not self._is_head(waiter, now):
                waiting = len(self._first) + len(self._others)
                seconds = _CHECK_AFTER + waiting * _CHECK_LATER
            elif self._turn is None or now > self._lapses_at:
                self._turn = None
                seconds = 0.0 if waiter.goes_first else max(0.0, self._ask_at - now)
            elif now < self._turn:
                seconds = self._turn - now
            else:
                self._turn = None
                return None

            waiter.awake_by = now + seconds
            return seconds

    def reserve(self, waiter: Waiter, clock: Callable[[], float]) -> None:
        """Reserve a turn for the queue, unless another request does or did.

        Raises:
            ConnectionFailedError: The storage does not answer.
        """
        with self._lock:
            if self._is_asking or self._turn is not None:
                return
            self._is_asking = True

        try:
            turn = self.schedule.reserve(clock, is_urgent=waiter.goes_first)
            with self._lock:
                if turn.is_reserved:
                    lapses_at = max(turn.moment, clock()) + LATENESS
                    self._turn = turn.moment
                    self._lapses_at = lapses_at
                else:
                    self._ask_at = turn.moment
        except ConnectionFailedError as error:
            # Those that wait as well need not try it one after another.
            self._failure = str(error)
            self._failed_until = clock() + _CHECK_AFTER
            raise
        finally:
            with self._lock:
                self._is_asking = False
                self._wake_head(clock())

    def _line_of(self, waiter: Waiter) -> OrderedDict[Waiter, None]:
        return self._first if waiter.goes_first else self._others

    def _is_head(self, waiter: Waiter, now: float) -> bool:
        """Return whether a request is the head; pass a head that did not look when it had to."""
        head = self._head()
        if head is not None and head is not waiter and now > head.awake_by + _CHECK_AFTER:
            head.is_stalled = True
            head = self._head()
        return head is waiter

    def _head(self) -> Waiter | None:
        """Return the request that is to act: the first that is not stalled."""
        for waiter in chain(self._first, self._others):
            if not waiter.is_stalled:
                return waiter
        return None

    def _wake_head(self, now: float) -> None:
        head = self._head()
        if head is not None:
            head.awake_by = now
            head.signal.set()
