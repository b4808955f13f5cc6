"""The databases a journal is kept in: their addresses, tables, options and failures."""

import sqlite3
import sys
import traceback
from datetime import UTC, timedelta

import pytest
from sqlalchemy import create_engine, event, inspect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import StaticPool

from ferry_sdk import InvalidInputError, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.journal.engines import engine_of
from ferry_sdk.journal.schema import metadata
from tests.journal.intents import TRAVELLER, confirmation, engine_for, intent, run_sql
from tests.support.exchanges import caught
from tests.support.processes import run

PASSWORD = "tr0ub4dor"
USER = f"u:{PASSWORD}"
NO_ADDRESSES = [
    "",
    "ferry.db",
    "://",
    "nonsense://",
    "sqlite+aiosqlite:///ferry.db",
    7,
    None,
    "sqlite:///\ud800.db",
    "sqlite:///ferry.db?timeout=soon",
    f"mysql://{USER}@host/db",
    f"postgresql://{USER}@host:port/db",
    f"postgresql+psycopg2://{USER}@host/db",
    f"postgresql+asyncpg://{USER}@host/db",
    f"postgresql://{USER}@host/\ud800",
    f"postgresql://\ud800:{PASSWORD}@host/db",
    f"postgresql://{USER}\udcff@host/db",
]
COPY = (
    "INSERT INTO ferry_journal SELECT '{}', operation, method, path, subject, "
    "correlation_id, fingerprint, '{}', created_at, changed_at, booking_id, ticket_ids, "
    "status_code, code FROM ferry_journal LIMIT 1"
)


@pytest.mark.parametrize("wrong", NO_ADDRESSES, ids=ascii)
def test_address_that_cannot_be_used_is_refused(wrong):
    error = caught(InvalidInputError, Journal, wrong)
    assert error.field == "url"
    assert PASSWORD not in str(error)
    assert (error.__cause__, error.__context__) == (None, None)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ferry:{PASSWORD}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=ferry&password={PASSWORD}",
    ],
    ids=["of the address", "of an option"],
)
def test_journal_shows_no_password(url):
    with Journal(url) as journal:
        assert repr(journal).startswith("Journal('postgresql+psycopg://")
        assert PASSWORD not in repr(journal)
        assert PASSWORD not in str(vars(journal))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_each_name_of_postgresql_means_psycopg(postgres, scheme):
    with Journal(postgres.new_url().replace("postgresql", scheme)) as journal:
        assert journal._engine.driver == "psycopg"
        assert journal.entry(journal.begin(intent())).state == "open"


@pytest.mark.parametrize("scheme", ["sqlite", "sqlite+pysqlite"])
def test_first_use_makes_the_file(tmp_path, scheme):
    path = tmp_path / "journal.db"
    with Journal(f"{scheme}:///{path}") as journal:
        assert not path.exists()
        journal.begin(intent())
    assert path.exists()


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file::memory:?uri=true",
        "sqlite:///file:shared?mode=memory&cache=shared&uri=true",
    ],
)
def test_memory_is_one_database(url):
    with Journal(url) as journal:
        journal.begin(intent())
        assert len(journal.unresolved()) == 1


def test_callers_engine_is_left_open(url):
    engine = engine_for(url)
    with Journal(engine) as journal:
        entry_id = journal.begin(intent())
    with engine.connect() as connection:
        ids = connection.exec_driver_sql("SELECT id FROM ferry_journal").scalars().all()
    assert ids == [entry_id]
    engine.dispose()


def test_callers_engine_makes_the_same_journal(url):
    engine = engine_for(url)
    with Journal(engine) as journal:
        journal.begin(intent())
    with Journal(url) as other:
        caught(UnresolvedWriteError, other.begin, intent())
    engine.dispose()


@pytest.fixture
def memory_engine():
    """An engine whose threads have a database in memory each."""
    engine = create_engine("sqlite://")
    yield engine
    engine.dispose()


def test_engine_with_memory_per_thread_is_refused(memory_engine):
    error = caught(InvalidInputError, Journal, memory_engine)
    assert error.field == "url"
    assert "StaticPool" in str(error)


