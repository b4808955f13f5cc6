"""Many calls in flight: async clients in one event loop, each kept as busy as is asked."""

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
"""How many calls a second come through; its arguments are those of `_rate` after the call."""


@contextmanager
def rates(
    clients: Iterable[str], base_url: str, work: str = "async_fee"
) -> Generator[dict[str, Rate]]:
    """The rates of several clients at the same work, by their names.

    Raises:
        MissingPeerError: One needs a library that is not installed.
    """
    loop = asyncio.new_event_loop()
    stack = AsyncExitStack()
    try:
        yield {
            name: partial(
                _rate,
                loop,
                loop.run_until_complete(stack.enter_async_context(work_of(name, work)(base_url))),
            )
            for name in clients
        }
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
