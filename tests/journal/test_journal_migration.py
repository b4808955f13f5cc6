"""Journals of older versions: they are migrated on first use, and keep what they hold."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import event, inspect

from ferry_sdk import ConfigurationError, Ferry, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.journal.schema import SCHEMA, entries, metadata
from tests.journal.databases import engine_for, run_sql
from tests.journal.intents import confirmation, intent
from tests.support.tiers import mostly_long
from tests.support.trip import booked

# The dumps of two journals that version 1 wrote, with eleven entries each: finished, rejected, not
# sent, unknown and open ones.
DUMPS = {
    name: Path(__file__).with_name(f"journal_v1_{name}.sql").read_text("utf-8")
    for name in ("sqlite", "postgresql")
}
COLUMNS = [column.name for column in entries.c][:10]
"""Those of version 1."""
CONFIRMED = {
    "sqlite": "6187d575-c34f-41a7-b237-8c76500ecd79",
    "postgresql": "2c06685c-dd5c-42dc-97ab-a7ad23f3b5c2",
}
IN_DOUBT = {
    "sqlite": "f56790f2-d666-4097-a478-1d2d4e162b1e",
    "postgresql": "2c97d8b6-4416-4fcd-8d66-732becbd9318",
}
"""The booking whose confirmation is ``unknown``."""


def kind_of(url: str) -> str:
    return url.partition(":")[0]


def restore(url: str, *, change: tuple[str, str] = ("", "")) -> str:
    """Make the journal of version 1 in an empty database, with one text replaced."""
    dump = DUMPS[kind_of(url)].replace(*change) if change[0] else DUMPS[kind_of(url)]
    if kind_of(url) == "sqlite":
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(dump)
    else:
        import psycopg

        with psycopg.connect(url) as connection:
            connection.execute(dump.encode())
    return url


@pytest.fixture
def old(url):
    return restore(url)


def rows(url, columns=COLUMNS):
    return run_sql(url, f"SELECT {', '.join(columns)} FROM ferry_journal ORDER BY id")  # noqa: S608 -- our own


def add_as_version_1(url):
    """Begin the confirmation of booking b-1, as a process of version 1 does."""
    values = (
        "a" * 32,
        *("bookings.confirm", "POST", "/api/booking/confirm", '{"booking_id": "b-1"}', "c-1"),
        *("a" * 64, "open", "2026-11-22 13:00:00.000001", "2026-11-22 13:00:00.000001"),
    )
    run_sql(url, f"INSERT INTO ferry_journal ({', '.join(COLUMNS)}) VALUES {values}")  # noqa: S608 -- our own


def check_migrated(url):
    engine = engine_for(url)
    tables = {table.name: table for table in metadata.sorted_tables}
    assert set(inspect(engine).get_table_names()) == set(tables)
    found = {column["name"] for column in inspect(engine).get_columns("ferry_journal")}
    assert found == {column.name for column in entries.c}
    found = {index["name"] for index in inspect(engine).get_indexes("ferry_journal")}
    assert found == {index.name for index in entries.indexes}
    engine.dispose()
    assert run_sql(url, "SELECT schema_version FROM ferry_journal_about") == [(SCHEMA,)]


def test_every_entry_is_kept_as_it_was(old):
    before = rows(old)
    with Journal(old) as journal:
        listed = journal.entries()
        assert journal.unresolved() == tuple(entry for entry in listed if entry.is_unresolved)
    check_migrated(old)
    assert rows(old) == before
    assert len(listed) == len(before) == 11
    states = [entry.state for entry in listed]
    assert {state: states.count(state) for state in states} == {
        "done": 5,
        "rejected": 2,
        "unknown": 2,
        "open": 1,
        "not_sent": 1,
    }
    assert not any(entry.damaged for entry in listed)
    assert not any(entry.code or entry.status_code for entry in listed)


def test_bookings_and_tickets_are_known_from_what_was_kept(old):
    with Journal(old) as journal:
        first, second = journal.entries(booking_id=CONFIRMED[kind_of(old)])
        (cancelled,) = journal.entries(operation="mcp.cancel_ticket")
    assert (first.state, second.state) == ("done", "rejected")
    assert cancelled.ticket_ids == (cancelled.subject["ticket_id"],)
    filled = run_sql(old, "SELECT count(*) FROM ferry_journal WHERE booking_id IS NOT NULL")
    assert filled == [(6,)]  # for the index; the other five have no booking


def test_an_unresolved_write_is_still_refused(old):
    booking_id = IN_DOUBT[kind_of(old)]
    write = confirmation(booking_id)
    same = intent(
        f'{{"booking_id": "{booking_id}"}}'.encode(),
        operation=write.operation,
        effect=write.effect,
        subject=write.subject,
    )
    with Journal(old) as journal, pytest.raises(UnresolvedWriteError) as caught:
        journal.begin(same)
    assert caught.value.entry.subject == {"booking_id": booking_id}


def test_an_unresolved_write_is_recovered(url, ferry_sandbox):
    with (
        Journal(url) as journal,
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as ferry,
    ):
        with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as other:
            made = booked(other).booking_id
            ticket_id = other.bookings.confirm(made).ticket_id
        restore(url, change=(IN_DOUBT[kind_of(url)], made))
        (entry,) = journal.entries(booking_id=made)
        assert entry.state == "unknown"
        assert ferry.recover(entry).ticket_id == ticket_id
        (entry,) = journal.entries(booking_id=made)
    assert (entry.state, entry.ticket_ids) == ("done", (ticket_id,))


def test_several_that_open_it_at_once_migrate_it_once(old):
    before = rows(old)
    journals = [Journal(old) for _ in range(6)]
    gate = Barrier(len(journals))

    def open_it(journal):
        gate.wait()
        return len(journal.entries())

    with ThreadPoolExecutor(len(journals)) as threads:
        assert [*threads.map(open_it, journals)] == [11] * len(journals)
    for journal in journals:
        journal.close()
    check_migrated(old)
    assert rows(old) == before


def test_a_process_of_the_older_version_goes_on(old):
    with Journal(old) as journal:
        journal.unresolved()
        add_as_version_1(old)
        (entry,) = journal.entries(booking_id="b-1", state="open")
        assert (entry.booking_id, entry.damaged) == ("b-1", ())
        run_sql(old, f"UPDATE ferry_journal SET state = 'done' WHERE id = '{entry.id}'")  # noqa: S608 -- our own
        assert journal.entry(entry.id).state == "done"
        # What a newer process records, the older one reads.
        entry_id = journal.begin(confirmation("b-2"))
        assert entry_id in {row[0] for row in rows(old)}


def test_tables_that_an_older_version_makes_meanwhile_are_completed(url):
    # It made the tables, and has not put its row into them.
    restore(url)
    run_sql(url, "DELETE FROM ferry_journal")
    run_sql(url, "DELETE FROM ferry_journal_about")
    with Journal(url) as journal:
        journal.begin(confirmation())
    check_migrated(url)


@pytest.mark.parametrize("failing", mostly_long(range(1, 15), short=3))
def test_a_migration_that_fails_at_any_statement_leaves_version_1(old, failing):
    before = rows(old)
    engine = engine_for(old)
    passed = 0

    def fail(_connection, _cursor, statement, *_):
        nonlocal passed
        passed += statement.lstrip().startswith(("BEGIN", "CREATE", "ALTER", "UPDATE", "COMMIT"))
        if passed == failing:
            raise sqlite3.OperationalError("disk I/O error")

    event.listen(engine, "before_cursor_execute", fail)
    with Journal(engine) as journal, pytest.raises(JournalError) as caught:
        journal.begin(intent())
    engine.dispose()
    assert caught.value.outcome == "not_sent"
    assert run_sql(old, "SELECT schema_version FROM ferry_journal_about") == [(1,)]
    assert rows(old) == before
    with Journal(old) as journal:
        assert len(journal.entries()) == 11
    check_migrated(old)


ODD = [
    "'[1]'",
    "'null'",
    """'{"booking_id": 7}'""",
    """'{"booking_id": null}'""",
    """'{"booking_id": "\\u0000"}'""",
    f"""'{{"booking_id": "{"b" * 3000}"}}'""",
]
DAMAGED_IN_SQLITE = ["CAST(x'ff' AS TEXT)", "x'00ff'", "'not json'"]


def check_odd_subject(url, subject):
    restore(url)
    run_sql(url, f"UPDATE ferry_journal SET subject = {subject} WHERE state = 'unknown'")  # noqa: S608 -- of these lists
    with Journal(url) as journal:
        assert len(journal.entries()) == 11
        assert len(journal.unresolved()) == 3
    check_migrated(url)


@pytest.mark.parametrize("subject", mostly_long(ODD, short=2))
def test_odd_subjects_do_not_prevent_it(url, subject):
    check_odd_subject(url, subject)


@pytest.mark.parametrize("subject", DAMAGED_IN_SQLITE)
def test_damaged_subjects_do_not_prevent_it(sqlite_url, subject):
    check_odd_subject(sqlite_url, subject)


def test_another_key_changes_nothing(old):
    with (
        Journal(old, key="another key of 16 bytes or more") as journal,
        pytest.raises(ConfigurationError),
    ):
        journal.entries()
    assert run_sql(old, "SELECT schema_version FROM ferry_journal_about") == [(1,)]


def test_who_may_not_change_the_tables_is_told_so(postgres):
    url = restore(postgres.new_url())
    schema = url.rpartition("%3D")[2]
    role = f"clerk_of_{schema}"
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    ):
        run_sql(url, statement)
    with (
        Journal(url.replace("ferry@", f"{role}@")) as clerk,
        pytest.raises(JournalError, match=r"cannot be migrated to schema 2: .*SQLSTATE 42501"),
    ):
        clerk.unresolved()


def test_a_file_that_may_only_be_read_is_not_migrated(sqlite_url):
    restore(sqlite_url)
    path = sqlite_url.removeprefix("sqlite:///")
    with (
        Journal(f"sqlite:///file:{path}?mode=ro&uri=true") as journal,
        pytest.raises(JournalError, match=r"cannot be migrated to schema 2: .*readonly"),
    ):
        journal.entries()