def test_engine_with_one_memory_is_used():
    options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    engine = create_engine("sqlite://", **options)
    with Journal(engine) as journal:
        assert journal.entry(journal.begin(intent())).state == "open"
    engine.dispose()


def test_engine_of_another_database_is_refused(memory_engine):
    memory_engine.dialect.name = "oracle"
    assert caught(InvalidInputError, Journal, memory_engine).field == "url"


def test_first_use_makes_the_tables(url):
    with Journal(url) as journal:
        journal.begin(intent())
        names = inspect(journal._engine).get_table_names()
    assert {*names} == {*metadata.tables}


def test_later_use_keeps_the_entries(url, journal):
    entry_id = journal.begin(intent())
    with Journal(url) as other:
        assert [entry.id for entry in other.unresolved()] == [entry_id]


def test_subject_is_json(url, journal):
    journal.begin(confirmation("b-ß-1"))
    query = "SELECT subject ->> 'booking_id' FROM ferry_journal"
    if "sqlite" in url:  # of a version without the arrow
        query = "SELECT json_extract(subject, '$.booking_id') FROM ferry_journal"
    assert run_sql(url, query) == [("b-ß-1",)]


def test_tables_of_a_killed_process_are_completed(url):
    with Journal(url) as journal:
        journal.unresolved()
    run_sql(url, "DELETE FROM ferry_journal_about")
    run_sql(url, "DROP TABLE ferry_journal")
    with Journal(url) as journal:
        journal.begin(intent())
        caught(UnresolvedWriteError, journal.begin, intent())


@pytest.mark.parametrize("state", ["open", "unknown"])
def test_database_refuses_a_second_unresolved_entry(url, journal, state):
    journal.begin(intent())
    caught(IntegrityError, run_sql, url, COPY.format("twin", state))


@pytest.mark.parametrize("state", ["done", "rejected", "not_sent"])
def test_database_takes_a_settled_copy(url, journal, state):
    journal.begin(intent())
    run_sql(url, COPY.format("twin", state))
    assert journal.entry("twin").state == state


@pytest.fixture
def clerk(postgres):
    """A journal of a role that may not make tables or delete entries."""
    url = postgres.new_url()
    with Journal(url) as journal:
        journal.unresolved()
    schema = url.rpartition("%3D")[2]
    role = f"clerk_of_{schema}"
    run_sql(url, f"CREATE ROLE {role} LOGIN")
    run_sql(url, f"GRANT USAGE ON SCHEMA {schema} TO {role}")
    run_sql(url, f"GRANT SELECT, INSERT, UPDATE ON ferry_journal TO {role}")
    run_sql(url, f"GRANT SELECT ON ferry_journal_about TO {role}")
    with Journal(url.replace("ferry@", f"{role}@")) as journal:
        yield journal


def test_role_that_may_make_no_tables_uses_them(clerk):
    entry_id = clerk.begin(intent())
    clerk.end(entry_id, "done")
    assert clerk.entry(entry_id).state == "done"


def test_role_that_may_not_delete_is_told_so(clerk):
    clerk.end(clerk.begin(intent()), "done")
    with pytest.raises(JournalError, match="InsufficientPrivilege, SQLSTATE 42501"):
        clerk.forget(older_than=0)


def test_moment_is_the_same_in_another_zone(postgres):
    url = postgres.new_url()
    with Journal(url) as here, Journal(f"{url}%20-ctimezone%3DAsia/Tokyo") as there:
        entry_id = there.begin(intent())
        assert there.entry(entry_id) == here.entry(entry_id)
        assert there.entry(entry_id).created_at.tzinfo is UTC
        assert there.unresolved(older_than=timedelta(minutes=5)) == ()


def pragma(url, name):
    with Journal(url) as journal, journal._engine.connect() as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def test_readers_do_not_wait_for_a_writer(sqlite_url):
    assert pragma(sqlite_url, "journal_mode") == "wal"


def test_every_commit_reaches_the_disk(sqlite_url):
    assert pragma(sqlite_url, "synchronous") == 3


def test_sqlite_waits_for_a_lock(sqlite_url):
    assert pragma(sqlite_url, "busy_timeout") >= 5000


def test_option_says_how_long_sqlite_waits(sqlite_url):
    assert pragma(f"{sqlite_url}?timeout=1.5", "busy_timeout") == 1500


