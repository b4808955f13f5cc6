"""One small call after the other: what stands between a program and the wire."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._clients import installed, opened
from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.0)


def measure(effort: Effort) -> list[Line]:
    """Measure it, each on a connection that is open."""
    clients = ("ferry", "httpx", "http_client", *installed("openai"))
    with Service(FEW) as service, opened("fee", clients, service.base_url) as calls:
        contenders = {name: timed(call, effort.of(30, 2)) for name, call in calls.items()}
        figures = in_turn(contenders, rounds=effort.of(31))
    what = "bookings.cancel_fee"
    return [compared(figures, what, "µs", BAR, ours="ferry", to="httpx", floor="http_client")]


if __name__ == "__main__":
    sys.exit(main(["small_call", *sys.argv[1:]]))
