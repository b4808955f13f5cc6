"""Ctrl-C, or memory that runs out, at every line of the journal: it can be used afterwards."""

import sqlite3
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import ferry_sdk.journal
from ferry_sdk import JournalError
from ferry_sdk._runtime.fork import FORK_LOCK
from ferry_sdk.journal import Journal
from tests.journal.intents import confirmation
from tests.support.exchanges import caught
from tests.support.lines import interrupt_at
from tests.support.tiers import LONG, mostly_long

FOLDER = str(Path(ferry_sdk.journal.__file__).parent)
USES = {
    "begin": lambda journal, _, at: journal.begin(confirmation(f"interrupted {at}")),
    "end": lambda journal, entry_id, _: journal.end(entry_id, "unknown"),
    "settle": lambda journal, entry_id, _: journal.settle(entry_id, happened=True),
    "entry": lambda journal, entry_id, _: journal.entry(entry_id),
    "unresolved": lambda journal, *_: journal.unresolved(),
    "entries": lambda journal, *_: journal.entries(booking_id="first", limit=1),
    "forget": lambda journal, *_: journal.forget(older_than=10**6),
}


def check_usable(journal, entry_id, at=0, path=None):
    """It begins and ends a write, has what it had, and nobody is in the way of a fork."""
    journal.end(journal.begin(confirmation(f"afterwards {at}")), "done")
    assert journal.entry(entry_id).subject == {"booking_id": "first"}
    assert not FORK_LOCK._uses
    if path is not None:  # nor of another writer
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
        finally:
            connection.close()


def place(folder, where, at):
    path = None if where == "memory" else folder / f"{at}.db"
    return path, f"sqlite:///{path}" if path else "sqlite://"


@pytest.mark.parametrize(
    ("use", "where", "kind"),
    [
        ("begin", "file", KeyboardInterrupt),
        *mostly_long(
            (use, "memory", kind) for kind in (KeyboardInterrupt, MemoryError) for use in USES
        ),
    ],
)
def test_every_line_of_a_use(tmp_path, use, where, kind):
    path, url = place(tmp_path, where, 0)
    with Journal(url) as journal:
        entry_id = journal.begin(confirmation("first"))
        at = 1
        while interrupt_at(kind, at, partial(USES[use], journal, entry_id, at), FOLDER):
            check_usable(journal, entry_id, at, path)
            at += 1
        assert at > 20


@LONG
@pytest.mark.parametrize("use", ["begin", "entries", "forget"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_every_line_of_a_use_of_postgresql(postgres, use, kind):
    with Journal(postgres.new_url()) as journal:
        entry_id = journal.begin(confirmation("first"))
        at = 1
        while interrupt_at(kind, at, partial(USES[use], journal, entry_id, at), FOLDER):
            check_usable(journal, entry_id, at)
            at += 1
        assert at > 20
        assert journal._engine.pool.checkedout() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "step"),
    mostly_long(
        [
            pytest.param("file", 29, id="file"),
            pytest.param("file", 13, id="file, more lines"),
            pytest.param("memory", 3, id="memory"),
        ]
    ),
)
def test_lines_of_the_first_use(tmp_path, where, step):
    at, more = 1, True
    while more:
        path, url = place(tmp_path, where, at)
        with Journal(url) as journal:
            more = interrupt_at(KeyboardInterrupt, at, journal.unresolved, FOLDER)
            check_usable(journal, journal.begin(confirmation("first")), at, path)
            assert len(journal.entries()) == 2
        at += step
    assert at > 80


def fail(kind, *_):
    raise kind


def fail_while_cleaning_up(kind, *_):
    """Fail as a driver does that is interrupted, and then cannot clean up."""
    try:
        raise kind(7)
    finally:
        raise sqlite3.ProgrammingError("a statement is being executed")


@contextmanager
def execute_fails(journal, execute):
    journal._engine.dialect.do_execute = execute
    try:
        yield
    finally:
        del journal._engine.dialect.do_execute


@pytest.fixture
def file_journal(sqlite_url):
    with Journal(sqlite_url) as journal:
        yield journal


@pytest.fixture
def entry_id(file_journal):
    return file_journal.begin(confirmation("first"))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["memory", "file"])
def test_interrupt_inside_a_database_is_raised(tmp_path, where, kind):
    _, url = place(tmp_path, where, 0)
    with Journal(url) as journal:
        entry_id = journal.begin(confirmation("first"))
        with execute_fails(journal, partial(fail, kind)):
            caught(kind, journal.end, entry_id, "done")
        check_usable(journal, entry_id)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupt_that_an_error_replaced_is_raised(file_journal, entry_id, kind):
    with execute_fails(file_journal, partial(fail_while_cleaning_up, kind)):
        caught(kind, file_journal.entries)
    check_usable(file_journal, entry_id)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupt_that_the_caller_handles_is_not_raised(file_journal, entry_id, kind):
    with execute_fails(file_journal, partial(fail, sqlite3.ProgrammingError)):
        try:
            fail(kind)
        except kind:
            caught(JournalError, file_journal.entries)
    check_usable(file_journal, entry_id)
