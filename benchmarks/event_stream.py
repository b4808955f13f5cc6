"""A big answer over MCP that arrives as an event stream, beside the same answer as JSON."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from time import process_time
from typing import TYPE_CHECKING, Final

from ferry_sdk import Ferry

from ._command import main
from ._lines import Bar, Line, compare
from ._measure import Figures, measure_in_turn, timing
from ._memory_client import MemoryClient, MemoryReply, by_word
from ._payload import QUESTION, TOKEN, mcp_answers
from ._readers import read_objects

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._measure import Effort, Measurement

BAR: Final = Bar(1.5)
GROWTH_BAR: Final = Bar(1.3)
RECORDS: Final = 1000
MORE_RECORDS: Final = 3000
"""The records of an answer of 8 MiB."""
PIECES: Final = (4, 16, 64)
"""Sizes in KiB of the pieces in which a reply arrives."""
_PIECE: Final = PIECES[-1] * 1024
_URL: Final = "http://127.0.0.1:1"
_SEARCH: Final = b'"tools/call"'
_ANSWERED_ID: Final = b'"ferry-2"'
_STREAM: Final = {"Content-Type": "text/event-stream"}


def measure(effort: Effort) -> list[Line]:
    """Measure the CPU time of searches whose replies are read and freed."""
    return [*_beside_json(effort), _growth(effort)]


def _beside_json(effort: Effort) -> list[Line]:
    records = effort.of(RECORDS, 10)
    with ExitStack() as stack:
        contenders = {"json": _search(stack, records, _PIECE)}
        for size in PIECES:
            search = _search(stack, records, size * 1024, is_stream=True)
            contenders[f"{size} KiB"] = search
        figures = measure_in_turn(
            {name: timing(work, clock=process_time) for name, work in contenders.items()},
            rounds=effort.of(11),
        )
    return [
        compare(
            Figures({name: figures.rounds[name] for name in ("json", f"{size} KiB")}),
            f"CPU of an event stream, pieces of {size} KiB",
            unit="ms",
            bar=BAR,
            ours=f"{size} KiB",
            to="json",
            floor="json",
        )
        for size in PIECES
    ]


def _growth(effort: Effort) -> Line:
    """Measure how much more a record costs in an answer of 8 MiB than in one of 2.7 MB.

    The garbage collector takes longer with more records, however they arrive. JSON shows how much.
    """
    records = effort.of(RECORDS, 10)
    more = effort.of(MORE_RECORDS, 30)
    with ExitStack() as stack:
        contenders: dict[str, Measurement] = {}
        for name, is_stream in (("stream", True), ("json", False)):
            few = _search(stack, records, _PIECE, is_stream=is_stream)
            many = _search(stack, more, _PIECE, is_stream=is_stream)
            contenders[f"{name}, few"] = timing(few, more // records, clock=process_time)
            contenders[f"{name}, many"] = timing(many, clock=process_time)
        rounds = measure_in_turn(contenders, rounds=effort.of(7)).rounds

    def growth(name: str) -> list[float]:
        pairs = zip(rounds[f"{name}, many"], rounds[f"{name}, few"], strict=True)
        return [many / more / (few / records) for many, few in pairs]

    figures = Figures({"stream": growth("stream"), "json": growth("json")})
    what = "growth of a record from 2.7 MB to 8 MiB"
    return compare(figures, what, unit="times", bar=GROWTH_BAR, ours="stream", to="json")


def _event(body: bytes) -> bytes:
    return b"event: message\ndata: %s\n\n" % body


def _search(
    stack: ExitStack, records: int, piece_size: int, *, is_stream: bool = False
) -> Callable[[], None]:
    """Return a search whose reply arrives in pieces, read to its end."""
    bodies = mcp_answers(records)
    handshake = by_word(bodies)
    found = bodies[_SEARCH]

    def answer(url: str, content: bytes) -> MemoryReply:
        if _SEARCH not in content:
            return handshake(url, content)
        # In an event stream, the reply has the id of its request.
        body = found.replace(_ANSWERED_ID, b'"%s"' % json.loads(content)["id"].encode(), 1)
        if not is_stream:
            return MemoryReply(body, piece_size=piece_size)
        return MemoryReply(_event(body), more_headers=_STREAM, piece_size=piece_size)

    ferry = Ferry(TOKEN, base_url=_URL, http_client=MemoryClient(answer))
    stack.enter_context(ferry)
    return lambda: read_objects(ferry.mcp.search_availability(**QUESTION))


if __name__ == "__main__":
    sys.exit(main(["event_stream", *sys.argv[1:]]))
