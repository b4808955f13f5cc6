"""The databases a journal is kept in: their addresses, tables, options and failures."""

import sqlite3
import sys
import traceback
from datetime import timedelta, timezone

import pytest
from sqlalchemy import create_engine, event, inspect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import StaticPool

from ferry_sdk import InvalidInputError, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.journal.engines import engine_of
from tests.journal.intents import TRAVELLER, confirmation, engine_for, intent, run_sql
from tests.support.exchanges import caught
from tests.support.processes import run

PASSWORD = "tr0ub4dor"
USER = f"u:{PASSWORD}"
NO_ADDRESSES = [
    *("", "ferry.db", "://", "nonsense://", "sqlite+aiosqlite:///ferry.db", 7, None),
    *("sqlite:///\ud800.db", "sqlite:///ferry.db?timeout=soon", f"mysql://{USER}@host/db"),
    *(f"postgresql://{USER}@host:port/db", f"postgresql+psycopg2://{USER}@host/db"),
    *(f"postgresql+asyncpg://{USER}@host/db", f"postgresql://{USER}@host/\ud800"),
    *(f"postgresql://\ud800:{PASSWORD}@host/db", f"postgresql://{USER}\udcff@host/db"),
]
MEMORIES = [
    *("sqlite://", "sqlite:///:memory:", "sqlite:///file::memory:?uri=true"),
    "sqlite:///file:shared?mode=memory&cache=shared&uri=true",
]


class TestAddresses:
    def test_an_address_that_cannot_be_used_is_refused_and_no_password_is_shown(self):
        for wrong in NO_ADDRESSES:
            error = caught(InvalidInputError, Journal, wrong)
            assert error.field == "url", wrong
            assert PASSWORD not in str(error)
            assert (error.__cause__, error.__context__) == (None, None), wrong
        for url in (
            f"postgresql://ferry:{PASSWORD}@127.0.0.1:1/db",
            f"postgresql://127.0.0.1:1/db?user=ferry&password={PASSWORD}",
        ):
            with Journal(url) as journal:
                assert repr(journal).startswith("Journal('postgresql+psycopg://")
                assert PASSWORD not in repr(journal)
                assert PASSWORD not in str(vars(journal))
        engine = create_engine("sqlite://")
        error = caught(InvalidInputError, Journal, engine)
        assert error.field == "url"
        assert "StaticPool" in str(error)
        options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
        shared = create_engine("sqlite://", **options)
        with Journal(shared) as journal:
            assert journal.entry(journal.begin(intent())).state == "open"
        engine.dialect.name = "oracle"
        assert caught(InvalidInputError, Journal, engine).field == "url"
        for one in (shared, engine):
            one.dispose()

    def test_each_name_of_postgresql_means_psycopg(self, postgres):
        for scheme in ("postgresql", "postgres", "postgresql+psycopg"):
            with Journal(postgres.new_url().replace("postgresql", scheme)) as journal:
                assert journal._engine.driver == "psycopg"
                assert journal.entry(journal.begin(intent())).state == "open"

    def test_sqlite_means_a_file_that_the_first_use_opens_or_the_memory(self, tmp_path):
        for number, scheme in enumerate(("sqlite", "sqlite+pysqlite")):
            path = tmp_path / f"{number}.db"
            with Journal(f"{scheme}:///{path}") as journal:
                assert not path.exists()
                journal.begin(intent())
            assert path.exists()
        for memory in MEMORIES:  # one database for all threads
            with Journal(memory) as journal:
                journal.begin(intent())
                assert len(journal.unresolved()) == 1

    def test_an_engine_of_the_callers_is_used_and_left_open(self, url):
        engine = engine_for(url)
        with Journal(engine) as journal:
            entry_id = journal.begin(intent())
        with engine.connect() as connection:
            found = connection.exec_driver_sql("SELECT id FROM ferry_journal").scalar_one()
        assert found == entry_id
        with Journal(url) as other:
            caught(UnresolvedWriteError, other.begin, intent())
        engine.dispose()


