"""The pool of a client: a limit of connections in use, and the idle connections.

`ConnectionSlots` limits the connections in use. A call takes a `Slot` before it has a connection,
and releases it at its end. With two slots and three calls:

1. Call A and call B take the slots. Call C becomes a `Waiter`, and waits.
2. Call A releases its slot: `_hand_over` makes a new one for C and wakes C.
3. Call B is interrupted (Ctrl-C) between two instructions, where no `finally` protects it. Its
   `Slot` object is garbage-collected. `_taken` is a `WeakSet`, so the slot is free again: no
   interruption can lose one. Nobody is woken then, so waiters check again each second.
4. The collected slot puts its connection into `_lost`. The next call closes it.

`IdleConnections` keeps the connections between calls. The one given back last is taken first, so
that the others reach their age and are closed.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from threading import RLock
from typing import Final, Generic, Self, TypeVar
from weakref import WeakSet

import httpcore

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.threads import Latch, do_nothing

StreamT = TypeVar("StreamT", httpcore.NetworkStream, httpcore.AsyncNetworkStream)

MOST_CONNECTIONS: Final = 200
"""Connections of one client at the same time, in one process or event loop."""
KEPT_FOR: Final = 4.0
"""Seconds after which an idle connection is not reused; many servers close it after five."""
IDLE_BEFORE_WRITE: Final = 0.5
"""Seconds for which a connection may be idle before a write that no read proves leaves on it."""
_TIMEOUT: Final = re.compile(r'timeout\s{0,9}=\s{0,9}"?([0-9]{1,9})', re.IGNORECASE | re.ASCII)
"""The number of seconds in a Keep-Alive header."""
_LOOK: Final = 1.0
"""Seconds after which a waiter checks again."""


class Slot(Generic[StreamT]):
    """The right to use one connection.

    Attributes:
        stream: The connection in use; that of a lost slot is closed by the next call.
        kept_for: Seconds for which the service says that it keeps the connection.
    """

    __slots__ = ("__weakref__", "_lost", "kept_for", "stream")

    def __init__(self, lost: deque[StreamT]) -> None:
        self._lost: deque[StreamT] = lost
        self.stream: StreamT | None = None
        self.kept_for: float = math.inf

    def __del__(self) -> None:
        stream = getattr(self, "stream", None)  # missing if __init__ was interrupted
        if stream is not None:
            self._lost.append(stream)


@dataclass(slots=True, eq=False)
class Waiter(Generic[StreamT]):
    """A caller that waits for a slot while it is entered.

    Attributes:
        slots: The slots.
        slot: Its slot, once it has one.
        wake: Wakes the caller; called when it gets its slot. At first nobody sleeps.
    """

    slots: ConnectionSlots[StreamT]
    slot: Slot[StreamT] | None = None
    wake: Callable[[], object] = do_nothing

    def __enter__(self) -> Self:
        with self.slots.lock:
            self.slots.waiters[self] = None
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None and self.slot is not None:  # interrupted just as it got one
                self.slots.release(self.slot)
        finally:
            with self.slots.lock:
                self.slots.waiters.pop(self, None)


class ConnectionSlots(Generic[StreamT]):
    """The slots of one client; safe between threads, and first come, first served.

    Args:
        most: The number of slots.

    Attributes:
        lock: Held while slots or waiters change.
        waiters: The queue of waiters, whose first key has waited longest.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.lock = RLock()
        self._taken: WeakSet[Slot[StreamT]] = WeakSet()
        self._lost: deque[StreamT] = deque()
        self.waiters: dict[Waiter[StreamT], None] = {}

    def take(self) -> Slot[StreamT] | None:
        """Return a free slot; None if there is none, or others are waiting."""
        with self.lock:
            return None if self.waiters else self._new()

    def wait(self, seconds: float | None) -> Slot[StreamT] | None:
        """Block until a slot is free; return None if none is free in time."""
        until = math.inf if seconds is None else monotonic() + seconds
        served = Latch()
        with Waiter(self) as waiter:
            waiter.wake = served.set
            while not self.serve(waiter) and (step := step_until(until)) > 0:
                served.wait(step)
        return waiter.slot

    def release(self, slot: Slot[StreamT]) -> None:
        """Release a slot to the caller that has waited longest."""
        slot.stream = None
        with self.lock:
            self._taken.discard(slot)
            self._hand_over()

    def lost(self) -> Iterator[StreamT]:
        """Yield the unclosed connections of interrupted calls."""
        while self._lost:
            try:
                stream = self._lost.popleft()
            except IndexError:  # another thread was faster
                return
            yield stream

    def _new(self) -> Slot[StreamT] | None:
        """Return a new slot; None if all are taken."""
        if len(self._taken) >= self._most:
            return None
        slot = Slot(self._lost)
        self._taken.add(slot)
        return slot

    def serve(self, waiter: Waiter[StreamT]) -> bool:
        """Hand free slots over, and return whether the waiter has one."""
        with self.lock:
            self._hand_over()
        return waiter.slot is not None

    def _hand_over(self) -> None:
        """Give the free slots to those that have waited longest."""
        while self.waiters and (slot := self._new()) is not None:
            waiter = next(iter(self.waiters))
            waiter.slot = slot
            del self.waiters[waiter]
            waiter.wake()


