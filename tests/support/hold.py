"""Requests that stand still at the local service until a test lets them go on."""

import asyncio
import threading
from fnmatch import fnmatchcase


class Hold:
    """Holds the next request of an operation, and lets all later ones pass."""

    def __init__(self, sandbox, operation, *, replies=False, times=1):
        self.held = 0
        self._operation = operation
        self._replies = replies
        self._left = times
        self._released = threading.Event()
        self._answer = sandbox.faults.around
        sandbox.faults.around = self._around

    def pass_others(self):
        """Let later requests pass; those that are held stay."""
        self._left = 0

    def release(self):
        self._left = 0
        self._released.set()

    async def _around(self, operation, request, produce):
        if not self._left or not fnmatchcase(operation, self._operation):
            return await self._answer(operation, request, produce)
        self._left -= 1
        reply = await self._answer(operation, request, produce) if self._replies else None
        await request.body()
        await self._until_released()
        return reply or await self._answer(operation, request, produce)

    async def _until_released(self):
        self.held += 1
        while not self._released.is_set():  # noqa: ASYNC110 -- another thread releases it
            await asyncio.sleep(0.005)
