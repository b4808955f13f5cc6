"""Many small async calls in flight, against aiohttp: one that reads, and one that writes."""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING, Final

from ._clients import list_installed
from ._command import main
from ._in_flight import rates
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._measure import Effort

READ_BAR: Final = Bar(1.0, is_least=True)
CREATE_BAR: Final = Bar(0.8, is_least=True)
OURS: Final = "ferry"


def measure(effort: Effort) -> list[Line]:
    """Measure the calls in a second of CPU time."""
    with Service(FEW) as service:
        url = service.base_url
        return [
            _measure_work(
                url,
                effort,
                name="cancel_fee",
                work="async_fee",
                bar=READ_BAR,
                peers=["openai_over_aiohttp"],
            ),
            _measure_work(url, effort, name="create", work="async_create", bar=CREATE_BAR),
        ]


def _measure_work(
    base_url: str, effort: Effort, *, name: str, work: str, bar: Bar, peers: Sequence[str] = ()
) -> Line:
    in_flight = effort.of(200, 4)
    clients = (OURS, "aiohttp", *list_installed(*peers))
    with rates(clients, base_url, work) as rate:
        contenders = {
            client: rate[client](in_flight, effort.of(4), process_time) for client in clients
        }
        figures = measure_in_turn(contenders, rounds=effort.of(9))
    what = f"{name}, {in_flight} in flight, a second of CPU"
    return compare(figures, what, unit="calls/s", bar=bar, ours=OURS, to="aiohttp", floor="aiohttp")


if __name__ == "__main__":
    sys.exit(main(["in_flight_fastest", *sys.argv[1:]]))
