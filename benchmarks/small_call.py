"""Small calls one after another, a read and a create, over a socket."""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING, Final

from ._clients import list_installed, open_calls
from ._command import main
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing
from ._service import FEW, Service

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.0)
READ_BAR: Final = Bar(0.45)
CREATE_BAR: Final = Bar(0.6)
OTHERS: Final = ("httpx2", "pyreqwest")
"""Peers that are shown and not judged."""


def measure(effort: Effort) -> list[Line]:
    """Measure them, each on a connection that is open."""
    clients = ("ferry", "httpx", "http_client", *list_installed("openai", *OTHERS))
    with Service(FEW) as service:
        with open_calls("fee", clients, service.base_url) as calls:
            contenders = {name: timing(call, effort.of(30, 2)) for name, call in calls.items()}
            figures = measure_in_turn(contenders, rounds=effort.of(31))
        cpu = [
            _measure_cpu(service.base_url, "fee", "bookings.cancel_fee", READ_BAR, effort),
            _measure_cpu(service.base_url, "create", "bookings.create", CREATE_BAR, effort),
        ]
    what = "bookings.cancel_fee"
    read = compare(figures, what, unit="µs", bar=BAR, ours="ferry", to="httpx", floor="http_client")
    return [read, *cpu]


def _measure_cpu(base_url: str, work: str, what: str, bar: Bar, effort: Effort) -> Line:
    with open_calls(work, ("ferry", "httpx", *list_installed(*OTHERS)), base_url) as calls:
        contenders = {
            name: timing(call, effort.of(30, 2), clock=process_time) for name, call in calls.items()
        }
        figures = measure_in_turn(contenders, rounds=effort.of(31))
    return compare(figures, f"CPU of {what}", unit="µs", bar=bar, ours="ferry", to="httpx")


if __name__ == "__main__":
    sys.exit(main(["small_call", *sys.argv[1:]]))
