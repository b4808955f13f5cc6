"""Kill a worker during a write, and recover the write from the journal."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

from ferry_sdk import Ferry, OutcomeUnknownError, Selection, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.models import PassengerDict
from ferry_sdk.sandbox import Sandbox

TRAVELLER: PassengerDict = {"type": "Adult", "first_name": "Nadia", "last_name": "Amrani"}


def work(url: str, booking_id: str) -> None:
    """Confirm a booking in the worker. The environment configures its client."""
    with Journal(url) as journal, Ferry(journal=journal) as ferry:
        ferry.bookings.confirm(booking_id)


def selection(ferry: Ferry) -> tuple[Selection, ...]:
    """Select the cheapest trip from Tarifa to Tangier."""
    trips = ferry.trips.search(
        "Tarifa",
        "Tangier (city)",
        on=date.today() + timedelta(days=30),
        passengers=[{"type": "Adult", "gender": "Female", "age": 61}],
        companies=["BALEARIA"],  # it issues tickets at once
    )
    return trips[0].select()


def kill_a_worker(sandbox: Sandbox, url: str, booking_id: str) -> None:
    """Start a worker that confirms a booking, and kill it before it receives the reply."""
    sandbox.faults.add("delay_after", "bookings.confirm", seconds=60)
    settings = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
    worker = subprocess.Popen(  # noqa: S603 -- this file
        [sys.executable, __file__, url, booking_id], env={**os.environ, **settings}
    )
    while not sandbox.counters.effects_of("bookings.confirm"):
        time.sleep(0.05)
    worker.kill()
    worker.wait()


def recover_all(ferry: Ferry, journal: Journal) -> None:
    """Recover earlier writes, as a worker does when it starts.

    With several workers, pass `older_than=` to leave out writes in progress.
    """
    for entry in journal.unresolved():
        try:
            ferry.recover(entry)
        except OutcomeUnknownError:
            print(f"{entry.operation}: ask the service about {entry.correlation_id}")
        else:
            print(f"{entry.operation}: done")


def main(sandbox: Sandbox, url: str) -> None:
    """Leave two writes unresolved. One can be read back, the other needs a person."""
    with (
        Journal(url) as journal,
        Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
    ):
        chosen = selection(ferry)
        booking = ferry.bookings.create(availabilities=chosen, passengers=[TRAVELLER])
        kill_a_worker(sandbox, url, booking.booking_id)

        sandbox.faults.add("cut_before", "bookings.create")
        try:
            ferry.bookings.create(availabilities=chosen, passengers=[TRAVELLER])
        except OutcomeUnknownError as error:
            print(f"A second booking may exist: {error}")

        recover_all(ferry, journal)

        try:
            ferry.bookings.create(availabilities=chosen, passengers=[TRAVELLER])
        except UnresolvedWriteError as error:
            print(f"Not sent: {error}")
            journal.settle(error.entry, happened=False)  # a person asked: there is no booking
        second = ferry.bookings.create(availabilities=chosen, passengers=[TRAVELLER])
        print(f"Second booking: {second.booking_reference}. Unresolved: {journal.unresolved()}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(*sys.argv[1:])
    else:
        with Sandbox() as service, tempfile.TemporaryDirectory() as folder:
            main(service, f"sqlite:///{Path(folder) / 'ferry.db'}")
