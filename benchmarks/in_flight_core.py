"""Many small async calls in flight, against clients of httpx, httpx2 and reqwest."""

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

BAR: Final = Bar(3.0, is_least=True)


def measure(effort: Effort) -> list[Line]:
    """Measure how many calls a second come through."""
    in_flight = effort.of(200, 4)
    clients = ("ferry", "openai", "httpx", *installed("httpx2", "pyreqwest"))
    with Service(FEW) as service, rates(clients, service.base_url) as rate:
        contenders = {name: rate[name](in_flight, effort.of(2)) for name in clients}
        figures = in_turn(contenders, rounds=effort.of(5))
    what = f"cancel_fee, {in_flight} in flight"
    return [compared(figures, what, "calls/s", BAR, ours="ferry", to="openai")]


if __name__ == "__main__":
    sys.exit(main(["in_flight_core", *sys.argv[1:]]))
