"""What a call costs in more and more company, and a record in bigger and bigger answers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from ._clients import list_installed
from ._command import main
from ._decoder import decoder
from ._in_flight import rates
from ._lines import Bar, Line, compare
from ._measure import Figures, measure_in_turn, timing
from ._payload import search_answer
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
"""The fewest calls in a row on each connection, so that opening it takes a small part."""
_A_ROUND = 4000
"""The fewest records that are decoded in a round."""
_DIFFERENT = 10_000
"""The records that differ from each other; a larger answer has them several times."""


def measure(effort: Effort) -> list[Line]:
    """Measure the decoding first, before memory is fragmented, and then calls of both clients."""
    decoding = _measure_records(effort)
    with Service(FEW) as service:
        clients = ("ferry", *list_installed("aiohttp"))
        with rates(clients, service.base_url) as rate:
            costs = {name: _measure_calls(rate[name], effort) for name in clients}
    return [*_lines_of_calls(costs["ferry"], costs.get("aiohttp")), decoding]


def _measure_calls(rate: Rate, effort: Effort) -> Figures:
    levels = IN_FLIGHT[: effort.of(len(IN_FLIGHT), 2)]
    contenders: dict[str, Measurement] = {}
    for level in levels:
        calls_each = effort.of(max(_EACH, _CALLS // level))
        contenders[f"{level:,}"] = _cost(rate(level, calls_each, process_time))
    return measure_in_turn(contenders, rounds=effort.of(7))


def _lines_of_calls(ours: Figures, floor: Figures | None) -> list[Line]:
    """Return a line of the calls in flight together, and one of a lone call.

    A lone call wakes the event loop for itself, on asyncio with every client. So it is compared
    with a lone call of aiohttp, if that is installed.
    """
    lone, *more = ours.rounds
    together = Figures({level: ours.rounds[level] for level in more})
    what = "CPU of a call by calls in flight"
    if floor is None:
        return [_compare_sizes(what, together)]

    lines = [_compare_sizes(what, together, "aiohttp", floor)]
    alone = Figures({"ferry": ours.rounds[lone], "aiohttp": floor.rounds[lone]})
    lines.append(
        compare(alone, "a call alone", unit="µs", bar=LONE_BAR, ours="ferry", to="aiohttp")
    )
    return lines


def _measure_records(effort: Effort) -> Line:
    sizes = RECORDS[: effort.of(len(RECORDS), 2)]
    # The largest answer has more values than the library reads of a reply.
    with patch("ferry_sdk._protocols.json_body.MOST_JSON_VALUES", sys.maxsize):
        ours = _measure_decoding(decoder(), sizes, effort)
    floor = _measure_decoding(json.loads, sizes, effort)

    # The garbage collector looks at kept objects again and again, whatever made them.
    what = "growth of a record decoded, by records"
    line = _compare_sizes(what, ours, "json.loads", floor)
    return replace(line, ratio=line.ratio / _growth(floor), to="json.loads", bar=RECORDS_BAR)


def _growth(figures: Figures) -> float:
    """Return the cost of the most expensive size divided by that of the cheapest."""
    costs = [figures.median(name) for name in figures.rounds]
    return max(costs) / min(costs)


def _measure_decoding(
    decode: Callable[[bytes], object], sizes: tuple[int, ...], effort: Effort
) -> Figures:
    usual = {f"{size:,}": _decoding_cost(decode, size) for size in sizes[:-1]}
    figures = measure_in_turn(usual, rounds=effort.of(3))
    # One round, because the largest takes long, and much memory.
    largest = {f"{sizes[-1]:,}": _decoding_cost(decode, sizes[-1])}
    last = measure_in_turn(largest, rounds=1, warm_ups=0)
    return Figures({**figures.rounds, **last.rounds})


def _decoding_cost(decode: Callable[[bytes], object], size: int) -> Measurement:
    times = max(1, size // _DIFFERENT)
    inner = search_answer(size // times)[1:-1]
    content = b"[" + b",".join([inner] * times) + b"]"

    call = timing(partial(decode, content), max(1, _A_ROUND // size))
    return lambda: call() / size


def _cost(rate: Measurement) -> Measurement:
    """Return the measurement of the seconds of a call, given that of the calls in a second."""
    return lambda: 1 / rate()


def _compare_sizes(
    what: str, ours: Figures, floor_name: str = "", floor: Figures | None = None
) -> Line:
    """Return the line of the most expensive size beside the cheapest."""
    costs = {name: ours.median(name) for name in ours.rounds}
    most_expensive = max(costs.values())
    floors: dict[str, float] = {}
    if floor is not None:
        floors = {f"{floor_name} at {size}": floor.median(size) for size in floor.rounds}
    return Line(
        what=what,
        unit="µs",
        ours=most_expensive,
        ratio=most_expensive / min(costs.values()),
        to="the cheapest",
        bar=BAR,
        floor=floors,
        peers={f"at {name}": cost for name, cost in costs.items()},
    )


if __name__ == "__main__":
    sys.exit(main(["flatness", *sys.argv[1:]]))
