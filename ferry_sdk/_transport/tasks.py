"""Tasks that make the calls of a batch for the async transport, on asyncio or trio.

The tasks of a batch outlive the step that starts them, because a stream gives an answer while
other calls go on. So they belong to the event loop, and not to a task group. Each task has a cancel
scope, with which `stop` ends it.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from contextlib import nullcontext
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import anyio

from ferry_sdk._engine.batch import Batch, BatchAnswer
from ferry_sdk._transport.loops import asyncio_loop
from ferry_sdk._transport.threads import STOP_TIME, Ended, Started, seconds_until

if TYPE_CHECKING:
    from ferry_sdk._transport.async_ import AsyncTransport


class BatchTasks:
    """Tasks that make the calls of a batch, one after the other.

    Args:
        batch: The calls.
        transport: Makes them.
    """

    def __init__(self, batch: Batch[Any, Any], transport: AsyncTransport) -> None:
        self._batch = batch
        self._transport = transport
        self._scopes: set[anyio.CancelScope] = set()
        self._ended: deque[Ended] = deque()
        self._event = anyio.Event()
        self._tasks: set[object] = set()

    async def next_answer(self, until: float | None) -> BatchAnswer[Any, Any] | None:
        """Begin calls, and return the next answer; None if the deadline comes first."""
        while (started := self._batch.start_next(len(self._scopes))) is not None:
            scope = anyio.CancelScope()
            self._scopes.add(scope)
            self._start_task(scope, started)

        if not self._ended:
            timeout = None if until is None else anyio.move_on_after(seconds_until(until, math.inf))
            with timeout or nullcontext():
                while not self._ended:
                    self._event = anyio.Event()
                    await self._event.wait()

        if not self._ended:
            return None
        ended = self._ended.popleft()
        return self._batch.answer(ended.number, ended.value, ended.error)

    async def stop(self) -> None:
        """Stop the calls that are under way."""
        self._batch.waiting.clear()
        for scope in self._scopes:
            scope.cancel()
        with anyio.move_on_after(STOP_TIME):
            while self._scopes:
                self._event = anyio.Event()
                await self._event.wait()

    def _start_task(self, scope: anyio.CancelScope, started: Started) -> None:
        loop = asyncio_loop()
        if loop is None:
            trio: Any = sys.modules["trio"]  # it runs, so it is loaded
            context = copy_context()
            trio.lowlevel.spawn_system_task(self._make_calls, scope, started, context=context)
            return

        task = loop.create_task(self._make_calls(scope, started))
        self._tasks.add(task)  # the event loop keeps a weak reference only
        task.add_done_callback(self._tasks.discard)

    async def _make_calls(self, scope: anyio.CancelScope, started: Started | None) -> None:
        """Make a call, and as many more as wait when it has ended."""
        try:
            with scope:
                while started is not None:
                    await self._make_call(started)
                    # The next call does not wait until this answer is taken.
                    started = self._batch.start_next(len(self._scopes) - 1)
        finally:
            self._scopes.discard(scope)
            self._event.set()

    async def _make_call(self, started: Started) -> None:
        number, call = started
        try:
            settings = self._batch.settings_of(call, self._transport.settings)
            value: object = await call.make(self._transport.view(settings))
        except BaseException as error:
            self._ended.append(Ended(number, error=error))
            if not isinstance(error, Exception):  # it is stopped, or the event loop ends
                raise
        else:
            self._ended.append(Ended(number, value=value))
        finally:
            self._event.set()
