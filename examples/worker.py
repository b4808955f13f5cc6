"""A worker for what follows a sale: recover writes, watch bookings until they depart, remind.

Set FERRY_TOKEN and FERRY_BASE_URL, and run `python worker.py sqlite:///ferry.db` with the journal
of the program that sells. SIGTERM ends it, after the event that it works on. Without an argument it
runs a demonstration against the local service.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

from ferry_sdk import BookingCreated, Ferry, FerryError
from ferry_sdk.aftersales import BookingEvent, watch
from ferry_sdk.journal import Journal
from ferry_sdk.models import PassengerDict
from ferry_sdk.sandbox import Sandbox

ROUND = 300.0
"""Seconds after which the worker looks for new bookings and unresolved writes."""
REMIND = (timedelta(days=1), timedelta(hours=2))
LONGEST_CALL = 30


class Stop:
    """Ends the process on SIGTERM: at once while it waits, else after the present event."""

    def __init__(self) -> None:
        self.is_requested = False
        self.is_busy = False
        signal.signal(signal.SIGTERM, self._request)

    def __enter__(self) -> None:
        self.is_busy = True

    def __exit__(self, *_: object) -> None:
        self.is_busy = False
        if self.is_requested:
            sys.exit(0)

    def _request(self, *_: object) -> None:
        self.is_requested = True
        if not self.is_busy:
            sys.exit(0)


def recover(ferry: Ferry, journal: Journal, *, spare: float) -> None:
    """Read back the writes of processes that died. What remains needs a person."""
    for entry in journal.unresolved(older_than=spare):
        try:
            ferry.recover(entry)
        except FerryError as error:
            print(f"ask: {entry.operation} {entry.correlation_id}: {error}", flush=True)


def react(event: BookingEvent) -> None:
    """Do what an event asks for. It may come again, so a repetition must do no harm."""
    details = f" {event.leg} {event.departs_at}" if event.departs_at else ""
    if event.kind == "lapsing" and event.booking is not None:
        details = f" until {event.booking.expire_at}"
    print(f"{event.kind}: {event.booking_id}{details}", flush=True)


def work(
    url: str,
    *,
    react: Callable[[BookingEvent], None] = react,
    spare: float = 2 * LONGEST_CALL,
) -> None:
    """Work until SIGTERM. The environment configures the client."""
    stop = Stop()
    with Journal(url) as journal, Ferry(journal=journal, deadline=LONGEST_CALL) as ferry:
        while True:
            with stop:
                recover(ferry, journal, spare=spare)
            end = time.monotonic() + ROUND
            for event in watch(
                ferry, None, deadline=ROUND, journal=journal, until="departure", remind=REMIND
            ):
                with stop:
                    react(event)
            time.sleep(max(end - time.monotonic(), 0))  # no booking is left to watch


def sell(ferry: Ferry) -> BookingCreated:
    """Book the cheapest trip from Tarifa to Tangier."""
    trips = ferry.trips.search(
        "Tarifa",
        "Tangier (city)",
        on=date.today() + timedelta(days=30),
        passengers=[{"type": "Adult", "gender": "Female", "age": 61}],
        companies=["BALEARIA"],  # it issues tickets at once
    )
    traveller: PassengerDict = {"type": "Adult", "first_name": "Nadia", "last_name": "Amrani"}
    return ferry.bookings.create(availabilities=trips[0].select(), passengers=[traveller])


def main(sandbox: Sandbox, url: str) -> None:
    """Sell twice, confirm one booking, let the other nearly lapse, and stop the worker."""
    settings = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
    with (
        Journal(url) as journal,
        Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
    ):
        confirmed, waiting = sell(ferry), sell(ferry)
        ferry.bookings.confirm(confirmed.booking_id)
        deadline = ferry.bookings.get(waiting.booking_id).expire_at
        assert isinstance(deadline, datetime)
        sandbox.clock.travel_to(deadline - timedelta(minutes=20))
        worker = subprocess.Popen(  # noqa: S603 -- this file
            [sys.executable, __file__, url],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert worker.stdout is not None
        names = {confirmed.booking_id: "the first", waiting.booking_id: "the second"}
        for line in sorted(worker.stdout.readline() for _ in range(2)):
            verb, booking_id, *rest = line.split()
            print(verb, names[booking_id], *rest)
        worker.send_signal(signal.SIGTERM)
        print("the worker ended with", worker.wait())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(sys.argv[1])
    else:
        with Sandbox() as service, tempfile.TemporaryDirectory() as folder:
            main(service, f"sqlite:///{Path(folder) / 'ferry.db'}")
