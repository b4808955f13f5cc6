"""How many connections are in use at the same time.

A slot is taken by holding it, and free again when nobody holds it any more. It is given back by
name where a call ends, and by the garbage collector where a call was interrupted between two
instructions: no interruption can lose one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from threading import Event, RLock
from typing import Generic, TypeVar
from weakref import WeakSet

import anyio
import httpcore

ConnectionT = TypeVar("ConnectionT", httpcore.HTTPConnection, httpcore.AsyncHTTPConnection)

_LOOK = 1.0
"""Seconds after which a waiter looks again: a slot that is collected wakes nobody."""


class Slot(Generic[ConnectionT]):
    """One connection's place among those in use.

    Attributes:
        connection: The connection; the one of a slot that was lost is closed by the next call.
    """

    __slots__ = ("__weakref__", "_lost", "connection")

    def __init__(self, lost: deque[ConnectionT]) -> None:
        self._lost: deque[ConnectionT] = lost
        self.connection: ConnectionT | None = None

    def __del__(self) -> None:
        connection = getattr(self, "connection", None)  # missing where the making was interrupted
        if connection is not None:
            self._lost.append(connection)


class _Waiter(Generic[ConnectionT]):
    """Waits for a slot, which is put into it."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.wake = wake
        self.slot: Slot[ConnectionT] | None = None


class Slots(Generic[ConnectionT]):
    """The slots of one client; safe between threads, and first come, first served.

    Args:
        most: How many may be taken at the same time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = RLock()
        self._taken: WeakSet[Slot[ConnectionT]] = WeakSet()
        self._lost: deque[ConnectionT] = deque()
        self._waiters: dict[_Waiter[ConnectionT], None] = {}

    def take(self) -> Slot[ConnectionT] | None:
        """Return a free slot; None if there is none, or others wait for it."""
        with self._lock:
            return None if self._waiters else self._new()

    def wait(self, seconds: float | None) -> Slot[ConnectionT] | None:
        """Block until a slot is free; None if none is by then."""
        freed = Event()
        waiter = _Waiter[ConnectionT](freed.set)
        with self._waiting(waiter):
            for step in _steps(seconds):
                if self._serve(waiter) or freed.wait(step):
                    break
        return waiter.slot

    async def wait_async(self, seconds: float | None) -> Slot[ConnectionT] | None:
        """Wait for a free slot, as `wait` does, without blocking."""
        freed = anyio.Event()
        waiter = _Waiter[ConnectionT](freed.set)
        with self._waiting(waiter):
            for step in _steps(seconds):
                if self._serve(waiter):
                    break
                with anyio.move_on_after(step):
                    await freed.wait()
        return waiter.slot

    def release(self, slot: Slot[ConnectionT]) -> None:
        """Free a slot, for the one who has waited longest."""
        slot.connection = None
        with self._lock:
            self._taken.discard(slot)
            self._hand_over()

    def lost(self) -> Iterator[ConnectionT]:
        """The connections of calls that were interrupted, which nobody closed."""
        with suppress(IndexError):  # there is none left
            while True:
                yield self._lost.popleft()

    def _new(self) -> Slot[ConnectionT] | None:
        if len(self._taken) >= self._most:
            return None
        slot = Slot(self._lost)
        self._taken.add(slot)
        return slot

    @contextmanager
    def _waiting(self, waiter: _Waiter[ConnectionT]) -> Generator[None]:
        with self._lock:
            self._waiters[waiter] = None
        try:
            yield
        except BaseException:
            if waiter.slot is not None:
                self.release(waiter.slot)
            raise
        finally:
            with self._lock:
                self._waiters.pop(waiter, None)

    def _serve(self, waiter: _Waiter[ConnectionT]) -> bool:
        """Whether the waiter has its slot by now."""
        with self._lock:
            self._hand_over()
        return waiter.slot is not None

    def _hand_over(self) -> None:
        while self._waiters and (slot := self._new()) is not None:
            waiter = next(iter(self._waiters))
            waiter.slot = slot
            del self._waiters[waiter]
            waiter.wake()


def _steps(seconds: float | None) -> Iterator[float]:
    """Seconds to wait, one look after the other; 0 for the last look."""
    until = None if seconds is None else time.monotonic() + seconds
    while until is None or time.monotonic() < until:
        yield _LOOK if until is None else min(_LOOK, max(0.0, until - time.monotonic()))
    yield 0.0
