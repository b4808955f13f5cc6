"""The limit of connections in use: callers above it wait in order of arrival.

asyncio's semaphore has no timeout, and wrapping it in one costs a third of a call. Here all waits
share the one timer of `Timeouts`. A permit is handed to a waiter directly, never through the free
count, so a new caller cannot overtake it. A waiter that is cancelled after it got a permit gives
the permit back.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from contextlib import suppress

from ferry_sdk._transport.aiohttp_client.timeouts import Timeouts


class _Waiter:
    def __init__(self, granted: asyncio.Future[None]) -> None:
        self.granted = granted
        self.last_activity = -math.inf
        self.is_granted = False


class Limiter:
    """A semaphore with a timeout, first come, first served.

    Args:
        most: The number of permits.
        timeouts: The timeouts of the event loop.
        loop: The event loop.
    """

    def __init__(self, most: int, timeouts: Timeouts, loop: asyncio.AbstractEventLoop) -> None:
        self._free = most
        self._timeouts = timeouts
        self._loop = loop
        self._waiting: deque[_Waiter] = deque()

    @property
    def has_free(self) -> bool:
        """Whether a permit is free."""
        return self._free > 0

    async def take(self, seconds: float | None) -> None:
        """Wait for a permit and take it.

        Raises:
            TimeoutError: No permit became free in time.
        """
        if self.has_free:
            self._free -= 1
            return
        waiter = _Waiter(self._loop.create_future())
        self._waiting.append(waiter)
        self._timeouts.begin(waiter, waiter.granted, seconds)
        try:
            await waiter.granted
        except BaseException:
            if waiter.is_granted:
                self.give_back()
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            raise
        finally:
            self._timeouts.end(waiter)

    def give_back(self) -> None:
        """Release a permit, to the caller that has waited longest."""
        with suppress(IndexError):
            while True:
                waiter = self._waiting.popleft()
                self._timeouts.end(waiter)
                if not waiter.granted.done():
                    waiter.is_granted = True
                    waiter.granted.set_result(None)
                    return
        self._free += 1
