"""Event loops of asyncio and of trio."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from anyio.lowlevel import current_token


def has_ended(loop: Any) -> bool:  # noqa: ANN401 -- of asyncio or of trio
    """Return whether an event loop of asyncio is closed; trio's tokens do not tell."""
    return hasattr(loop, "is_closed") and loop.is_closed()


def call_in_loop(loop: Any, function: Callable[[], object]) -> None:  # noqa: ANN401 -- of asyncio or of trio
    """Schedule a function in an event loop, from any thread."""
    schedule = getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon
    with suppress(RuntimeError):  # the loop has ended
        schedule(function)


def running_loop() -> Any:  # noqa: ANN401 -- of asyncio or of trio
    """Return the running event loop of asyncio, or trio's own token of its loop."""
    loop = asyncio_loop()
    if loop is not None:
        return loop
    token = current_token()
    return getattr(token, "native_token", token)


def asyncio_loop() -> Any:  # noqa: ANN401 -- a loop of asyncio, or None
    """Return the running event loop of asyncio; None if it is trio's."""
    asyncio: Any = sys.modules.get("asyncio")  # it is loaded if one of its loops runs
    try:
        return None if asyncio is None else asyncio.get_running_loop()
    except RuntimeError:
        return None
