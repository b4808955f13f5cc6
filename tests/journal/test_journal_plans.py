"""Which index the database uses for the filters of `entries`, and what adds one that is missing."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import event

from ferry_sdk.journal import Journal, shape
from ferry_sdk.types import IdempotencyKey
from tests.journal.intents import confirmation, intent, run_sql

INDEXES = ("ferry_journal_without_effect", "ferry_journal_correlation")
LONG_ID = "c" * 3_000
"""Longer than what PostgreSQL can have in an index."""
FILTERS = [
    ({"state": "open"}, "ferry_journal_unresolved"),
    ({"state": "unknown"}, "ferry_journal_unresolved"),
    ({"state": "unresolved"}, "ferry_journal_unresolved"),
    ({"state": "done"}, "ferry_journal_began"),
    ({"state": "rejected"}, "ferry_journal_without_effect"),
    ({"state": "not_sent"}, "ferry_journal_without_effect"),
    ({"correlation_id": "order-7"}, "ferry_journal_correlation"),
    ({"correlation_id": "order-7", "state": "rejected"}, "ferry_journal_correlation"),
    ({"booking_id": "b7", "state": "rejected"}, "ferry_journal_booking"),
]
ENTRIES = """
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint,
state, created_at, changed_at, booking_id)
SELECT lpad(each::text, 32, '0'), 'bookings.create', 'POST', 'booking', '{}', 'order-' || each,
lpad(each::text, 64, '0'), CASE WHEN each %% 5000 = 0 THEN 'rejected' WHEN each %% 5000 = 1
THEN 'not_sent' WHEN each %% 5000 = 2 THEN 'unknown' WHEN each %% 5000 = 3 THEN 'open'
ELSE 'done' END, now(), now(), 'b' || each FROM generate_series(1, 30000) AS each
"""


def plan_of(journal, prefix, filters):
    """What the database says of the last query that `entries` sends."""
    return plan_of_last(
        journal, prefix, "SELECT ferry_journal.id", lambda: journal.entries(**filters)
    )


def plan_of_last(journal, prefix, beginning, call):
    """What the database says of the last query of a call that begins so."""
    plans = []

    def explain(connection, _cursor, statement, parameters, *_):
        if statement.startswith(beginning):
            cursor = connection.connection.cursor()
            cursor.execute(f"{prefix} {statement}", parameters)
            plans.append("\n".join(str(row) for row in cursor.fetchall()))

    event.listen(journal._engine, "before_cursor_execute", explain)
    call()
    event.remove(journal._engine, "before_cursor_execute", explain)
    return plans[-1]


@pytest.fixture(scope="module")
def large_journal(postgres):
    """A journal in PostgreSQL of 30,000 entries, nearly all of them done."""
    url = postgres.new_url()
    with Journal(url) as journal:
        journal.unresolved()
        run_sql(url, ENTRIES)
        run_sql(url, "ANALYZE ferry_journal")
        yield journal


@pytest.fixture
def journal_in_memory():
    """A journal in SQLite with one entry."""
    with Journal("sqlite://") as journal:
        journal.begin(intent())
        yield journal


@pytest.fixture(params=[{}, {"limit": 5}], ids=["all", "limit"])
def page(request):
    """What a reader adds to the filters."""
    return request.param


@pytest.fixture
def old_url(url):
    """The address of a journal without the indexes that this version has added."""
    with Journal(url) as journal:
        journal.begin(confirmation("b1"))
    for name in INDEXES:
        run_sql(url, f"DROP INDEX {name}")
    return url


def indexes_of(url):
    table = "sqlite_master" if url.startswith("sqlite") else "pg_indexes"
    column = "name" if url.startswith("sqlite") else "indexname"
    where = "1 = 1" if url.startswith("sqlite") else "schemaname = current_schema()"
    rows = run_sql(url, f"SELECT {column} FROM {table} WHERE {where}")  # noqa: S608 -- of this module
    return {name for (name,) in rows if name in INDEXES}


@pytest.mark.parametrize(("filters", "index"), FILTERS, ids=str)
def test_sqlite_filters_by_an_index(journal_in_memory, page, filters, index):
    plan = plan_of(journal_in_memory, "EXPLAIN QUERY PLAN", filters | page)
    assert f"INDEX {index}" in plan
    assert (index == "ferry_journal_began") == ("ferry_journal_began" in plan)


@pytest.mark.parametrize(("filters", "index"), FILTERS, ids=str)
def test_postgresql_filters_by_an_index(large_journal, page, filters, index):
    plan = plan_of(large_journal, "EXPLAIN", filters | page)
    if filters != {"state": "done"} or page:  # nearly all are done: else every entry is read
        assert index in plan


def test_index_finds_next_page_of_a_state(journal_in_memory):
    (entry,) = journal_in_memory.entries()
    filters = {"state": "rejected", "since": entry, "limit": 5}
    plan = plan_of(journal_in_memory, "EXPLAIN QUERY PLAN", filters)
    assert "ferry_journal_without_effect (state=? AND (created_at,id)>(?,?))" in plan


def test_long_correlation_id_is_found(journal):
    entry_id = journal.begin(intent(correlation_id=LONG_ID))
    assert [each.id for each in journal.entries(correlation_id=LONG_ID)] == [entry_id]


def test_missing_index_is_added(old_url):
    with Journal(old_url) as journal:
        journal.unresolved()
    assert indexes_of(old_url) == {*INDEXES}


def test_index_of_a_large_journal_is_left_out(old_url, monkeypatch):
    monkeypatch.setattr(shape, "_MOST_ENTRIES", 0)
    with Journal(old_url) as journal:
        assert len(journal.entries(state="open")) == 1
        journal.begin(intent())
    assert indexes_of(old_url) == set()


def test_index_is_interrupted_after_its_time(sqlite_url, monkeypatch):
    with Journal(sqlite_url) as journal:
        journal.begin(intent())
    run_sql(sqlite_url, f"DROP INDEX {INDEXES[0]}")
    monkeypatch.setattr(shape, "_MOST_SECONDS", -1)
    monkeypatch.setattr(shape, "_STEPS", 1)
    with Journal(sqlite_url) as journal:
        journal.begin(confirmation("b1"))
        assert len(journal.unresolved()) == 2
    assert indexes_of(sqlite_url) == {INDEXES[1]}


def test_read_only_file_needs_no_index(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(f"sqlite:///{path}") as journal:
        journal.begin(confirmation("b1"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"DROP INDEX {INDEXES[0]}")
    with Journal(f"sqlite:///file:{path}?mode=ro&uri=true") as journal:
        assert journal.entries(state="rejected") == ()


def test_role_that_cannot_index_still_writes(postgres):
    url = postgres.new_url()
    with Journal(url) as journal:
        journal.begin(confirmation("b1"))
    schema = url.rpartition("%3D")[2]
    run_sql(url, f"DROP INDEX {INDEXES[0]}")
    run_sql(url, f"CREATE ROLE writer_of_{schema} LOGIN")
    run_sql(url, f"GRANT USAGE ON SCHEMA {schema} TO writer_of_{schema}")
    run_sql(url, f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO writer_of_{schema}")
    with Journal(url.replace("ferry@", f"writer_of_{schema}@")) as journal:
        assert journal.begin(intent())


def test_key_is_found_by_its_index(sqlite_url):
    key = IdempotencyKey("order-7", b"a family")
    with Journal(sqlite_url) as journal:
        journal.unresolved()
        plan = plan_of_last(
            journal,
            "EXPLAIN QUERY PLAN",
            "SELECT ferry_journal_keys.booking_hash",
            lambda: journal.begin(intent(idempotency_key=key)),
        )
    assert "SEARCH ferry_journal_keys USING INDEX" in plan
    assert "(key_hash=?)" in plan
    assert "SCAN" not in plan
