"""A database that is locked, frozen or full holds no call of a journal, and is used again."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial

import pytest

from ferry_sdk import JournalError
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.journal import Journal, time_limits
from ferry_sdk.types import OrderRecord
from tests.backend.gathering import at_once, eventually
from tests.journal.conftest import new_server
from tests.journal.intents import confirmation, engine_for, intent
from tests.support.exchanges import caught
from tests.support.tiers import LONG, mostly_long

ORDER = OrderRecord("o" * 32, "hold", "{}", None, False, 0)
WRITES = {
    "begin": lambda journal, _: journal.begin(intent(b"another")),
    "end": lambda journal, entry_id: journal.end(entry_id, "done"),
    "settle": lambda journal, entry_id: journal.settle(entry_id, happened=True),
    "forget": lambda journal, _: journal.forget(older_than=0),
    "save_snapshot": lambda journal, _: journal.save_snapshot("b1", "{}"),
    "save_departures": lambda journal, _: journal.save_departures(
        "b1", "{}", ends_at=None, snapshot="{}"
    ),
    "save_order": lambda journal, _: journal.save_order(ORDER),
}
READS = {
    "entries": lambda journal, _: journal.entries(),
    "unresolved": lambda journal, _: journal.unresolved(),
    "booking_ids": lambda journal, _: list(journal.booking_ids()),
    "load_snapshots": lambda journal, _: journal.load_snapshots(["b1"]),
    "load_departures": lambda journal, _: journal.load_departures(["b1"]),
    "load_orders": lambda journal, _: journal.load_orders(),
}
USES = WRITES | READS


@contextmanager
def lock_file(url):
    path = url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def lock_tables(url):
    engine = engine_for(url)
    with engine.connect() as connection:
        names = "ferry_journal, ferry_journal_orders, ferry_journal_snapshots"
        connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
        yield
    engine.dispose()


def lock(url):
    return lock_file(url) if url.startswith("sqlite") else lock_tables(url)


@pytest.fixture(scope="module")
def own_server():
    """A server that no other module uses, so that it may be frozen: no freeze outlasts its test."""
    with new_server() as server:
        yield server


@pytest.fixture
def soon(monkeypatch):
    """Returns a context in which calls of a journal end after one second instead of ten."""

    @contextmanager
    def shorten():
        with monkeypatch.context() as patch:
            patch.setattr(time_limits, "LIMIT", 1.0)
            yield

    return shorten


@pytest.fixture
def quick_replacement(monkeypatch):
    """A connection that does not answer is replaced soon, so that the tests wait no longer."""
    monkeypatch.setattr(time_limits, "_FIRST_ANSWER", 0.3)


@pytest.fixture
def entry_id(journal):
    """An open entry in a journal that is in use."""
    return journal.begin(confirmation("b1"))


@pytest.fixture
def postgres_journal(postgres):
    with Journal(postgres.new_url()) as journal:
        journal.begin(confirmation("b1"))
        yield journal


@pytest.mark.parametrize("use", mostly_long([*WRITES], short=2))
def test_lock_ends_a_write(url, journal, entry_id, use, soon):
    with soon(), lock(url):
        caught(JournalError, WRITES[use], journal, entry_id)


@pytest.mark.parametrize("use", mostly_long([*READS], short=1))
def test_lock_ends_a_read(postgres, use, soon):
    url = postgres.new_url()
    with Journal(url) as journal:
        journal.begin(confirmation("b1"))
        with soon(), lock_tables(url):
            caught(JournalError, READS[use], journal, "")


def test_lock_ends_the_first_use(url, soon):
    with Journal(url) as first:
        first.unresolved()
    with soon(), lock(url), Journal(url) as journal:
        caught(JournalError, journal.begin, intent())


def test_journal_works_after_a_lock(url, journal, entry_id, soon):
    with soon(), lock(url):
        caught(JournalError, journal.end, entry_id, "done")
    journal.end(entry_id, "done")
    assert journal.entry(entry_id).state == "done"


def test_write_that_was_refused_is_not_recorded_later(url, journal, entry_id, soon):
    with soon(), lock(url):
        caught(JournalError, journal.begin, intent(b"another"))
    assert [entry.id for entry in journal.entries()] == [entry_id]
    journal.begin(intent(b"another"))


@LONG
def test_lock_ends_each_write_in_the_real_time(url, entry_id):
    with ExitStack() as stack:
        journals = [stack.enter_context(Journal(url)) for _ in WRITES]
        for journal in journals:
            journal.entries()  # it is open
        writes = zip(WRITES.values(), journals, strict=True)
        with lock(url):
            under_way = at_once(*[partial(use, journal, entry_id) for use, journal in writes])
            errors = [write.error() for write in under_way]
    assert {type(error) for error in errors} == {JournalError}


@pytest.mark.slow
@pytest.mark.usefixtures("quick_replacement")
@pytest.mark.parametrize("use", mostly_long([*USES]))
def test_frozen_connection_is_replaced(own_server, use):
    with Journal(own_server.new_url()) as journal:
        entry_id = journal.begin(confirmation("b1"))
        with own_server.frozen(accepts=True):
            USES[use](journal, entry_id)


@pytest.mark.parametrize("use", mostly_long([*USES]))
def test_frozen_server_ends_a_use(own_server, use, soon):
    with Journal(own_server.new_url()) as journal:
        entry_id = journal.begin(confirmation("b1"))
        with soon(), own_server.frozen(accepts=False):
            caught(JournalError, USES[use], journal, entry_id)


def test_frozen_server_ends_a_new_connection(own_server, soon):
    url = own_server.new_url()
    with soon(), own_server.frozen(accepts=False), Journal(url) as journal:
        caught(JournalError, journal.begin, intent())


@LONG
def test_server_freezes_while_a_statement_waits(own_server):
    url = own_server.new_url()
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with Journal(url) as journal, ThreadPoolExecutor(1) as threads:
        journal.unresolved()
        with lock_tables(url):
            ending = threads.submit(caught, JournalError, journal.begin, intent())
            eventually(lambda: own_server.execute(waiting) != [(0,)])
            with own_server.frozen(accepts=False):
                ending.result()
        assert journal.begin(intent(b"another"))


def test_journal_works_after_a_freeze(own_server, soon):
    with Journal(own_server.new_url()) as journal:
        entry_id = journal.begin(confirmation("b1"))
        with soon(), own_server.frozen(accepts=False):
            caught(JournalError, journal.end, entry_id, "done")
        journal.end(entry_id, "done")
        assert journal.entry(entry_id).state == "done"


@LONG
def test_full_pool_ends_a_use(postgres_journal):
    with ExitStack() as stack:
        for _ in range(15):
            stack.enter_context(postgres_journal._engine.connect())
        error = caught(JournalError, postgres_journal.begin, intent())
    assert "every connection" in str(error)
    assert postgres_journal.begin(intent())


def test_connection_that_the_server_closed_is_replaced(postgres, postgres_journal):
    postgres_journal.unresolved()
    others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
    postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")  # noqa: S608 -- a constant
    assert postgres_journal.begin(intent())


@pytest.mark.slow
def test_connection_that_is_late_is_closed():
    may_connect, late = threading.Event(), LateConnection()

    def connect():
        may_connect.wait(20)
        return late

    assert time_limits.Dial(connect).wait(0) is None
    may_connect.set()
    assert late.is_closed.wait(20)


def test_watch_of_a_connection_ends_in_time():
    watch = time_limits.Watch(until=monotonic() + 60)
    assert watch.end() is True


def test_watch_of_a_broken_connection_says_so():
    watch = time_limits.Watch(until=monotonic() + 60)
    watch.decide()
    assert watch.end() is False


class LateConnection:
    def __init__(self):
        self.is_closed = threading.Event()

    def close(self):
        self.is_closed.set()
