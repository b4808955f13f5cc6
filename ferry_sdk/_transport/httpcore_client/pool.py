"""The pool of a client: a limit of connections in use, and the idle connections.

Whoever holds a `Slot` object has the slot. A call releases its slot at its end. If a call is
interrupted between two instructions, the garbage collector frees the slot: `_taken` is a `WeakSet`,
so no interruption can lose a slot. Waiters check again each second, because a collected slot wakes
nobody.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Final, Generic, TypeVar
from weakref import WeakSet

import anyio
import httpcore

from ferry_sdk._runtime.threads import Latch

ConnectionT = TypeVar("ConnectionT", httpcore.HTTPConnection, httpcore.AsyncHTTPConnection)

KEPT_FOR: Final = 5.0
"""Seconds after which an idle connection is not reused."""
_LOOK: Final = 1.0
"""Seconds after which a waiter checks again."""


class Slot(Generic[ConnectionT]):
    """The right to use one connection.

    Attributes:
        connection: The connection in use; that of a lost slot is closed by the next call.
    """

    __slots__ = ("__weakref__", "_lost", "connection")

    def __init__(self, lost: deque[ConnectionT]) -> None:
        self._lost: deque[ConnectionT] = lost
        self.connection: ConnectionT | None = None

    def __del__(self) -> None:
        connection = getattr(self, "connection", None)  # missing if __init__ was interrupted
        if connection is not None:
            self._lost.append(connection)


class _Waiter(Generic[ConnectionT]):
    """A caller that waits for a slot, with the slot once it gets one."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.wake = wake
        self.slot: Slot[ConnectionT] | None = None


class Slots(Generic[ConnectionT]):
    """The slots of one client; safe between threads, and first come, first served.

    Args:
        most: The number of slots.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = RLock()
        self._taken: WeakSet[Slot[ConnectionT]] = WeakSet()
        self._lost: deque[ConnectionT] = deque()
        self._waiters: dict[_Waiter[ConnectionT], None] = {}

    def take(self) -> Slot[ConnectionT] | None:
        """Return a free slot; None if there is none, or others are waiting."""
        with self._lock:
            return None if self._waiters else self._new()

    def wait(self, seconds: float | None) -> Slot[ConnectionT] | None:
        """Block until a slot is free; return None if none is free in time."""
        freed = Latch()
        waiter = _Waiter[ConnectionT](freed.set)
        with self._waiting(waiter):
            for step in _steps(seconds):
                if self._serve(waiter) or freed.wait(step):
                    break
        return waiter.slot

    async def wait_async(self, seconds: float | None) -> Slot[ConnectionT] | None:
        """Wait for a slot as `wait` does, without blocking."""
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
        """Release a slot to the caller that has waited longest."""
        slot.connection = None
        with self._lock:
            self._taken.discard(slot)
            self._hand_over()

    def lost(self) -> Iterator[ConnectionT]:
        """Yield the unclosed connections of interrupted calls."""
        with suppress(IndexError):  # empty
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


class IdleConnections(Generic[ConnectionT]):
    """Idle connections by origin; safe between threads.

    Attributes:
        is_closed: Whether connections are no longer kept.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self._idle: dict[str, deque[tuple[float, ConnectionT]]] = {}

    def take(self, origin: str) -> tuple[ConnectionT | None, list[ConnectionT]]:
        """Return the usable connection given back last, and the expired ones to close."""
        expired: list[ConnectionT] = []
        idle = self._idle.setdefault(origin, deque())
        while idle:
            try:
                _, connection = idle.pop()
            except IndexError:  # another thread was faster
                break
            if connection.is_available() and not connection.has_expired():
                return connection, expired
            expired.append(connection)
        return None, expired

    def give_back(self, origin: str, connection: ConnectionT) -> list[ConnectionT]:
        """Keep a connection; return those to close."""
        if not connection.is_available() or _has_unread_data(connection):
            return [connection]
        self._idle[origin].append((time.monotonic(), connection))
        return self.end() if self.is_closed else self._pop_expired()

    def end(self) -> list[ConnectionT]:
        """Stop keeping connections; return those to close."""
        self.is_closed = True
        ended: list[ConnectionT] = []
        for idle in tuple(self._idle.values()):
            with suppress(IndexError):  # empty
                while True:
                    ended.append(idle.pop()[1])
        return ended

    def _pop_expired(self) -> list[ConnectionT]:
        oldest_wanted = time.monotonic() - KEPT_FOR
        expired: list[ConnectionT] = []
        for idle in tuple(self._idle.values()):
            try:
                while idle and idle[0][0] < oldest_wanted:
                    since, connection = idle.popleft()
                    if since < oldest_wanted:
                        expired.append(connection)
                    else:  # another thread was faster
                        idle.appendleft((since, connection))
            except IndexError:
                continue
        return expired


def _has_unread_data(connection: object) -> bool:
    """Return whether bytes came after the reply: the next call would take them for its own reply.

    httpcore does not look, and documents no way to. If its private attributes are gone, the answer
    is yes: a connection that cannot be checked is closed, and never used again.
    """
    inner = getattr(connection, "_connection", None)
    if hasattr(inner, "_h2_state"):
        return False  # HTTP/2 numbers its streams, so a stray frame is nobody's reply
    protocol = getattr(inner, "_h11_state", None)
    return protocol is None or bool(protocol.trailing_data[0])
