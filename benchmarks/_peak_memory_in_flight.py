"""The peak memory of a create while many are in flight, measured in a process of its own.

`python -m benchmarks._peak_memory_in_flight CLIENT SERVICE CALLS traced|resident` prints the bytes
of a call.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import AsyncExitStack

from ._clients import work_of
from ._peak_memory import MEASURES
from ._service import allow_many_connections


def main(client: str, base_url: str, calls: str, way: str) -> float:
    """Make one call, so that everything is loaded; then measure many at the same time."""
    allow_many_connections()
    number = int(calls)

    stack = AsyncExitStack()
    loop = asyncio.new_event_loop()
    call = loop.run_until_complete(
        stack.enter_async_context(work_of(client, "async_create")(base_url))
    )

    async def all_calls() -> None:
        await asyncio.gather(*(call() for _ in range(number)))

    def work() -> None:
        loop.run_until_complete(all_calls())

    try:
        loop.run_until_complete(call())
        gc.collect()
        measure = MEASURES[way]
        return measure(work) / number
    finally:
        loop.run_until_complete(stack.aclose())
        loop.close()


if __name__ == "__main__":
    sys.stdout.write(f"{main(*sys.argv[1:])}\n")
