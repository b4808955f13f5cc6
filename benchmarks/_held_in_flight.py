"""The memory of a create while many are in flight, at its peak; in a process of its own.

`python -m benchmarks._held_in_flight CLIENT SERVICE CALLS traced|resident` prints bytes of a call.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import AsyncExitStack

from ._clients import work_of
from ._held import resident, traced
from ._service import allow_many_connections


def main(client: str, base_url: str, calls: str, way: str) -> float:
    """Make one call, so that all is loaded; then measure many at the same time."""
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
        return (traced(work) if way == "traced" else resident(work)) / number
    finally:
        loop.run_until_complete(stack.aclose())
        loop.close()


if __name__ == "__main__":
    sys.stdout.write(f"{main(*sys.argv[1:])}\n")
