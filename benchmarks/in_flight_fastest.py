"""Many small async calls in flight, over aiohttp: one that reads, and one that writes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._clients import installed
from ._in_flight import rates
from ._lines import Bar, Line, compared
from ._measure import in_turn
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(0.8, is_least=True)
OURS: Final = "ferry_over_aiohttp"


def measure(effort: Effort) -> list[Line]:
    """Measure how many calls a second come through."""
    with Service(FEW) as service:
        url = service.base_url
        return [
            _compare(url, effort, "cancel_fee", "async_fee", "openai_over_aiohttp"),
            _compare(url, effort, "create", "async_create"),
        ]


def _compare(base_url: str, effort: Effort, name: str, work: str, *peers: str) -> Line:
    in_flight = effort.of(200, 4)
    clients = (OURS, "aiohttp", *installed(*peers))
    with rates(clients, base_url, work) as rate:
        contenders = {name: rate[name](in_flight, effort.of(4)) for name in clients}
        figures = in_turn(contenders, rounds=effort.of(9))
    what = f"{name}, {in_flight} in flight"
    return compared(figures, what, "calls/s", BAR, ours=OURS, to="aiohttp", floor="aiohttp")


if __name__ == "__main__":
    sys.exit(main(["in_flight_fastest", *sys.argv[1:]]))
