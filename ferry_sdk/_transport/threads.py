"""Threads that make the calls of a batch, and the times that limit waits."""

from __future__ import annotations

import threading
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from ferry_sdk._engine.batch import Batch, BatchAnswer, BatchCall
from ferry_sdk._engine.effects import Signal
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.threads import ThreadCall
from ferry_sdk.errors import ConfigurationError

if TYPE_CHECKING:
    from ferry_sdk._transport.sync import Transport

Ended = tuple[int, object, BaseException | None]
"""The number of a call, its result, and its error."""
GRACE = 0.05
"""Seconds after a deadline in which the HTTP library's own timeouts come first."""
STOP_TIME = 2.0
"""Seconds to wait for calls that were stopped; a name lookup cannot be stopped."""


def seconds_until(moment: float | None, forever: float, grace: float = 0.0) -> float:
    """Return the seconds until a deadline and its grace; `forever` without one."""
    return forever if moment is None else min(forever, max(0.0, moment + grace - monotonic()))


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
        while (begun := self._begin()) is not None:
            self._threads.append(ThreadCall(partial(self._make_calls, begun)).start_or_run())
        try:
            ended = self._ended.get(timeout=seconds_until(until, threading.TIMEOUT_MAX))
        except Empty:
            return None
        if ended is None:
            raise ConfigurationError("the client is closed")
        return self._batch.answer(*ended)

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

    def _begin(self, ended: int = 0) -> tuple[int, BatchCall[Any, Any]] | None:
        """Take the next call if the limit allows it; `ended` calls have just ended."""
        with self._lock:
            self._running -= ended
            begun = self._batch.start_next(self._running)
            self._running += begun is not None
            return begun

    def _make_calls(self, begun: tuple[int, BatchCall[Any, Any]] | None) -> None:
        """Make a call, and as many more as wait when it has ended."""
        while begun is not None:
            number, call = begun
            ended: Ended
            try:
                settings = self._batch.settings_of(call, self._transport.settings)
                view = self._transport.view(settings, self._stop)
                ended = number, copy_context().run(call.make, view), None
            except BaseException as error:  # noqa: BLE001 -- the caller gets it
                ended = number, None, error
            begun = self._begin(ended=1)  # first, so that no other thread is started for it
            self._ended.put(ended)
