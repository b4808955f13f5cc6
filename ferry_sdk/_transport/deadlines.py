"""Moments of the monotonic clock, and work that is left at one because it is in another thread."""

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
"""Seconds after a deadline in which the HTTP library's own time-outs speak first."""


def seconds_until(moment: float | None, forever: float) -> float:
    """Seconds until a moment; those of `forever` where there is none."""
    return forever if moment is None else min(forever, max(0.0, moment - time.monotonic()))


def start_thread(work: Callable[[], T], *, or_here: bool = False) -> Future[T]:
    """Begin work that nobody has to wait for, in the caller's context.

    Args:
        work: The work.
        or_here: Where no thread can be started, do the work before returning.

    Raises:
        ConfigurationError: No thread can be started, as while the interpreter shuts down.
    """
    future: Future[T] = Future()
    context = copy_context()

    def run_it() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 -- it is the caller's
            future.set_exception(error)

    try:
        threading.Thread(target=run_it, name="ferry_sdk call", daemon=True).start()
    except RuntimeError:
        if not or_here:
            raise ConfigurationError(
                "deadline: no thread can be started to keep it, as while the interpreter shuts down"
            ) from None
        run_it()
    return future
