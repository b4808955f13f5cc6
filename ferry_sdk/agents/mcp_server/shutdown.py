"""What both transports do at the end of the server: a write that is being sent may finish."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import anyio

from ferry_sdk.agents.toolkit import AsyncToolkit

_REPLY: Final = 0.05
"""Seconds for the reply to a write to be sent."""


async def wait_for_writes(toolkit: AsyncToolkit, seconds: float) -> None:
    """Wait until no write is being sent, at most so many seconds, and a moment for the reply."""
    if not toolkit.is_sending:
        return
    with anyio.move_on_after(seconds):
        while toolkit.is_sending:  # noqa: ASYNC110 -- a toolkit has no event to wait for
            await anyio.sleep(_REPLY)
    await anyio.sleep(_REPLY)


@contextmanager
def handled_signals(shut_down: Callable[[], object]) -> Generator[None, None, None]:
    """Call a function of the event loop at each Ctrl-C or SIGTERM during the block."""
    loop = asyncio.get_running_loop()

    def handle_signal(*_: object) -> None:
        # A handler may run between any two lines of the loop; `shut_down` runs as one of its calls.
        loop.call_soon_threadsafe(shut_down)

    handlers_before = {
        number: signal.signal(number, handle_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)
