"""Many small async calls in flight, over aiohttp."""

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
    in_flight = effort.of(200, 4)
    clients = (OURS, "aiohttp", *installed("openai_over_aiohttp"))
    with Service(FEW) as service, rates(clients, service.base_url) as rate:
        contenders = {name: rate[name](in_flight, effort.of(4)) for name in clients}
        figures = in_turn(contenders, rounds=effort.of(9))
    what = f"cancel_fee, {in_flight} in flight"
    return [compared(figures, what, "calls/s", BAR, ours=OURS, to="aiohttp", floor="aiohttp")]


if __name__ == "__main__":
    sys.exit(main(["in_flight_fastest", *sys.argv[1:]]))
