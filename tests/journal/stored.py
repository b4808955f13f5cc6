"""Makes the stored journals: a file of SQLite and a dump of PostgreSQL, with the same entries.

`python -m tests.journal.stored` writes those of the present tables to `tests/journal/stored/`. Run
it when a version adds tables or columns, give the files a new name, and keep the earlier ones:
`test_journal_stored.py` reads all of them. They have no traveller's data.
"""

import subprocess
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from unittest.mock import patch

from ferry_sdk.journal import Journal, snapshots, statements
from ferry_sdk.types import OrderRecord, OutcomeDetails
from tests.journal.intents import confirmation, intent, run_sql
from tests.support.postgres import Postgres, binaries

FOLDER = Path(__file__).parent / "stored"
MOMENT = datetime(2025, 1, 5, 10, tzinfo=UTC)
NAME = "version-0.1.0"
SETUP = ("--", "SET ", "\\", "SELECT pg_catalog.set_config", "CREATE SCHEMA", "COMMENT ON SCHEMA")
"""How the lines of a dump begin that concern its schema and its session."""


def fill(url):
    """Add an entry in each state, an order and a snapshot of long ago to a new journal."""
    moments = count()

    def tick():
        return MOMENT + timedelta(seconds=next(moments))

    with (
        patch.object(statements, "utc_now", tick),
        patch.object(snapshots, "utc_now", tick),
        Journal(url) as journal,
    ):
        created = journal.begin(intent(b"a family", correlation_id="order-1"))
        journal.end(created, "done", OutcomeDetails("b-ß-1"))
        confirmed = journal.begin(confirmation("b-ß-1", correlation_id="order-1"))
        journal.end(confirmed, "done", OutcomeDetails("b-ß-1", ("t-1", "t-2")))
        refused = journal.begin(confirmation("b-2", correlation_id="order-2"))
        journal.end(refused, "rejected", OutcomeDetails(status_code=409, code="BOOKING_EXPIRED"))
        journal.end(journal.begin(confirmation("b-3")), "not_sent")
        journal.end(journal.begin(confirmation("b-4")), "unknown")
        journal.settle(journal.begin(intent(b"a couple")), happened=True, booking_id="b-5")
        order = OrderRecord("1" * 32, "hold", "{}", None, is_finished=False, revision=0)
        journal.save_order(order)
        journal.begin(intent(b"a crew", correlation_id="order-6"))
        journal.save_snapshot("b-ß-1", "{}")
    moment = MOMENT.isoformat(" ", timespec="microseconds").removesuffix("+00:00")
    if not url.startswith("sqlite"):
        moment += "+00"
    changes = f"created_at = '{moment}', changed_at = '{moment}'"
    run_sql(url, f"UPDATE ferry_journal_orders SET {changes}")  # noqa: S608 -- of this module


def dump(server, url):
    """Return the statements that make the tables of a journal again, in any schema."""
    schema = url.rpartition("%3D")[2]
    options = ("--inserts", "--no-owner", "--no-privileges", f"--schema={schema}")
    address = ("--host", str(server.home), "--username", "ferry", "postgres")
    program = str(binaries() / "pg_dump")
    done = subprocess.run([program, *options, *address], capture_output=True, text=True, check=True)
    lines = done.stdout.replace(f"{schema}.", "").splitlines()
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(SETUP))


def main():
    """Write both files."""
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / f"{NAME}.db"
    file.unlink(missing_ok=True)
    fill(f"sqlite:///{file}")
    with Postgres(binaries()) as server:
        url = server.new_url()
        fill(url)
        (FOLDER / f"{NAME}.sql").write_text(dump(server, url), encoding="utf-8")


if __name__ == "__main__":
    main()
