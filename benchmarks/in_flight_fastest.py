"""Many small async calls in flight, against aiohttp: one that reads, and one that writes."""

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

READ_BAR: Final = Bar(1.0, is_least=True)
CREATE_BAR: Final = Bar(0.8, is_least=True)
OURS: Final = "ferry"


def measure(effort: Effort) -> list[Line]:
    """Measure how many calls a second come through."""
    with Service(FEW) as service:
        url = service.base_url
        return [
            _compare(url, effort, READ_BAR, "cancel_fee", "async_fee", "openai_over_aiohttp"),
            _compare(url, effort, CREATE_BAR, "create", "async_create"),
        ]


def _compare(base_url: str, effort: Effort, bar: Bar, name: str, work: str, *peers: str) -> Line:
    in_flight = effort.of(200, 4)
    clients = (OURS, "aiohttp", *installed(*peers))
    with rates(clients, base_url, work) as rate:
        contenders = {name: rate[name](in_flight, effort.of(4), process_time) for name in clients}
        figures = in_turn(contenders, rounds=effort.of(9))
    what = f"{name}, {in_flight} in flight, a second of CPU"
    return compared(figures, what, "calls/s", bar, ours=OURS, to="aiohttp", floor="aiohttp")


if __name__ == "__main__":
    sys.exit(main(["in_flight_fastest", *sys.argv[1:]]))
