"""An async search whose reply is parsed in a worker thread, beside the same search made sync."""

from __future__ import annotations

import asyncio
import sys
from time import process_time
from typing import TYPE_CHECKING, Final

from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk._engine.limits import LONG_REPLY

from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._memory_client import AsyncMemoryClient, MemoryClient, MemoryReply, always
from ._payload import QUESTION, TOKEN, search_answer
from ._reading import read_objects
from ._running import main

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.3)
RECORDS: Final = 1000
_URL: Final = "http://127.0.0.1:1"


def measure(effort: Effort) -> list[Line]:
    """Measure the CPU time of the process, with that of the worker thread."""
    records = effort.of(RECORDS, 10)
    content = search_answer(records)
    if not effort.is_tiny and len(content) < LONG_REPLY:
        raise ValueError("the reply is parsed without a worker thread")
    answer = always(MemoryReply(content))
    loop = asyncio.new_event_loop()
    ferry = Ferry(TOKEN, base_url=_URL, http_client=MemoryClient(answer))
    async_ferry = AsyncFerry(TOKEN, base_url=_URL, http_client=AsyncMemoryClient(answer))

    def search() -> None:
        read_objects(ferry.availability.search(**QUESTION))

    def search_async() -> None:
        read_objects(loop.run_until_complete(async_ferry.availability.search(**QUESTION)))

    try:
        contenders = {
            "async": timed(search_async, clock=process_time),
            "sync": timed(search, clock=process_time),
        }
        figures = in_turn(contenders, rounds=effort.of(25))
    finally:
        loop.run_until_complete(async_ferry.aclose())
        loop.close()
        ferry.close()
    what = f"CPU of an async search of {records:,}, read, freed"
    return [compared(figures, what, "ms", BAR, ours="async", to="sync", floor="sync")]


if __name__ == "__main__":
    sys.exit(main(["async_big_answer", *sys.argv[1:]]))
