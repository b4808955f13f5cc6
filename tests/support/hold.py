"""Requests that stand still at the local service until a test lets them go on."""

from __future__ import annotations

import asyncio
import threading
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from ferry_sdk.sandbox import Sandbox


class Hold:
    """Holds the next request of an operation, and lets all later ones pass.

    Args:
        sandbox: The service, which is the test's own.
        operation: Which operation's, as in `faults.add`.
        replies: Whether the work is done and only its reply is held.
        times: How many requests are held.

    Attributes:
        held: How many requests have come to stand still.
    """

    def __init__(
        self, sandbox: Sandbox, operation: str, *, replies: bool = False, times: int = 1
    ) -> None:
        self.held = 0
        self._operation = operation
        self._replies = replies
        self._left = times
        self._released = threading.Event()
        self._answer = sandbox.faults.around
        sandbox.faults.around = self._around

    def release(self) -> None:
        """Let those that are held go on, and hold no more."""
        self._left = 0
        self._released.set()

    async def _around(
        self, operation: str, request: Request, produce: Callable[[], Awaitable[Response]]
    ) -> Response:
        if not self._left or not fnmatchcase(operation, self._operation):
            return await self._answer(operation, request, produce)
        self._left -= 1
        if self._replies:
            response = await self._answer(operation, request, produce)
            await self._until_released()
            return response
        await request.body()
        await self._until_released()
        return await self._answer(operation, request, produce)

    async def _until_released(self) -> None:
        self.held += 1
        while not self._released.is_set():  # noqa: ASYNC110 -- another thread releases it
            await asyncio.sleep(0.005)
