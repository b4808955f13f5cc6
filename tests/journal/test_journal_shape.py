"""Tables that a later version has extended, or that lack what this one has."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from ferry_sdk import JournalError
from ferry_sdk.journal import Journal
from ferry_sdk.types import OutcomeDetails
from tests.backend.gathering import at_once
from tests.journal.intents import confirmation, engine_for, intent, run_sql
from tests.support.exchanges import caught

ADDITIONS = [
    "ALTER TABLE ferry_journal ADD COLUMN remark TEXT",
    "ALTER TABLE ferry_journal ADD COLUMN priority INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE ferry_journal_about ADD COLUMN remark TEXT",
    "ALTER TABLE ferry_journal_orders ADD COLUMN remark TEXT",
    "ALTER TABLE ferry_journal_snapshots ADD COLUMN remark TEXT",
    "CREATE TABLE ferry_journal_wishes (id INTEGER PRIMARY KEY, content TEXT NOT NULL)",
]
REQUIRED = """
CREATE TABLE ferry_journal_snapshots (booking_id VARCHAR PRIMARY KEY, content TEXT NOT NULL,
saved_at TIMESTAMP NOT NULL, remark TEXT NOT NULL)
"""
LONG_AGO = datetime(2025, 1, 5, tzinfo=UTC)
REJECTED = OutcomeDetails(status_code=409, code="BOOKING_EXPIRED")


@pytest.fixture
def used_url(url):
    """The address of a journal with one open entry."""
    with Journal(url) as journal:
        journal.begin(confirmation("b1"))
    return url


@pytest.fixture
def read_only_url(tmp_path):
    """The address of a file that lacks a column, and that may only be read."""
    path = tmp_path / "journal.db"
    with Journal(f"sqlite:///{path}") as journal:
        journal.begin(confirmation("b1"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE ferry_journal DROP COLUMN code")
    return f"sqlite:///file:{path}?mode=ro&uri=true"


def names_of(url):
    engine = engine_for(url)
    with engine.connect() as connection:
        names = connection.exec_driver_sql("SELECT * FROM ferry_journal").keys()
    engine.dispose()
    return set(names)


@pytest.mark.parametrize("statement", ADDITIONS)
def test_what_a_later_version_added_is_ignored(used_url, statement):
    run_sql(used_url, statement)
    with Journal(used_url) as journal:
        (entry,) = journal.unresolved()
        journal.end(entry.id, "done")
        journal.save_snapshot("b1", "{}")
        assert journal.entry(journal.begin(intent())).damaged == ()


@pytest.mark.parametrize("column", ["code", "status_code", "ticket_ids"])
def test_missing_column_is_added(used_url, column):
    run_sql(used_url, f"ALTER TABLE ferry_journal DROP COLUMN {column}")
    with Journal(used_url) as journal:
        (entry,) = journal.unresolved()
        journal.end(entry.id, "rejected", REJECTED)
        assert journal.entry(entry.id).code == "BOOKING_EXPIRED"
    assert column in names_of(used_url)


@pytest.mark.parametrize(
    "table", ["ferry_journal_orders", "ferry_journal_snapshots", "ferry_journal_departures"]
)
def test_missing_table_is_added(used_url, table):
    run_sql(used_url, f"DROP TABLE {table}")
    with Journal(used_url) as journal:
        journal.save_snapshot("b1", "{}")
        assert journal.load_orders() == ()
    assert run_sql(used_url, f"SELECT count(*) FROM {table}")  # noqa: S608 -- one of two


def test_read_only_file_without_departures_lists_bookings(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(f"sqlite:///{path}") as journal:
        journal.begin(confirmation("b1"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE ferry_journal_departures")
    with Journal(f"sqlite:///file:{path}?mode=ro&uri=true") as journal:
        assert [*journal.booking_ids(departs_after=LONG_AGO)] == ["b1"]
        assert journal.load_departures(["b1"]) == {"b1": (None, 0)}


def test_several_add_a_column_at_the_same_moment(used_url):
    run_sql(used_url, "ALTER TABLE ferry_journal DROP COLUMN code")
    journals = [Journal(used_url) for _ in range(4)]
    try:
        calls = at_once(*(journal.unresolved for journal in journals))
        entries = [call.value() for call in calls]
    finally:
        for journal in journals:
            journal.close()
    assert [len(each) for each in entries] == [1] * 4


@pytest.mark.parametrize(
    "statements",
    [
        ["ALTER TABLE ferry_journal DROP COLUMN method"],
        ["DROP TABLE ferry_journal_snapshots", REQUIRED],
    ],
    ids=["missing", "required"],
)
def test_other_shape_is_refused_with_what_to_do(used_url, statements):
    for statement in statements:
        run_sql(used_url, statement)
    with Journal(used_url) as journal:
        error = caught(JournalError, journal.begin, intent())
    assert "then start a new journal" in str(error)


def test_file_that_may_only_be_read_is_read(read_only_url):
    with Journal(read_only_url) as journal:
        (entry,) = journal.unresolved()
    assert (entry.subject, entry.code, entry.damaged) == ({"booking_id": "b1"}, None, ())


def test_incomplete_read_only_file_takes_no_write(read_only_url):
    with Journal(read_only_url) as journal:
        error = caught(JournalError, journal.begin, intent())
    assert "the journal lacks code" in str(error)


@pytest.fixture
def incomplete(postgres):
    """The address of a journal on PostgreSQL that lacks a column, and has one open entry."""
    url = postgres.new_url()
    with Journal(url) as journal:
        journal.begin(confirmation("b1"))
    run_sql(url, "ALTER TABLE ferry_journal DROP COLUMN code")
    return url


def url_of_role(url, right):
    """The address for a new role that has a right on the tables, and may not change them."""
    schema = url.rpartition("%3D")[2]
    role = f"{right}_of_{schema}".lower()
    run_sql(url, f"CREATE ROLE {role} LOGIN")
    run_sql(url, f"GRANT USAGE ON SCHEMA {schema} TO {role}")
    run_sql(url, f"GRANT {right} ON ALL TABLES IN SCHEMA {schema} TO {role}")
    return url.replace("ferry@", f"{role}@")


def test_role_that_may_not_change_tables_reads(incomplete):
    with Journal(url_of_role(incomplete, "SELECT")) as journal:
        assert [entry.damaged for entry in journal.unresolved()] == [()]


def test_journal_is_written_once_its_column_was_added(incomplete):
    with Journal(url_of_role(incomplete, "ALL")) as clerk:
        caught(JournalError, clerk.begin, intent())
        with Journal(incomplete) as owner:
            owner.unresolved()
        assert clerk.begin(intent())
