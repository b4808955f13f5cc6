"""Who may use a connection when there are more calls than connections."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from contextlib import suppress

from ferry_sdk._transport.aiohttp_client.timeouts import Timeouts


class _Waiter:
    def __init__(self, given: asyncio.Future[None]) -> None:
        self.given = given
        self.last_activity = -math.inf
        self.is_given = False


class Limiter:
    """So many turns at a time, given in the order in which they were asked for.

    asyncio's semaphore has no time-out, and one around it costs a third of a call.

    Args:
        most: How many.
        waits: How long they are waited for.
        loop: The event loop.
    """

    def __init__(self, most: int, waits: Timeouts, loop: asyncio.AbstractEventLoop) -> None:
        self._free = most
        self._waits = waits
        self._loop = loop
        self._waiting: deque[_Waiter] = deque()

    @property
    def is_there(self) -> bool:
        """Whether there is one now."""
        return self._free > 0

    async def take(self, seconds: float | None) -> None:
        """Wait for a turn, and take it.

        Raises:
            TimeoutError: There was none in time.
        """
        if self.is_there:
            self._free -= 1
            return
        turn = _Waiter(self._loop.create_future())
        self._waiting.append(turn)
        self._waits.begin(turn, turn.given, seconds)
        try:
            await turn.given
        except BaseException:
            if turn.is_given:
                self.give_back()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise
        finally:
            self._waits.end(turn)

    def give_back(self) -> None:
        """Let somebody else have it."""
        with suppress(IndexError):
            while True:
                turn = self._waiting.popleft()
                self._waits.end(turn)
                if not turn.given.done():
                    turn.is_given = True
                    turn.given.set_result(None)
                    return
        self._free += 1
