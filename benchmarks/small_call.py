"""One small call after the other, a read and a create, over a socket."""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING, Final

from ._clients import installed, opened
from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._running import main
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.0)
READ_BAR: Final = Bar(0.45)
CREATE_BAR: Final = Bar(0.6)
OTHERS: Final = ("httpx2", "pyreqwest")
"""Peers that are shown and not judged."""


def measure(effort: Effort) -> list[Line]:
    """Measure it, each on a connection that is open."""
    clients = ("ferry", "httpx", "http_client", *installed("openai", *OTHERS))
    with Service(FEW) as service:
        with opened("fee", clients, service.base_url) as calls:
            contenders = {name: timed(call, effort.of(30, 2)) for name, call in calls.items()}
            figures = in_turn(contenders, rounds=effort.of(31))
        cpu = [
            _cpu("fee", "bookings.cancel_fee", READ_BAR, service.base_url, effort),
            _cpu("create", "bookings.create", CREATE_BAR, service.base_url, effort),
        ]
    what = "bookings.cancel_fee"
    read = compared(figures, what, "µs", BAR, ours="ferry", to="httpx", floor="http_client")
    return [read, *cpu]


def _cpu(kind: str, what: str, bar: Bar, base_url: str, effort: Effort) -> Line:
    with opened(kind, ("ferry", "httpx", *installed(*OTHERS)), base_url) as calls:
        contenders = {
            name: timed(call, effort.of(30, 2), clock=process_time) for name, call in calls.items()
        }
        figures = in_turn(contenders, rounds=effort.of(31))
    return compared(figures, f"CPU of {what}", "µs", bar, ours="ferry", to="httpx")


if __name__ == "__main__":
    sys.exit(main(["small_call", *sys.argv[1:]]))
