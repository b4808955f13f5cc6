"""Many small async calls in flight, against clients of httpx, httpx2 and reqwest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._clients import list_installed
from ._command import main
from ._in_flight import rates
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(3.0, is_least=True)


def measure(effort: Effort) -> list[Line]:
    """Measure the calls in a second."""
    in_flight = effort.of(200, 4)
    clients = ("ferry", "openai", "httpx", *list_installed("httpx2", "pyreqwest"))
    with Service(FEW) as service, rates(clients, service.base_url) as rate:
        contenders = {name: rate[name](in_flight, effort.of(2)) for name in clients}
        figures = measure_in_turn(contenders, rounds=effort.of(5))
    what = f"cancel_fee, {in_flight} in flight"
    return [compare(figures, what, unit="calls/s", bar=BAR, ours="ferry", to="openai")]


if __name__ == "__main__":
    sys.exit(main(["in_flight_core", *sys.argv[1:]]))
