"""The pool of a client: a limit of connections in use, and the idle connections.

Whoever holds a `Slot` object has the slot. A call releases its slot at its end. If a call is
interrupted between two instructions, the garbage collector frees the slot: `_taken` is a `WeakSet`,
so no interruption can lose a slot. Waiters check again each second, because a collected slot wakes
nobody.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Final, Generic, TypeVar
from weakref import WeakSet

import anyio
import httpcore

from ferry_sdk._threads import Latch

StreamT = TypeVar("StreamT", httpcore.NetworkStream, httpcore.AsyncNetworkStream)

KEPT_FOR: Final = 5.0
"""Seconds after which an idle connection is not reused."""
_LOOK: Final = 1.0
"""Seconds after which a waiter checks again."""


class Slot(Generic[StreamT]):
    """The right to use one connection.

    Attributes:
        stream: The connection in use; that of a lost slot is closed by the next call.
    """

    __slots__ = ("__weakref__", "_lost", "stream")

    def __init__(self, lost: deque[StreamT]) -> None:
        self._lost: deque[StreamT] = lost
        self.stream: StreamT | None = None

    def __del__(self) -> None:
        stream = getattr(self, "stream", None)  # missing if __init__ was interrupted
        if stream is not None:
            self._lost.append(stream)


class _Waiter(Generic[StreamT]):
    """A caller that waits for a slot, with the slot once it gets one."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.wake = wake
        self.slot: Slot[StreamT] | None = None


class Slots(Generic[StreamT]):
    """The slots of one client; safe between threads, and first come, first served.

    Args:
        most: The number of slots.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = RLock()
        self._taken: WeakSet[Slot[StreamT]] = WeakSet()
        self._lost: deque[StreamT] = deque()
        self._waiters: dict[_Waiter[StreamT], None] = {}

    def take(self) -> Slot[StreamT] | None:
        """Return a free slot; None if there is none, or others are waiting."""
        with self._lock:
            return None if self._waiters else self._new()

    def wait(self, seconds: float | None) -> Slot[StreamT] | None:
        """Block until a slot is free; return None if none is free in time."""
        freed = Latch()
        waiter = _Waiter[StreamT](freed.set)
        with self._waiting(waiter):
            for step in _steps(seconds):
                if self._serve(waiter) or freed.wait(step):
                    break
        return waiter.slot

    async def wait_async(self, seconds: float | None) -> Slot[StreamT] | None:
        """Wait for a slot as `wait` does, without blocking."""
        freed = anyio.Event()
        waiter = _Waiter[StreamT](freed.set)
        with self._waiting(waiter):
            for step in _steps(seconds):
                if self._serve(waiter):
                    break
                with anyio.move_on_after(step):
                    await freed.wait()
        return waiter.slot

    def release(self, slot: Slot[StreamT]) -> None:
        """Release a slot to the caller that has waited longest."""
        slot.stream = None
        with self._lock:
            self._taken.discard(slot)
            self._hand_over()

    def lost(self) -> Iterator[StreamT]:
        """Yield the unclosed connections of interrupted calls."""
        with suppress(IndexError):  # empty
            while True:
                yield self._lost.popleft()

    def _new(self) -> Slot[StreamT] | None:
        if len(self._taken) >= self._most:
            return None
        slot = Slot(self._lost)
        self._taken.add(slot)
        return slot

    @contextmanager
    def _waiting(self, waiter: _Waiter[StreamT]) -> Generator[None]:
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

    def _serve(self, waiter: _Waiter[StreamT]) -> bool:
        """Return whether the waiter has a slot."""
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
    """Yield the seconds of each wait; 0 for the last check."""
    until = None if seconds is None else time.monotonic() + seconds
    while until is None or time.monotonic() < until:
        yield _LOOK if until is None else min(_LOOK, max(0.0, until - time.monotonic()))
    yield 0.0


class IdleConnections(Generic[StreamT]):
    """Idle connections by origin; safe between threads.

    Attributes:
        is_closed: Whether connections are no longer kept.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self._idle: dict[Hashable, deque[tuple[float, StreamT]]] = {}

    def take(self, origin: Hashable) -> tuple[StreamT | None, list[StreamT]]:
        """Return the usable connection given back last, and the unusable ones to close."""
        unusable: list[StreamT] = []
        idle = self._idle.setdefault(origin, deque())
        while idle:
            try:
                since, stream = idle.pop()
            except IndexError:  # another thread was faster
                break
            # What arrives on an idle connection is its end, or is nobody's reply.
            if since >= time.monotonic() - KEPT_FOR and not stream.get_extra_info("is_readable"):
                return stream, unusable
            unusable.append(stream)
        return None, unusable

    def give_back(self, origin: Hashable, stream: StreamT) -> list[StreamT]:
        """Keep a connection; return those to close."""
        self._idle[origin].append((time.monotonic(), stream))
        return self.end() if self.is_closed else self._pop_expired()

    def end(self) -> list[StreamT]:
        """Stop keeping connections; return those to close."""
        self.is_closed = True
        ended: list[StreamT] = []
        for idle in tuple(self._idle.values()):
            with suppress(IndexError):  # empty
                while True:
                    ended.append(idle.pop()[1])
        return ended

    def _pop_expired(self) -> list[StreamT]:
        oldest_wanted = time.monotonic() - KEPT_FOR
        expired: list[StreamT] = []
        for idle in tuple(self._idle.values()):
            try:
                while idle and idle[0][0] < oldest_wanted:
                    since, stream = idle.popleft()
                    if since < oldest_wanted:
                        expired.append(stream)
                    else:  # another thread was faster
                        idle.appendleft((since, stream))
            except IndexError:
                continue
        return expired
