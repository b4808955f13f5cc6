"""The timeouts of one event loop, with one timer for all of them.

A timer for each wait would be made and cancelled within milliseconds, many thousand times a second.
One timer, for the wait that ends first, rarely has anything to do.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple, Protocol


class Source(Protocol):
    """A source of data, such as a connection."""

    @property
    def last_activity(self) -> float:
        """When data arrived last, on the event loop's clock."""
        ...


class Awaited(Protocol):
    """An awaited object, such as a future, or a protocol or a body of aiohttp."""

    def set_exception(self, exc: BaseException, /) -> None:
        """Raise the exception in the task that waits."""
        ...


class _Wait(NamedTuple):
    awaited: Awaited
    began: float
    seconds: float


class Timeouts:
    """The timeouts of one event loop.

    Args:
        loop: The event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waits: dict[Source, _Wait] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, source: Source, awaited: Awaited, seconds: float | None) -> None:
        """Start a timeout: without activity of the source for so long, the awaited object fails."""
        if seconds is not None:
            began = self._loop.time()
            self._waits[source] = _Wait(awaited, began, seconds)
            if self._timer is None or began + seconds < self._timer.when():
                self._schedule(began + seconds)

    def end(self, source: Source) -> None:
        """Stop the timeout of a source."""
        self._waits.pop(source, None)

    def close(self) -> None:
        """Stop all timeouts."""
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self._fail_expired)

    def _fail_expired(self) -> None:
        """Fail expired waits; data of this iteration of the loop was recorded before."""
        self._timer = None
        now = self._loop.time()
        later: list[float] = []
        for source, wait in [*self._waits.items()]:
            until = max(wait.began, source.last_activity) + wait.seconds
            if until > now:
                later.append(until)
            else:
                del self._waits[source]
                wait.awaited.set_exception(TimeoutError("no data arrived in time"))
        if later:
            self._schedule(min(later))
