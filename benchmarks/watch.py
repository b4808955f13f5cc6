"""Watching 10,000 bookings: whether a rate holds, what it needs, and who is read first."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from datetime import UTC, datetime, timedelta
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

from ._lines import Bar, Line, Unit
from ._running import main

if TYPE_CHECKING:
    from ._measure import Effort

BOOKINGS: Final = 10_000
URGENT: Final = 100
RATE: Final = 20
SECONDS: Final = 15.0
BAR: Final = Bar(1)
RATE_BAR: Final = Bar(1.1)
MEMORY: Final = 20e6
OWN_WORK: Final = 1e-3
NOW: Final = datetime(2050, 5, 3, 9, tzinfo=UTC)


def measure(effort: Effort) -> list[Line]:
    """Watch at a rate on the local service, and then without a network in virtual time."""
    number = effort.of(BOOKINGS, 200)
    return [_rate(number, effort), *_virtual(number)]


def _rate(number: int, effort: Effort) -> Line:
    """Count the requests of a second; the service has none of the bookings, and says so."""
    seconds = SECONDS if not effort.is_tiny else 0.5
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


def _virtual(number: int) -> list[Line]:
    """Read every booking once: by CPU time, by memory, and by who comes first."""
    urgent = {f"booking-{index}" for index in range(0, number, number // URGENT)}
    far, near = (_booking(NOW + timedelta(hours=hours)) for hours in (240, 1))
    given = [
        (near if name in urgent else far).model_copy(update={"booking_id": name})
        for name in (f"booking-{index}" for index in range(number))
    ]
    records = {one.booking_id: one for one in given}
    gc.collect()
    tracemalloc.start()
    reads: list[str] = []
    watcher = Watcher(given, deadline=3600, schedule=Schedule(lambda: 0.0, NOW.timestamp))
    _read_all(watcher, records, reads)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    first = max(reads.index(name) for name in urgent) + 1

    again = Watcher(given, deadline=3600, schedule=Schedule(lambda: 0.0, NOW.timestamp))
    began = process_time()
    _read_all(again, records, [])
    work = (process_time() - began) / number
    return [
        _line(f"memory of {number:,} watched", "MB", held, MEMORY, "20 MB"),
        _line("own work of a read", "µs", work, OWN_WORK, "1 ms"),
        _line(f"reads until {len(urgent)} urgent ones", "calls", first, len(urgent), "them"),
    ]


def _read_all(watcher: Watcher, records: dict[str, Booking], reads: list[str]) -> None:
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
        reply = SimpleNamespace(headers=headers, parse=lambda: records[booking_id])  # noqa: B023 -- it is called before the next booking
        answer = step.batch.answer(begun[0], reply, None)


def _booking(limit: datetime) -> Booking:
    """A booking that awaits its payment."""
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


def _line(what: str, unit: Unit, ours: float, limit: float, to: str) -> Line:
    return Line(what=what, unit=unit, ours=ours, ratio=ours / limit, to=to, bar=BAR)


if __name__ == "__main__":
    sys.exit(main(["watch", *sys.argv[1:]]))
