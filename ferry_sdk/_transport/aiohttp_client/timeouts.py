"""How long everything that is waited for may take, watched with one timer for all of it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, Protocol


class Source(Protocol):
    """What something comes from, at a time or in parts."""

    @property
    def last_activity(self) -> float:
        """When something came from it last, on the event loop's clock."""
        ...


class Awaited(Protocol):
    """What is awaited, such as a future, or a protocol or a body of aiohttp's."""

    def set_exception(self, exc: BaseException, /) -> None:
        """Fail whoever waits for it."""
        ...


class _Wait(NamedTuple):
    awaited: Awaited
    began: float
    seconds: float


class Timeouts:
    """The waits in one event loop.

    A timer for each of them would be made and taken back within milliseconds, many thousand times
    a second. One timer, for the wait that is over first, has nothing to do but once in a while.

    Args:
        loop: The event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waits: dict[Source, _Wait] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, source: Source, awaited: Awaited, seconds: float | None) -> None:
        """Fail what is awaited if nothing comes from its source for so long."""
        if seconds is not None:
            began = self._loop.time()
            self._waits[source] = _Wait(awaited, began, seconds)
            if self._timer is None or began + seconds < self._timer.when():
                self._schedule(began + seconds)

    def end(self, source: Source) -> None:
        """Wait for nothing of a source."""
        self._waits.pop(source, None)

    def close(self) -> None:
        """Fail nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self._fail_expired)

    def _fail_expired(self) -> None:
        """Fail what is over; what came in this round of the loop was heard before."""
        self._timer = None
        now = self._loop.time()
        later: list[float] = []
        for source, wait in [*self._waits.items()]:
            until = max(wait.began, source.last_activity) + wait.seconds
            if until > now:
                later.append(until)
            else:
                del self._waits[source]
                wait.awaited.set_exception(TimeoutError("nothing has come in time"))
        if later:
            self._schedule(min(later))
