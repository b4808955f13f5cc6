"""Threads that make the calls of a batch, and the times that limit waits."""

from __future__ import annotations

import threading
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from ferry_sdk._engine.batch import Batch, BatchAnswer, BatchCall
from ferry_sdk._engine.effects import Signal
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.threads import ThreadCall
from ferry_sdk.errors import ConfigurationError

if TYPE_CHECKING:
    from ferry_sdk._transport.sync import Transport

Started = tuple[int, BatchCall[Any, Any]]
"""A call of a batch that has been started, and its number in front of it."""
GRACE = 0.05
"""Seconds after a deadline in which the HTTP library's own timeouts come first."""
STOP_TIME = 2.0
"""Seconds to wait for calls that were stopped; a name lookup cannot be stopped."""


class Ended(NamedTuple):
    """A call of a batch that has ended.

    Attributes:
        number: The number of the call.
        value: Its result.
        error: Its error; None if it has a result.
    """

    number: int
    value: object = None
    error: BaseException | None = None


def seconds_until(moment: float | None, forever: float, grace: float = 0.0) -> float:
    """Return the seconds until a deadline and its grace; `forever` without one."""
    if moment is None:
        return forever
    return min(forever, max(0.0, moment + grace - monotonic()))


class BatchThreads:
    """Threads that make the calls of a batch, one after the other.

    Args:
        batch: The calls.
        transport: Makes them.
    """

    def __init__(self, batch: Batch[Any, Any], transport: Transport) -> None:
        self._batch = batch
        self._transport = transport
        self._stop = Signal()
        self._lock = threading.Lock()
        self._running = 0
        self._ended: SimpleQueue[Ended | None] = SimpleQueue()
        self._threads: list[ThreadCall[None]] = []

    def next_answer(self, until: float | None) -> BatchAnswer[Any, Any] | None:
        """Begin calls, and return the next answer; None if the deadline comes first.

        Raises:
            ConfigurationError: `interrupt` was called.
        """
        while (started := self._start_next()) is not None:
            self._threads.append(ThreadCall(partial(self._make_calls, started)).start_or_run())

        try:
            ended = self._ended.get(timeout=seconds_until(until, threading.TIMEOUT_MAX))
        except Empty:
            return None
        if ended is None:
            raise ConfigurationError("the client is closed")
        return self._batch.answer(ended.number, ended.value, ended.error)

    def interrupt(self) -> None:
        """End the wait for the next answer."""
        self._ended.put(None)

    def stop(self) -> None:
        """Stop the calls that are under way."""
        with self._lock:
            self._batch.waiting.clear()
        self._stop.set()
        end = monotonic() + STOP_TIME
        for thread in self._threads:
            thread.ended.wait(seconds_until(end, STOP_TIME))

    def _start_next(self, ended: int = 0) -> Started | None:
        """Take the next call if the limit allows it; `ended` calls have just ended."""
        with self._lock:
            self._running -= ended
            started = self._batch.start_next(self._running)
            if started is not None:
                self._running += 1
            return started

    def _make_calls(self, started: Started | None) -> None:
        """Make a call, and as many more as wait when it has ended."""
        while started is not None:
            number, call = started
            try:
                settings = self._batch.settings_of(call, self._transport.settings)
                view = self._transport.view(settings, self._stop)
                ended = Ended(number, value=copy_context().run(call.make, view))
            except BaseException as error:  # noqa: BLE001 -- the caller gets it
                ended = Ended(number, error=error)

            started = self._start_next(ended=1)  # first, so that no other thread is started for it
            self._ended.put(ended)