def step_until(until: float) -> float:
    """Return the seconds until the next check; none are left at the end."""
    return min(_LOOK, until - monotonic())


def seconds_to_keep(hint: str) -> float:
    """Return for how many seconds an idle connection can be used, by a Keep-Alive header.

    One second is left for the way of the next request to the service.
    """
    timeout = _TIMEOUT.search(hint)
    return math.inf if timeout is None else int(timeout[1]) - 1.0


class IdleConnections(Generic[StreamT]):
    """Idle connections by origin; safe between threads.

    Attributes:
        is_closed: Whether connections are no longer kept.
    """

    def __init__(self) -> None:
        self.is_closed = False
        # Of each connection: when it was given back, its stream, and how long the service keeps it.
        # The last one was given back last.
        self._idle: dict[Hashable, deque[tuple[float, StreamT, float]]] = {}

    def take(self, origin: Hashable, longest_idle: float) -> tuple[StreamT | None, list[StreamT]]:
        """Return the usable connection given back last, and the unusable ones to close.

        Args:
            origin: The server.
            longest_idle: Seconds for which the connection may have been idle at most; one that was
                idle for longer stays for another request.
        """
        unusable: list[StreamT] = []
        idle = self._idle.setdefault(origin, deque())
        while idle:
            try:
                since, stream, kept_for = idle.pop()
            except IndexError:  # another thread was faster
                break

            seconds = monotonic() - since
            # What arrives on an idle connection is its end, or is nobody's reply.
            if seconds > min(KEPT_FOR, kept_for) or stream.get_extra_info("is_readable"):
                unusable.append(stream)
            elif seconds > longest_idle:
                idle.append((since, stream, kept_for))
                break  # the others were given back earlier
            else:
                return stream, unusable
        return None, unusable

    def give_back(self, origin: Hashable, stream: StreamT, kept_for: float) -> list[StreamT]:
        """Keep a connection; return those to close.

        Args:
            origin: The server.
            stream: The connection.
            kept_for: Seconds for which the service keeps it.
        """
        self._idle[origin].append((monotonic(), stream, kept_for))
        # Checked after the connection is kept: `end` does the two in the other order.
        if self.is_closed:
            return self.end()
        return self._pop_before(monotonic() - KEPT_FOR)

    def end(self) -> list[StreamT]:
        """Stop keeping connections; return those to close."""
        self.is_closed = True
        return self._pop_before(math.inf)

    def _pop_before(self, moment: float) -> list[StreamT]:
        """Return the connections that were given back before a moment, and keep them no longer."""
        popped: list[StreamT] = []
        for idle in tuple(self._idle.values()):
            try:
                while idle[0][0] < moment:
                    since, stream, kept_for = idle.popleft()
                    if since < moment:
                        popped.append(stream)
                    else:  # another thread was faster
                        idle.appendleft((since, stream, kept_for))
            except IndexError:  # none is left
                continue
        return popped
