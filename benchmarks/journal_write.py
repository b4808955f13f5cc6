"""The entry of a write in a journal: its intent before it is sent, and its outcome after it."""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from itertools import count
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from ferry_sdk.journal import Journal
from ferry_sdk.types import Intent, OutcomeDetails

from ._command import main
from ._journal import connect_durably, table_statements
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from ._measure import Effort

BAR: Final = Bar(2.5)
FOR_READERS: Final = ("ferry_journal_without_effect", "ferry_journal_correlation")
"""Indexes that only reads need; without them, the floor costs less than the journal."""

_INSERT: Final = """
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state,
created_at, changed_at, booking_id) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (
SELECT id FROM ferry_journal WHERE state NOT IN ('done', 'rejected', 'not_sent') AND (
length(fingerprint) != 64 OR ltrim(fingerprint, '0123456789abcdef') != '' OR fingerprint >= 'g'))
"""
_UPDATE: Final = """
UPDATE ferry_journal SET state = ?, changed_at = ?, booking_id = ?, status_code = ?, code = ?
WHERE id = ? AND state NOT IN ('done')
"""


def measure(effort: Effort) -> list[Line]:
    """Record a create and its outcome, and commit the same two statements without a journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with (
            Journal(f"sqlite:///{path / 'journal.db'}") as journal,
            closing(connect_durably(str(path / "plain.db"))) as connection,
        ):
            for statement in table_statements(without=FOR_READERS):
                connection.execute(statement)

            contenders = {
                "ours": partial(_by_journal, journal, count()),
                "sqlite3": partial(_by_sqlite, connection, count()),
            }
            calls = effort.of(50, 2)
            works = {
                name: timing(work, calls, clock=process_time) for name, work in contenders.items()
            }
            figures = measure_in_turn(works, rounds=effort.of(31))
    what = "CPU of begin and end in SQLite"
    return [compare(figures, what, unit="µs", bar=BAR, ours="ours", to="sqlite3")]


def _by_journal(journal: Journal, numbers: Iterator[int]) -> None:
    number = next(numbers)
    intent = Intent(
        operation="bookings.create",
        effect="bookings.create",
        method="POST",
        path="booking",
        subject={},
        identity=f"{number}".encode(),
        correlation_id=f"order-{number}",
    )

    entry_id = journal.begin(intent)
    journal.end(entry_id, "done", OutcomeDetails(f"booking-{number}"))


def _by_sqlite(connection: sqlite3.Connection, numbers: Iterator[int]) -> None:
    number = next(numbers)
    entry_id = uuid4().hex
    began = _now()
    fingerprint = blake2b(f"{number}".encode(), digest_size=32).hexdigest()
    what = ("bookings.create", "POST", "booking", "{}", f"order-{number}", fingerprint, "open")
    connection.execute(_INSERT, (entry_id, *what, began, began, None))
    outcome = ("done", _now(), f"booking-{number}", None, None)
    connection.execute(_UPDATE, (*outcome, entry_id))


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"


if __name__ == "__main__":
    sys.exit(main(["journal_write", *sys.argv[1:]]))
