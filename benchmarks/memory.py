"""The peak memory of a big answer that is read and kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from . import _peak_memory
from ._clients import list_installed
from ._command import main
from ._interpreters import last_number_printed
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn
from ._service import Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.0)
WAYS: Final = {"traced": "tracemalloc", "resident": "resident set"}


def measure(effort: Effort) -> list[Line]:
    """Measure it in new interpreters, as Python counts and as the system counts."""
    records = effort.of(1000, 10)
    ways = [way for way in WAYS if way == "traced" or _peak_memory.can_tell_resident()]
    with Service(records) as service:
        return [_measure_way(way, service.base_url, records=records, effort=effort) for way in ways]


def _measure_way(way: str, base_url: str, *, records: int, effort: Effort) -> Line:
    peers = () if effort.is_tiny else list_installed("pydantic", "msgspec", "openai")
    clients = ("ferry", "httpx", *peers)
    contenders = {
        client: last_number_printed("-m", _peak_memory.__name__, client, base_url, way)
        for client in clients
    }
    figures = measure_in_turn(contenders, rounds=effort.of(2), warm_ups=0)
    what = f"peak with {records:,} held, {WAYS[way]}"
    return compare(figures, what, unit="MB", bar=BAR, ours="ferry", to="httpx", floor="httpx")


if __name__ == "__main__":
    sys.exit(main(["memory", *sys.argv[1:]]))