class TestTables:
    def test_they_are_made_on_first_use_kept_and_completed_if_they_were_begun(self, url):
        with Journal(url) as first:
            first.begin(confirmation("b-ß-1"))
        arrow = "json_extract(subject, '$.booking_id')" if "sqlite" in url else ""
        arrow = arrow or "subject ->> 'booking_id'"
        assert run_sql(url, f"SELECT {arrow} FROM ferry_journal") == [("b-ß-1",)]  # noqa: S608 -- one of two
        with Journal(url) as second:
            assert len(second.unresolved()) == 1
            names = inspect(second._engine).get_table_names()
        others = {f"ferry_journal_{name}" for name in ("about", "orders", "snapshots")}
        assert set(names) == {"ferry_journal", *others}
        # Somebody was killed before the last statement.
        run_sql(url, "DELETE FROM ferry_journal_about")
        run_sql(url, "DROP TABLE ferry_journal")
        with Journal(url) as journal:
            journal.begin(intent())
            caught(UnresolvedWriteError, journal.begin, intent())

    def test_the_database_itself_holds_one_unresolved_entry_a_fingerprint(self, url, journal):
        journal.begin(intent())
        copied = (
            "INSERT INTO ferry_journal SELECT '{}', operation, method, path, subject, "
            "correlation_id, fingerprint, '{}', created_at, changed_at, booking_id, ticket_ids, "
            "status_code, code FROM ferry_journal LIMIT 1"
        )
        for state in ("open", "unknown"):
            caught(IntegrityError, run_sql, url, copied.format("twin", state))
        for state in ("done", "rejected", "not_sent"):
            run_sql(url, copied.format(state, state))

    def test_who_may_not_make_tables_uses_them_at_the_same_moments_anywhere(self, postgres):
        url = postgres.new_url()
        with Journal(url) as journal:
            journal.unresolved()
        schema = url.rpartition("%3D")[2]
        role = f"clerk_of_{schema}"
        run_sql(url, f"CREATE ROLE {role} LOGIN")
        run_sql(url, f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        run_sql(url, f"GRANT SELECT, INSERT, UPDATE ON ferry_journal TO {role}")
        run_sql(url, f"GRANT SELECT ON ferry_journal_about TO {role}")
        with Journal(url.replace("ferry@", f"{role}@")) as clerk:
            clerk.end(clerk.begin(intent()), "done")
            with pytest.raises(JournalError, match="InsufficientPrivilege, SQLSTATE 42501"):
                clerk.forget(older_than=0)
        url = postgres.new_url()
        with Journal(url) as here, Journal(f"{url}%20-ctimezone%3DAsia/Tokyo") as there:
            entry_id = there.begin(intent())
            assert there.entry(entry_id) == here.entry(entry_id)
            assert there.entry(entry_id).created_at.tzinfo is timezone.utc
            assert there.unresolved(older_than=timedelta(minutes=5)) == ()

    def test_every_commit_reaches_the_disk_and_readers_do_not_wait(self, sqlite_url):
        def pragmas(url, *names):
            with Journal(url) as journal, journal._engine.connect() as connection:
                return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

        mode, synchronous, patience = pragmas(
            sqlite_url, "journal_mode", "synchronous", "busy_timeout"
        )
        assert (mode, synchronous) == ("wal", 3)
        assert patience >= 5000
        assert pragmas(f"{sqlite_url}?timeout=1.5", "busy_timeout") == [1500]


def failure_of(use):
    error = caught(JournalError, use)
    assert error.outcome == "not_sent"
    assert (error.__cause__, error.__context__) == (None, None)
    words = "".join(traceback.TracebackException.from_exception(error).format())
    assert TRAVELLER.decode() not in words
    assert PASSWORD not in words
    return str(error)


class TestFailures:
    def test_no_folder_no_server_no_file_name_and_no_database_are_said(self, tmp_path):
        for url, said in (
            (f"sqlite:///{tmp_path / 'nowhere' / 'ferry.db'}", "unable to open database file"),
            (f"postgresql://ferry:{PASSWORD}@/ferry?host={tmp_path}", "no connection"),
            ("sqlite:///ferry\0.db", ""),
        ):
            with Journal(url) as journal:
                assert said in failure_of(lambda journal=journal: journal.begin(intent()))
        path = tmp_path / "letter"
        path.write_text("This is a letter, and no database at all. " * 40)
        opened = []
        engine = engine_of(f"sqlite:///{path}")
        event.listen(engine, "connect", lambda link, _: opened.append(link), insert=True)
        with Journal(engine) as journal:
            assert "not a database" in failure_of(journal.unresolved)
        for link in opened:
            with pytest.raises(sqlite3.ProgrammingError, match="closed"):
                link.execute("SELECT 1")
        assert opened

    def test_a_file_that_may_only_be_read(self, sqlite_url):
        with Journal(sqlite_url) as journal:
            journal.unresolved()
        path = sqlite_url.removeprefix("sqlite:///")
        with Journal(f"sqlite:///file:{path}?mode=ro&uri=true") as journal:
            assert journal.unresolved() == ()
            assert "readonly" in failure_of(lambda: journal.begin(intent()))

    def test_what_the_server_does_not_have_or_take_and_its_restart(self, postgres):
        with Journal(postgres.new_url().replace("@/", f":{PASSWORD}@/no_")) as journal:
            assert "OperationalError" in failure_of(journal.unresolved)
        with Journal(postgres.new_url()) as journal:
            for wrong in ("zero\0byte", "half a \ud800 pair"):
                write = intent(correlation_id=wrong)
                assert wrong not in failure_of(lambda write=write: journal.begin(write))
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
    ("missing", "url", "said"),
    [
        ("sqlalchemy", "sqlite://", NO_JOURNAL),
        ("psycopg", f"postgresql://{USER}@h/db", NO_SERVER),
        ("psycopg", "sqlite://", "()\n"),
    ],
)
def test_the_extra_is_named_where_it_is_needed(missing, url, said):
    program = WITHOUT.format(missing=missing, url=url)
    done = run([sys.executable, "-c", program], new=missing == "sqlalchemy")
    assert done.stdout.startswith(said)
    assert PASSWORD not in done.stdout
