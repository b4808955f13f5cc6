"""The memory of a create while 1,000 are in flight, its connection included."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from . import _held, _held_in_flight
from ._clients import work_of
from ._fresh import fresh
from ._lines import Bar, Line, compared
from ._measure import in_turn
from ._running import main
from ._service import FEW, Service
from .memory import WAYS

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.0)
LIMIT: Final = 10_000
"""Bytes of Python for a call."""
CLIENTS: Final = ("ferry", "aiohttp")


def measure(effort: Effort) -> list[Line]:
    """Measure it in fresh interpreters, by Python's own account and by the system's.

    Raises:
        MissingPeerError: aiohttp is not installed.
    """
    work_of("aiohttp", "async_create")
    calls = effort.of(1000, 10)
    ways = [way for way in WAYS if way == "traced" or _held.can_tell_resident()]
    with Service(FEW) as service:
        lines = [_by(way, service.base_url, calls, effort) for way in ways]
    traced = lines[0]
    ratio = traced.ours / LIMIT
    return [*lines, Line(f"the same, {WAYS['traced']}", "KB", traced.ours, ratio, "10 KB", BAR)]


def _by(way: str, base_url: str, calls: int, effort: Effort) -> Line:
    contenders = {
        client: fresh("-m", _held_in_flight.__name__, client, base_url, str(calls), way)
        for client in CLIENTS
    }
    figures = in_turn(contenders, rounds=effort.of(3), warm_ups=0)
    what = f"a create with {calls:,} in flight, {WAYS[way]}"
    return compared(figures, what, "KB", BAR, ours=CLIENTS[0], to="aiohttp", floor="aiohttp")


if __name__ == "__main__":
    sys.exit(main(["memory_in_flight", *sys.argv[1:]]))
