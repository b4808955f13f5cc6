"""Async searches whose replies are parsed in a worker thread, beside the same sync searches."""

from __future__ import annotations

import asyncio
import sys
from time import process_time
from typing import TYPE_CHECKING, Final

from pydantic_core import from_json

from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk._engine.reply_limits import LONG_REPLY

from ._command import main
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing
from ._memory_client import AsyncMemoryClient, MemoryClient, MemoryReply, always, by_word
from ._payload import QUESTION, TOKEN, mcp_answers, mcp_result, search_answer
from ._readers import read_objects

if TYPE_CHECKING:
    from ._measure import Effort
    from ._memory_client import Answer

BAR: Final = Bar(1.3)
RECORDS: Final = 1000
_URL: Final = "http://127.0.0.1:1"


def measure(effort: Effort) -> list[Line]:
    """Measure the CPU time of the process, with that of the worker thread."""
    records = effort.of(RECORDS, 10)
    found = search_answer(records)  # a list of availabilities, as JSON
    if not effort.is_tiny and len(found) < LONG_REPLY:
        raise ValueError("the reply is parsed without a worker thread")

    structured: dict[str, object] = {"structuredContent": {"result": from_json(found)}}
    answers = {
        "an async search": ("availability", always(MemoryReply(found))),
        "the same, in an object": ("availability", always(MemoryReply(b'{"found":%s}' % found))),
        "the same over MCP, as a text": ("mcp", by_word(mcp_answers(records))),
        "the same over MCP, structured": ("mcp", by_word(mcp_result(b'"tools/call"', structured))),
    }
    return [
        _compare_with_sync(name, group, answer=answer, effort=effort)
        for name, (group, answer) in answers.items()
    ]


def _compare_with_sync(name: str, group: str, *, answer: Answer, effort: Effort) -> Line:
    loop = asyncio.new_event_loop()
    ferry = Ferry(TOKEN, base_url=_URL, http_client=MemoryClient(answer))
    async_ferry = AsyncFerry(TOKEN, base_url=_URL, http_client=AsyncMemoryClient(answer))
    method = "search" if group == "availability" else "search_availability"
    search_of_ferry = getattr(getattr(ferry, group), method)
    search_of_async_ferry = getattr(getattr(async_ferry, group), method)

    def search() -> None:
        read_objects(search_of_ferry(**QUESTION))

    def search_async() -> None:
        read_objects(loop.run_until_complete(search_of_async_ferry(**QUESTION)))

    try:
        contenders = {
            "async": timing(search_async, clock=process_time),
            "sync": timing(search, clock=process_time),
        }
        figures = measure_in_turn(contenders, rounds=effort.of(15))
    finally:
        loop.run_until_complete(async_ferry.aclose())
        loop.close()
        ferry.close()
    what = f"CPU of {name} of {effort.of(RECORDS, 10):,}, read, freed"
    return compare(figures, what, unit="ms", bar=BAR, ours="async", to="sync", floor="sync")


if __name__ == "__main__":
    sys.exit(main(["async_big_answer", *sys.argv[1:]]))
