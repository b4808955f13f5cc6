"""The queue of a process: requests that wait for their turn.

pyrate-limiter's own waiters all poll the schedule, so they miss turns, and after a stall they leave
together. In a queue only the first request asks the schedule. It reserves a turn, waits for it and
takes it when it is awake. A turn that nobody took in time lapses: a process that was stalled does
not send afterwards what it could not send before. A reserved turn belongs to the queue, so nothing
is lost if the first request is cancelled, or if another comes before it.
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

_LOOK: Final = 1.0
"""Seconds after which a request looks whether the first one still does its part."""
_LOOK_LATER: Final = 0.01
"""Seconds that it looks later for each request that waits, so that a long queue costs no more."""


@dataclass(slots=True, eq=False)
class Waiter:
    """A request in the queue.

    Attributes:
        awake_by: When it has to look again; if it does not, its event loop is stalled or ended.
        goes_first: Whether it comes before those that do not.
        signal: Ends its sleep.
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
        self._turn: float | None = None
        self._lapses = 0.0
        self._ask_at = 0.0
        self._is_asking = False
        self._failure = ""
        self._failed_until = 0.0

    def join(self, now: float, *, goes_first: bool) -> Waiter:
        """Add a request at the end, or behind those that go first."""
        waiter = Waiter(now, goes_first)
        with self._lock:
            (self._first if goes_first else self._others)[waiter] = None
        return waiter

    def leave(self, waiter: Waiter, now: float) -> None:
        """Remove a request; the next one takes over."""
        with self._lock:
            was_head = self._head() is waiter
            (self._first if waiter.goes_first else self._others).pop(waiter, None)
            if was_head:
                self._wake_head(now)

    def take(self, waiter: Waiter, now: float) -> float | None:
        """Take the turn, if it is due and this request is the first.

        Returns:
            None if the request has its turn. Else the seconds after which, or after whose signal,
            it has to look again; 0 if it has to reserve a turn.

        Raises:
            ConnectionFailedError: The storage did not answer a moment ago.
        """
        with self._lock:
            waiter.signal, waiter.is_stalled = Signal(), False
            if now < self._failed_until:
                raise ConnectionFailedError(self._failure)
            if self._is_asking or not self._is_head(waiter, now):
                seconds = _LOOK + (len(self._first) + len(self._others)) * _LOOK_LATER
            elif self._turn is None or now > self._lapses:
                self._turn = None
                seconds = 0.0 if waiter.goes_first else max(0.0, self._ask_at - now)
            elif now >= self._turn:
                self._turn = None
                return None
            else:
                seconds = self._turn - now
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
            turn, is_reserved = self.schedule.reserve(clock, is_urgent=waiter.goes_first)
            with self._lock:
                if is_reserved:
                    self._turn, self._lapses = turn, max(turn, clock()) + LATENESS
                else:
                    self._ask_at = turn
        except ConnectionFailedError as error:
            # Those that wait as well need not try it one after another.
            self._failure, self._failed_until = str(error), clock() + _LOOK
            raise
        finally:
            with self._lock:
                self._is_asking = False
                self._wake_head(clock())

    def _is_head(self, waiter: Waiter, now: float) -> bool:
        """Return whether a request is to act; a first one that is overdue is passed."""
        head = self._head()
        if head is not None and head is not waiter and now > head.awake_by + _LOOK:
            head.is_stalled = True
            head = self._head()
        return head is waiter

    def _head(self) -> Waiter | None:
        """Return the request that is to act: the first that is not stalled."""
        waiting = chain(self._first, self._others)
        return next((waiter for waiter in waiting if not waiter.is_stalled), None)

    def _wake_head(self, now: float) -> None:
        head = self._head()
        if head is not None:
            head.awake_by = now
            head.signal.set()
