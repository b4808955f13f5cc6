"""Book the trips of a CSV file, and write the bookings to another. A killed run can be resumed.

    python batch.py trips.csv bookings.csv

The file `bookings.csv.db` stores the state of each trip, `bookings.csv.journal` every write, and
`bookings.csv.routes` who sails where. The name of a trip is its idempotency key, so no trip is
booked twice. If the outcome of a booking is unknown, a person has to ask the service about its
correlation id, and settles it in the journal. Without arguments, three sample trips are booked
against the local service.
"""

from __future__ import annotations

import csv
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import track

from ferry_sdk import (
    AlreadyDoneError,
    AmbiguousPlaceError,
    BookingConfirmError,
    BookingCreateError,
    Ferry,
    FerryError,
    IdempotencyError,
    OutcomeUnknownError,
    PriceChangedError,
    UnknownPlaceError,
    UnresolvedWriteError,
)
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox

COLUMNS: Final = (
    "trip",
    "state",
    "booking_id",
    "reference",
    "total",
    "ticket",
    "correlation_id",
)
FINISHED: Final = {"refused", "ticketed", "voided", "lapsed", "rejected"}
REFUSALS: Final = (
    AmbiguousPlaceError,
    UnknownPlaceError,
    BookingCreateError,
    BookingConfirmError,
    PriceChangedError,
)
"""Errors that another run would raise again. The next run retries all others."""

Row = Mapping[str, str]


class Progress:
    """The state of each trip, written to disk before the next step.

    The state of a trip is the stage of its booking. It is `refused` if the service rejects it or
    the price is too high, and `ask` if a person has to ask the service whether the booking exists.
    """

    def __init__(self, path: Path) -> None:
        self._rows = sqlite3.connect(path, isolation_level=None)  # each statement is a commit
        self._rows.execute("PRAGMA locking_mode = EXCLUSIVE")  # one run at a time
        columns = ", ".join(f"{name} TEXT" for name in COLUMNS[1:])
        self._rows.execute(f"CREATE TABLE IF NOT EXISTS trips (trip TEXT PRIMARY KEY, {columns})")

    def of(self, trip: str) -> dict[str, str]:
        """Return the row of a trip; empty if it has not started."""
        found = self._rows.execute("SELECT * FROM trips WHERE trip = ?", (trip,)).fetchone()
        return dict(zip(COLUMNS, found, strict=True)) if found else {}

    def note(self, trip: str, **known: str) -> None:
        """Update columns of a trip. The others keep their values."""
        row = {**dict.fromkeys(COLUMNS, ""), **self.of(trip), "trip": trip, **known}
        self._rows.execute(
            "INSERT OR REPLACE INTO trips VALUES (?, ?, ?, ?, ?, ?, ?)", [*row.values()]
        )

    def close(self) -> None:
        """Close the file."""
        self._rows.close()


def book(ferry: Ferry, row: Row, progress: Progress) -> None:
    """Create the booking of a trip, or read it if an earlier run has created it."""
    trip = ferry.trips.search(
        row["origin"],
        row["destination"],
        on=row["date"],
        passengers=[{"type": "Adult", "gender": "Female", "age": int(row["age"])}],
        companies=[row["company"]],
    ).best()
    if trip is None or trip.price > Decimal(row["most"]):
        progress.note(row["trip"], state="refused")
        return
    booking = ferry.bookings.create(
        availabilities=trip.select(),
        passengers=[
            {"type": "Adult", "first_name": row["first_name"], "last_name": row["last_name"]}
        ],
        idempotency_key=row["trip"],
    )
    progress.note(
        row["trip"],
        state=booking.stage.value,
        booking_id=booking.booking_id,
        reference=booking.booking_reference,
        total=str(trip.price),
        correlation_id="",
    )


def confirm(ferry: Ferry, trip: str, progress: Progress) -> None:
    """Confirm at the found price, unless an earlier run has already confirmed."""
    known = progress.of(trip)
    booking = ferry.bookings.get(known["booking_id"])
    if booking.stage == "payment_due":
        with suppress(AlreadyDoneError):  # by an earlier run, since this booking was read
            ferry.bookings.confirm(booking.booking_id, expect_total=known["total"])
        booking = ferry.bookings.get(booking.booking_id)
    ticket = booking.tickets[0].ticket_number or ""
    progress.note(trip, state=booking.stage.value, ticket=ticket)


def process_trip(ferry: Ferry, row: Row, progress: Progress) -> None:
    """Book and confirm a trip. After a failure, the next run continues."""
    name = row["trip"]
    try:
        if progress.of(name).get("state") in {None, "ask"}:
            book(ferry, row, progress)
        if progress.of(name)["state"] not in FINISHED:
            confirm(ferry, name, progress)
    except REFUSALS:
        progress.note(name, state="refused")
    except FerryError as error:
        is_booked = bool(progress.of(name).get("booking_id"))
        if isinstance(error, UnresolvedWriteError | IdempotencyError) and not is_booked:
            progress.note(name, state="ask", correlation_id=error.entry.correlation_id)
        elif isinstance(error, OutcomeUnknownError) and not is_booked:
            progress.note(name, state="ask", correlation_id=error.correlation_id or "")


def recover_all(ferry: Ferry, journal: Journal) -> None:
    """Recover writes of earlier runs. Bookings that no reply named stay unresolved."""
    for entry in journal.unresolved():
        with suppress(OutcomeUnknownError):
            ferry.recover(entry)


def run(trips: Path, bookings: Path, *, token: str | None, base_url: str | None) -> None:
    """Process every trip, and write the results atomically."""
    with trips.open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    with (
        closing(Progress(Path(f"{bookings}.db"))) as progress,
        Journal(f"sqlite:///{bookings}.journal") as journal,
        Ferry(token, base_url=base_url, journal=journal, route_cache=f"{bookings}.routes") as ferry,
    ):
        recover_all(ferry, journal)
        for row in track(rows, "Booking", console=Console(stderr=True)):
            process_trip(ferry, row, progress)
        part = bookings.with_suffix(".part")
        with part.open("w", newline="", encoding="utf-8") as file:
            writer: csv.DictWriter[str] = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows({"trip": row["trip"], **progress.of(row["trip"])} for row in rows)
        part.replace(bookings)


def write_trips(path: Path) -> None:
    """Write three trips from Tarifa to Tangier, the last with a limit below all prices."""
    day = date.today() + timedelta(days=30)
    lines = [
        "trip,company,origin,destination,date,age,first_name,last_name,most",
        f"t1,BALEARIA,Tarifa,MATNG,{day},34,Ada,Reyes,90",
        f"t2,BALEARIA,Tarifa,MATNG,{day},61,Nadia,Amrani,90",
        f"t3,BALEARIA,Tarifa,MATNG,{day},52,Iker,Soler,1.50",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Book the trips of the given file, or three sample trips."""
    if len(sys.argv) > 1:
        trips, bookings = map(Path, sys.argv[1:])
        run(trips, bookings, token=None, base_url=None)
        return
    with Sandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
        trips, bookings = Path(folder) / "trips.csv", Path(folder) / "bookings.csv"
        write_trips(trips)
        run(trips, bookings, token=sandbox.token, base_url=sandbox.base_url)
        print(bookings.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
