"""Who may use a connection when there are more calls than connections."""

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
    """So many turns at a time, given in the order in which they were asked for.

    asyncio's semaphore has no time-out, and one around it costs a third of a call.

    Args:
        most: How many.
        waits: How long they are waited for.
        loop: The event loop.
    """

    def __init__(self, most: int, timeouts: Timeouts, loop: asyncio.AbstractEventLoop) -> None:
        self._free = most
        self._timeouts = timeouts
        self._loop = loop
        self._waiting: deque[_Waiter] = deque()

    @property
    def has_free(self) -> bool:
        """Whether there is one now."""
        return self._free > 0

    async def take(self, seconds: float | None) -> None:
        """Wait for a turn, and take it.

        Raises:
            TimeoutError: There was none in time.
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
        """Let somebody else have it."""
        with suppress(IndexError):
            while True:
                waiter = self._waiting.popleft()
                self._timeouts.end(waiter)
                if not waiter.granted.done():
                    waiter.is_granted = True
                    waiter.granted.set_result(None)
                    return
        self._free += 1