def failure_of(use, *arguments):
    """Return the message of a failed use, which names nothing secret and has no other error."""
    error = caught(JournalError, use, *arguments)
    assert error.outcome == "not_sent"
    assert (error.__cause__, error.__context__) == (None, None)
    words = "".join(traceback.TracebackException.from_exception(error).format())
    assert TRAVELLER.decode() not in words
    assert PASSWORD not in words
    return str(error)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("sqlite:///{folder}/nowhere/ferry.db", "unable to open database file"),
        (f"postgresql://ferry:{PASSWORD}@/ferry?host={{folder}}", "no connection"),
        ("sqlite:///ferry\0.db", ""),
    ],
    ids=["no folder", "no server", "no file name"],
)
def test_database_that_cannot_be_opened_is_a_failure(tmp_path, url, problem):
    with Journal(url.format(folder=tmp_path)) as journal:
        assert problem in failure_of(journal.begin, intent())


@pytest.fixture
def letter(tmp_path):
    """The path of a file that is no database."""
    path = tmp_path / "letter"
    path.write_text("This is a letter, and no database at all. " * 40)
    return path


def test_file_that_is_no_database_is_a_failure(letter):
    with Journal(f"sqlite:///{letter}") as journal:
        assert "not a database" in failure_of(journal.unresolved)


def test_connection_to_no_database_is_closed(letter):
    opened = []
    engine = engine_of(f"sqlite:///{letter}")
    event.listen(engine, "connect", lambda link, _: opened.append(link), insert=True)
    with Journal(engine) as journal:
        caught(JournalError, journal.unresolved)
    assert opened
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    engine.dispose()


@pytest.fixture
def read_only_journal(sqlite_url):
    """A journal in a file that may only be read."""
    with Journal(sqlite_url) as journal:
        journal.unresolved()
    path = sqlite_url.removeprefix("sqlite:///")
    with Journal(f"sqlite:///file:{path}?mode=ro&uri=true") as journal:
        yield journal


def test_read_only_file_is_read(read_only_journal):
    assert read_only_journal.unresolved() == ()


def test_read_only_file_takes_no_write(read_only_journal):
    assert "readonly" in failure_of(read_only_journal.begin, intent())


def test_database_that_the_server_lacks_is_a_failure(postgres):
    with Journal(postgres.new_url().replace("@/", f":{PASSWORD}@/no_")) as journal:
        assert "OperationalError" in failure_of(journal.unresolved)


@pytest.mark.parametrize("wrong", ["zero\0byte", "half a \ud800 pair"], ids=["zero", "surrogate"])
def test_text_that_the_server_refuses_is_not_shown(postgres, wrong):
    with Journal(postgres.new_url()) as journal:
        assert wrong not in failure_of(journal.begin, intent(correlation_id=wrong))


@pytest.mark.slow
def test_write_succeeds_after_the_server_restarts(postgres):
    with Journal(postgres.new_url()) as journal:
        entry_id = journal.begin(intent())
        postgres.restart()
        journal.end(entry_id, "done")
        assert journal.entry(entry_id).state == "done"


WITHOUT = """
import sys
sys.modules[{missing!r}] = None
try:
    from ferry_sdk.journal import Journal
    print(Journal({url!r}).unresolved())
except Exception as error:
    print(type(error).__name__, error)
"""
NO_JOURNAL = 'ModuleNotFoundError the journal requires an extra: pip install "ferry-sdk[journal]"'
NO_SERVER = "ConfigurationError a journal in PostgreSQL requires an extra: "


@pytest.mark.parametrize(
    ("missing", "url", "problem"),
    [
        ("sqlalchemy", "sqlite://", NO_JOURNAL),
        ("psycopg", f"postgresql://{USER}@h/db", NO_SERVER),
        ("psycopg", "sqlite://", "()\n"),
    ],
    ids=["sqlalchemy", "psycopg", "psycopg in a file"],
)
def test_missing_extra_is_named(missing, url, problem):
    program = WITHOUT.format(missing=missing, url=url)
    done = run([sys.executable, "-c", program], new=missing == "sqlalchemy")
    assert done.stdout.startswith(problem)
    assert PASSWORD not in done.stdout
