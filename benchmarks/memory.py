"""The memory that a big answer needs at its peak, read and held."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from . import _held
from ._clients import installed
from ._fresh import fresh
from ._lines import Bar, Line, compared
from ._measure import in_turn
from ._running import main
from ._service import Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.0)
WAYS: Final = {"traced": "tracemalloc", "resident": "resident set"}


def measure(effort: Effort) -> list[Line]:
    """Measure it in fresh interpreters, by Python's own account and by the system's."""
    records = effort.of(1000, 10)
    ways = [way for way in WAYS if way == "traced" or _held.can_tell_resident()]
    with Service(records) as service:
        return [_by(way, service.base_url, records, effort) for way in ways]


def _by(way: str, base_url: str, records: int, effort: Effort) -> Line:
    peers = () if effort.is_tiny else installed("pydantic", "msgspec", "openai")
    clients = ("ferry", "httpx", *peers)
    contenders = {client: fresh("-m", _held.__name__, client, base_url, way) for client in clients}
    figures = in_turn(contenders, rounds=effort.of(2), warm_ups=0)
    what = f"peak with {records:,} held, {WAYS[way]}"
    return compared(figures, what, "MB", BAR, ours="ferry", to="httpx", floor="httpx")


if __name__ == "__main__":
    sys.exit(main(["memory", *sys.argv[1:]]))
