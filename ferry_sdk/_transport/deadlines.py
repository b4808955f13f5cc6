"""Deadlines on the monotonic clock, and threads that can be left when a deadline comes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from ferry_sdk.errors import ConfigurationError

T = TypeVar("T")

GRACE = 0.05
"""Seconds after a deadline in which the HTTP library's own timeouts come first."""


def seconds_until(moment: float | None, forever: float) -> float:
    """Return the seconds until a deadline; `forever` without one."""
    return forever if moment is None else min(forever, max(0.0, moment - time.monotonic()))


def start_thread(work: Callable[[], T], *, or_here: bool = False) -> Future[T]:
    """Start a function in a daemon thread, in the caller's context.

    Args:
        work: The function.
        or_here: Run it in the current thread if no thread can be started.

    Raises:
        ConfigurationError: No thread can be started, for example during shutdown.
    """
    future: Future[T] = Future()
    context = copy_context()

    def run_it() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 -- the caller gets it
            if not future.done():  # else an interruption came after the result was set
                future.set_exception(error)

    try:
        threading.Thread(target=run_it, name="ferry_sdk call", daemon=True).start()
    except RuntimeError:
        if not or_here:
            raise ConfigurationError(
                "deadline: cannot start a thread to enforce it; is the interpreter shutting down?"
            ) from None
        run_it()
    return future
