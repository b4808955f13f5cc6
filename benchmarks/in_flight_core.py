"""Many small async calls in flight, with nothing installed but the core."""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING, Final

from ._clients import installed
from ._in_flight import rates
from ._lines import Bar, Line, compared
from ._measure import in_turn
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(3.0, is_least=True)
CREATE_BAR: Final = Bar(0.2, is_least=True)


def measure(effort: Effort) -> list[Line]:
    """Measure how many calls a second come through."""
    in_flight = effort.of(200, 4)
    clients = ("ferry", "openai", "httpx", *installed("httpx2"))
    with Service(FEW) as service, rates(clients, service.base_url) as rate:
        contenders = {name: rate[name](in_flight, effort.of(2)) for name in clients}
        figures = in_turn(contenders, rounds=effort.of(5))
    what = f"cancel_fee, {in_flight} in flight"
    read = compared(figures, what, "calls/s", BAR, ours="ferry", to="openai")
    return [read, *_creates(in_flight, effort)]


def _creates(in_flight: int, effort: Effort) -> list[Line]:
    """Measure creates by CPU time, where aiohttp is installed."""
    if not installed("aiohttp"):
        return []
    clients = ("ferry", "aiohttp")
    with Service(FEW) as service, rates(clients, service.base_url, "async_create") as rate:
        contenders = {name: rate[name](in_flight, effort.of(2), process_time) for name in clients}
        figures = in_turn(contenders, rounds=effort.of(9))
    what = f"create, {in_flight} in flight, a second of CPU"
    return [compared(figures, what, "calls/s", CREATE_BAR, ours="ferry", to="aiohttp")]


if __name__ == "__main__":
    sys.exit(main(["in_flight_core", *sys.argv[1:]]))
