"""Rates of async clients in one event loop, with many calls in flight."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from ._clients import work_of

if TYPE_CHECKING:
    from ._measure import Measurement

Rate = Callable[..., "Measurement"]
"""Returns the measurement of a rate; its arguments are those of `_rate` after the call."""


@contextmanager
def rates(
    clients: Iterable[str], base_url: str, work: str = "async_fee"
) -> Generator[dict[str, Rate]]:
    """Give the rates of several clients at the same work, by their names.

    Raises:
        MissingPeerError: One needs a library that is not installed.
    """
    loop = asyncio.new_event_loop()
    stack = AsyncExitStack()
    rate_of: dict[str, Rate] = {}
    try:
        for name in clients:
            open_call = work_of(name, work)
            call = loop.run_until_complete(stack.enter_async_context(open_call(base_url)))
            rate_of[name] = partial(_rate, loop, call)
        yield rate_of
    finally:
        loop.run_until_complete(stack.aclose())
        loop.close()


def _rate(
    loop: asyncio.AbstractEventLoop,
    call: Callable[[], Awaitable[object]],
    in_flight: int,
    calls_each: int,
    clock: Callable[[], float] = perf_counter,
) -> Measurement:
    """Return the measurement of the calls in a second.

    Args:
        loop: The event loop.
        call: Makes a call.
        in_flight: How many calls are under way at the same time.
        calls_each: How many calls each of these tasks makes, one after another.
        clock: Tells the seconds.
    """

    async def caller() -> None:
        for _ in range(calls_each):
            await call()

    async def all_callers() -> None:
        await asyncio.gather(*(caller() for _ in range(in_flight)))

    def measurement() -> float:
        gc.collect()
        began = clock()
        loop.run_until_complete(all_callers())
        return in_flight * calls_each / (clock() - began)

    return measurement
