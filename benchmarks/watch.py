"""A watch of 10,000 bookings: its rate, its memory, its CPU time, and what it reads first."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from datetime import datetime, timedelta
from time import monotonic, process_time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import Booking, Ferry, Rate
from ferry_sdk._engine.batch import NextAnswer
from ferry_sdk._engine.effects import Sleep
from ferry_sdk.aftersales import watch
from ferry_sdk.aftersales.schedule import Schedule
from ferry_sdk.aftersales.watcher import Watcher
from ferry_sdk.sandbox import Sandbox

from ._command import main
from ._lines import Bar, Line, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._measure import Effort

BOOKINGS: Final = 10_000
URGENT: Final = 100
RATE: Final = 20
SECONDS: Final = 15.0
BAR: Final = Bar(1)
RATE_BAR: Final = Bar(1.1)
MEMORY: Final = 20e6
OWN_WORK: Final = 1e-3
NOW: Final = datetime.fromisoformat("2050-05-03T09:00:00+00:00")


def measure(effort: Effort) -> list[Line]:
    """Watch at a rate on the local service, and then without a network, while no time passes."""
    number = effort.of(BOOKINGS, 200)
    return [_measure_rate(number, effort), *_measure_watcher(number)]


def _measure_rate(number: int, effort: Effort) -> Line:
    """Measure the requests in a second. The service has none of the bookings, and refuses each."""
    seconds = 0.5 if effort.is_tiny else SECONDS
    with (
        Sandbox() as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url, limiter=Rate(f"{RATE}/second")) as ferry,
    ):
        ids = [f"booking-{index}" for index in range(number)]
        began = monotonic()
        for _ in watch(ferry, ids, deadline=seconds):
            pass
        spent = monotonic() - began
        sent = sandbox.counters.requests["bookings.get"] / spent
    return Line(
        what=f"requests for {number:,} under {RATE}/second",
        unit="calls/s",
        ours=sent,
        ratio=sent / RATE,
        to="the rate",
        bar=RATE_BAR,
        floor={"the rate": RATE},
    )


def _measure_watcher(number: int) -> list[Line]:
    """Read every booking once. Measure memory, CPU time, and when the urgent ones are read."""
    urgent = {f"booking-{index}" for index in range(0, number, number // URGENT)}
    far = _booking(NOW + timedelta(hours=240))
    near = _booking(NOW + timedelta(hours=1))
    bookings: dict[str, Booking] = {}
    for index in range(number):
        booking_id = f"booking-{index}"
        booking = near if booking_id in urgent else far
        bookings[booking_id] = booking.model_copy(update={"booking_id": booking_id})

    gc.collect()
    tracemalloc.start()
    reads: list[str] = []
    watcher = _watcher_of(bookings)
    _read_all(watcher, bookings, reads)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    reads_until_urgent = max(reads.index(booking_id) for booking_id in urgent) + 1

    watcher = _watcher_of(bookings)
    began = process_time()
    _read_all(watcher, bookings, [])
    work = (process_time() - began) / number

    return [
        _line(f"memory of {number:,} watched", "MB", ours=held, limit=MEMORY, to="20 MB"),
        _line("own work of a read", "µs", ours=work, limit=OWN_WORK, to="1 ms"),
        _line(
            f"reads until {len(urgent)} urgent ones",
            "calls",
            ours=reads_until_urgent,
            limit=len(urgent),
            to="them",
        ),
    ]


def _watcher_of(bookings: Mapping[str, Booking]) -> Watcher:
    """Return a watcher of bookings, whose clock stands still."""
    schedule = Schedule(lambda: 0.0, NOW.timestamp)
    return Watcher(bookings.values(), deadline=3600, schedule=schedule)


def _read_all(watcher: Watcher, bookings: Mapping[str, Booking], reads: list[str]) -> None:
    """Answer each read at once, until the watch would wait."""
    headers = {"date": f"{NOW:%a, %d %b %Y %H:%M:%S} GMT"}
    steps: Any = watcher.steps()
    answer: object = None
    while not isinstance(step := steps.send(answer), Sleep):
        assert isinstance(step, NextAnswer)  # noqa: S101 -- there is no journal, and no event
        begun = step.batch.start_next(0)
        assert begun is not None  # noqa: S101 -- there is no deadline
        booking_id = begun[1].key.booking_id
        reads.append(booking_id)
        reply = SimpleNamespace(headers=headers, parse=lambda: bookings[booking_id])  # noqa: B023 -- it is called before the next booking
        answer = step.batch.answer(begun[0], reply, None)


def _booking(limit: datetime) -> Booking:
    """Return a booking that is to be paid before a limit."""
    crossing = {
        "depart_at": "2050-06-02T21:30:00+02:00",
        "arrive_at": "2050-06-03T17:00:00+01:00",
        "depart_port_name": "Marseille",
        "arrive_port_name": "Tunis",
        "duration_minutes": 1170,
    }
    ticket: dict[str, Any] = {
        "id": "t1",
        "status": "Blocked",
        "ticket_number": None,
        "pdf_url": None,
        "direction": "OUTWARD",
        "vehicle": None,
        "passengers": [],
        "availability": {"outward": {"journey": crossing}},
    }
    pay: dict[str, Any] = {
        "type": "mandatory",
        "timeLimit": limit.isoformat(),
        "requestedItems": {},
    }
    return Booking.model_validate(
        {
            "booking_id": "b1",
            "booking_reference": "REF",
            "stage": "payment_due",
            "possible_actions": {"Pay": pay},
            "status": "Blocked",
            "payment_status": "unpaid",
            "all_tickets_paid": False,
            "ticket_count": 1,
            "total_price": 50,
            "currency": "EUR",
            "expire_at": limit.isoformat(),
            "pricing": None,
            "tickets": [ticket],
        }
    )


def _line(what: str, unit: Unit, *, ours: float, limit: float, to: str) -> Line:
    return Line(what=what, unit=unit, ours=ours, ratio=ours / limit, to=to, bar=BAR)


if __name__ == "__main__":
    sys.exit(main(["watch", *sys.argv[1:]]))
