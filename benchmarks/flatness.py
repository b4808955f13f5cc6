"""What a call costs in more and more company, and a record in bigger and bigger answers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from ._clients import installed
from ._decoding import decoding
from ._in_flight import rates
from ._lines import Bar, Line, compared
from ._measure import Figures, in_turn, timed
from ._payload import search_answer
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._in_flight import Rate
    from ._measure import Effort, Measurement

BAR: Final = Bar(1.5)
LONE_BAR: Final = Bar(1.1)
RECORDS_BAR: Final = Bar(1.1)
IN_FLIGHT: Final = (1, 10, 50, 200, 1000)
RECORDS: Final = (10, 100, 1000, 10_000, 100_000)
_CALLS = 400
_EACH = 4
"""Calls of each that is in flight, so that connecting is not most of it."""
_A_ROUND = 4000
"""Records that are decoded in a round at the least."""
_DIFFERENT = 10_000
"""Records that are different from each other; a bigger answer has them several times."""


def measure(effort: Effort) -> list[Line]:
    """Measure the decoding call, while memory is in order, then the calls of either client."""
    decoded = _of_records(effort)
    with Service(FEW) as service:
        clients = ("ferry", *installed("aiohttp"))
        with rates(clients, service.base_url) as rate:
            costs = {name: _of_calls(rate[name], effort) for name in clients}
    return [*_calls(costs["ferry"], costs.get("aiohttp")), decoded]


def _of_calls(rate: Rate, effort: Effort) -> Figures:
    levels = IN_FLIGHT[: effort.of(len(IN_FLIGHT), 2)]
    contenders = {
        f"{level:,}": _cost(rate(level, effort.of(max(_EACH, _CALLS // level)), process_time))
        for level in levels
    }
    return in_turn(contenders, rounds=effort.of(7))


def _calls(ours: Figures, floor: Figures | None) -> list[Line]:
    """A lone call wakes the event loop for itself, which no client on asyncio can help."""
    lone, *more = ours.rounds
    in_company = Figures({level: ours.rounds[level] for level in more})
    what = "CPU of a call by calls in flight"
    lines = [_flat(what, in_company, {} if floor is None else {"aiohttp": floor})]
    if floor is not None:
        alone = Figures({"ferry": ours.rounds[lone], "aiohttp": floor.rounds[lone]})
        lines.append(compared(alone, "a call alone", "µs", LONE_BAR, ours="ferry", to="aiohttp"))
    return lines


def _of_records(effort: Effort) -> Line:
    sizes = RECORDS[: effort.of(len(RECORDS), 2)]
    # The largest is beyond what is read of a reply.
    with patch("ferry_sdk._protocols.json_body.MOST_JSON_VALUES", sys.maxsize):
        ours = _decoded(decoding(), sizes, effort)
    floor = _decoded(json.loads, sizes, effort)
    # The collector looks at what is held again and again, whoever made it.
    line = _flat("growth of a record decoded, by records", ours, {"json.loads": floor})
    return replace(line, ratio=line.ratio / _growth(floor), to="json.loads", bar=RECORDS_BAR)


def _growth(figures: Figures) -> float:
    costs = [figures.median(name) for name in figures.rounds]
    return max(costs) / min(costs)


def _decoded(decode: Callable[[bytes], object], sizes: tuple[int, ...], effort: Effort) -> Figures:
    usual = {f"{size:,}": _decoding_cost(decode, size) for size in sizes[:-1]}
    figures = in_turn(usual, rounds=effort.of(3))
    # Once is enough of what takes so long, and so much memory.
    largest = {f"{sizes[-1]:,}": _decoding_cost(decode, sizes[-1])}
    last = in_turn(largest, rounds=1, warm_ups=0)
    return Figures({**figures.rounds, **last.rounds})


def _decoding_cost(decode: Callable[[bytes], object], size: int) -> Measurement:
    times = max(1, size // _DIFFERENT)
    inner = search_answer(size // times)[1:-1]
    content = b"[" + b",".join([inner] * times) + b"]"

    call = timed(partial(decode, content), max(1, _A_ROUND // size))
    return lambda: call() / size


def _cost(rate: Measurement) -> Measurement:
    return lambda: 1 / rate()


def _flat(what: str, ours: Figures, floor: dict[str, Figures] | None = None) -> Line:
    costs = {name: ours.median(name) for name in ours.rounds}
    dearest = max(costs.values())
    return Line(
        what=what,
        unit="µs",
        ours=dearest,
        ratio=dearest / min(costs.values()),
        to="the cheapest",
        bar=BAR,
        floor={
            f"{name} at {size}": figures.median(size)
            for name, figures in (floor or {}).items()
            for size in figures.rounds
        },
        peers={f"at {name}": cost for name, cost in costs.items()},
    )


if __name__ == "__main__":
    sys.exit(main(["flatness", *sys.argv[1:]]))
