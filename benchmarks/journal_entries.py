"""The entries of a state, and of a correlation id, in a journal of 300,000."""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk.journal import Journal
from ferry_sdk.types import JournalEntry

from ._command import main
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._measure import Effort

BAR: Final = Bar(2)
ENTRIES: Final = 300_000
WANTED: Final = 100
"""The entries that each question gives."""
START: Final = datetime(2026, 1, 1, microsecond=1, tzinfo=UTC)
_COLUMNS: Final = (
    "id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, "
    "changed_at, booking_id, ticket_ids, status_code, code"
)
_INSERT: Final = f"INSERT INTO ferry_journal ({_COLUMNS}) VALUES ({', '.join('?' * 14)})"  # noqa: S608 -- a constant
_SELECT: Final = f"SELECT {_COLUMNS} FROM ferry_journal INDEXED BY"  # noqa: S608 -- a constant
_ORDER: Final = "ORDER BY created_at, id"
QUESTIONS: Final[Mapping[str, tuple[dict[str, Any], str]]] = {
    "state": (
        {"state": "rejected"},
        f"""{_SELECT} ferry_journal_without_effect WHERE state = 'rejected'
        AND state IN ('rejected', 'not_sent') {_ORDER}""",
    ),
    "correlation_id": (
        {"correlation_id": "order-7"},
        f"""{_SELECT} ferry_journal_correlation WHERE correlation_id = 'order-7'
        AND length(correlation_id) <= 200 {_ORDER}""",
    ),
}


def measure(effort: Effort) -> list[Line]:
    """Ask a journal, and then its file by `sqlite3`, with the index that the question needs."""
    number = effort.of(ENTRIES, 1000)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "journal.db")
        with (
            Journal(f"sqlite:///{path}") as journal,
            closing(sqlite3.connect(path, isolation_level=None)) as connection,
        ):
            journal.unresolved()  # makes the tables
            connection.execute("BEGIN")
            connection.executemany(_INSERT, _rows(number))
            connection.execute("COMMIT")
            return [
                _measure_question(name, journal, connection, number=number, effort=effort)
                for name in QUESTIONS
            ]


def _measure_question(
    name: str, journal: Journal, connection: sqlite3.Connection, *, number: int, effort: Effort
) -> Line:
    filters, query = QUESTIONS[name]
    ask: Any = partial(journal.entries, **filters)
    ask_plainly = partial(_by_sqlite, connection, query)
    assert ask() == ask_plainly()  # noqa: S101 -- else they are not comparable

    calls = effort.of(10)
    contenders = {
        "ours": timing(ask, calls, process_time),
        "sqlite3": timing(ask_plainly, calls, process_time),
    }
    figures = measure_in_turn(contenders, rounds=effort.of(31))
    what = f"CPU of entries({name}=), {WANTED} of {number:,}"
    return compare(figures, what, unit="µs", bar=BAR, ours="ours", to="sqlite3")


def _by_sqlite(connection: sqlite3.Connection, query: str) -> tuple[JournalEntry, ...]:
    """Return the entries of a query, with the values that a journal gives."""
    return tuple(_entry(*row) for row in connection.execute(query))


def _entry(*row: Any) -> JournalEntry:  # noqa: ANN401 -- of a database
    entry_id, operation, method, path, subject, correlation_id, fingerprint, state, *more = row
    created_at, changed_at, booking_id, ticket_ids, status_code, code = more
    return JournalEntry(
        id=entry_id,
        operation=operation,
        method=method,
        path=path,
        subject=json.loads(subject),
        correlation_id=correlation_id,
        fingerprint=fingerprint,
        state=state,
        created_at=datetime.fromisoformat(created_at).replace(tzinfo=UTC),
        changed_at=datetime.fromisoformat(changed_at).replace(tzinfo=UTC),
        booking_id=booking_id,
        ticket_ids=None if ticket_ids is None else tuple(json.loads(ticket_ids)),
        status_code=status_code,
        code=code,
    )


def _rows(number: int) -> Iterator[tuple[object, ...]]:
    """Yield the rows: a hundred are rejected, a hundred are of one order, evenly distributed."""
    distance = number // WANTED
    for index in range(number):
        moment = f"{START + timedelta(seconds=index):%Y-%m-%d %H:%M:%S.%f}"
        state = "rejected" if index % distance == 1 else "done"
        order = "order-7" if index % distance == 2 else f"order-of-{index}"  # noqa: PLR2004 -- any other
        what = ("bookings.create", "POST", "booking", "{}", order, f"{index:064x}", state)
        yield (f"{index:032x}", *what, moment, moment, f"booking-{index}", None, None, None)


if __name__ == "__main__":
    sys.exit(main(["journal_entries", *sys.argv[1:]]))
