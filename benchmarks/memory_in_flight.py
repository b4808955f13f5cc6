"""The memory of a create while 1,000 are in flight, its connection included."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from . import _peak_memory, _peak_memory_in_flight
from ._clients import work_of
from ._command import main
from ._interpreters import last_number_printed
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn
from ._service import FEW, Service
from .memory import WAYS

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.0)
LIMIT: Final = 10_000
"""The most bytes of Python's memory for a call."""
CLIENTS: Final = ("ferry", "aiohttp")


def measure(effort: Effort) -> list[Line]:
    """Measure it in new interpreters, as Python counts and as the system counts.

    Raises:
        MissingPeerError: aiohttp is not installed.
    """
    work_of("aiohttp", "async_create")
    calls = effort.of(1000, 10)
    ways = [way for way in WAYS if way == "traced" or _peak_memory.can_tell_resident()]
    with Service(FEW) as service:
        lines = [_measure_way(way, service.base_url, calls=calls, effort=effort) for way in ways]

    traced = lines[0]
    limited = Line(
        what=f"the same, {WAYS['traced']}",
        unit="KB",
        ours=traced.ours,
        ratio=traced.ours / LIMIT,
        to="10 KB",
        bar=BAR,
    )
    return [*lines, limited]


def _measure_way(way: str, base_url: str, *, calls: int, effort: Effort) -> Line:
    contenders = {
        client: last_number_printed(
            "-m", _peak_memory_in_flight.__name__, client, base_url, str(calls), way
        )
        for client in CLIENTS
    }
    figures = measure_in_turn(contenders, rounds=effort.of(3), warm_ups=0)
    what = f"a create with {calls:,} in flight, {WAYS[way]}"
    return compare(
        figures, what, unit="KB", bar=BAR, ours=CLIENTS[0], to="aiohttp", floor="aiohttp"
    )


if __name__ == "__main__":
    sys.exit(main(["memory_in_flight", *sys.argv[1:]]))
