"""The databases a journal is kept in: their addresses, tables, options and failures."""

import sqlite3
import traceback
from datetime import timedelta, timezone

import pytest
from sqlalchemy import create_engine, event, inspect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import StaticPool

from ferry_sdk import InvalidInputError, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.journal.engines import engine_of
from tests.journal.databases import engine_for, run_sql
from tests.journal.intents import TRAVELLER, confirmation, intent
from tests.support.exchanges import caught
from tests.support.tables import each

PASSWORD = "tr0ub4dor"


class TestAddresses:
    @each(
        "wrong",
        [
            "",
            "ferry.db",
            "://",
            f"postgresql://u:{PASSWORD}@host:port/db",
            f"mysql://u:{PASSWORD}@host/db",
            f"postgresql+psycopg2://u:{PASSWORD}@host/db",
            f"postgresql+asyncpg://u:{PASSWORD}@host/db",
            "sqlite+aiosqlite:///ferry.db",
            "nonsense://",
            "sqlite:///\ud800.db",
            f"postgresql://u:{PASSWORD}@host/\ud800",
            f"postgresql://\ud800:{PASSWORD}@host/db",
            f"postgresql://u:{PASSWORD}\udcff@host/db",
            "sqlite:///ferry.db?timeout=soon",
            7,
            None,
        ],
    )
    def test_an_address_that_cannot_be_used_is_refused_and_not_repeated(self, wrong):
        error = caught(InvalidInputError, Journal, wrong)
        assert error.field == "url"
        assert PASSWORD not in str(error)
        assert error.__cause__ is None
        assert error.__context__ is None

    def test_each_name_of_postgresql_means_psycopg(self, postgres):
        for scheme in ("postgresql", "postgres", "postgresql+psycopg"):
            with Journal(postgres.new_url().replace("postgresql", scheme)) as journal:
                assert journal._engine.driver == "psycopg"
                assert journal.entry(journal.begin(intent())).state == "open"

    def test_each_name_of_sqlite_means_a_file_that_the_first_use_opens(self, tmp_path):
        for number, scheme in enumerate(("sqlite", "sqlite+pysqlite")):
            path = tmp_path / f"{number}.db"
            with Journal(f"{scheme}:///{path}") as journal:
                assert not path.exists()
                journal.begin(intent())
            assert path.exists()

    @each(
        "memory",
        [
            "sqlite://",
            "sqlite:///:memory:",
            "sqlite:///file::memory:?uri=true",
            "sqlite:///file:shared?mode=memory&cache=shared&uri=true",
        ],
    )
    def test_each_name_of_the_memory_is_one_database_for_all_threads(self, memory):
        with Journal(memory) as journal:
            assert journal._is_in_memory
            journal.begin(intent())
            assert len(journal.unresolved()) == 1

    def test_no_password_is_shown(self):
        for url in (
            f"postgresql://ferry:{PASSWORD}@127.0.0.1:1/db",
            f"postgresql://127.0.0.1:1/db?user=ferry&password={PASSWORD}",
        ):
            journal = Journal(url)
            assert repr(journal).startswith("Journal('postgresql+psycopg://")
            assert PASSWORD not in repr(journal)
            assert PASSWORD not in str(vars(journal))
            journal.close()


class TestEngines:
    def test_an_engine_of_the_callers_is_used_and_left_open(self, url):
        engine = engine_for(url)
        with Journal(engine) as journal:
            entry_id = journal.begin(intent())
        with engine.connect() as connection:
            found = connection.exec_driver_sql("SELECT id FROM ferry_journal").scalar_one()
        assert found == entry_id
        with Journal(url) as other, pytest.raises(UnresolvedWriteError):
            other.begin(intent())
        engine.dispose()

    def test_an_engine_needs_one_connection_for_all_in_memory_and_a_known_database(self):
        engine = create_engine("sqlite://")
        with pytest.raises(InvalidInputError, match="StaticPool") as refused:
            Journal(engine)
        assert refused.value.field == "url"
        shared = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        with Journal(shared) as journal:
            assert journal.entry(journal.begin(intent())).state == "open"
        engine.dialect.name = "oracle"
        assert caught(InvalidInputError, Journal, engine).field == "url"
        for one in (shared, engine):
            one.dispose()


class TestTables:
    def test_they_are_made_on_first_use_and_kept(self, url):
        with Journal(url) as first:
            first.begin(intent())
        with Journal(url) as second:
            assert len(second.unresolved()) == 1
            names = inspect(second._engine).get_table_names()
        others = {f"ferry_journal_{name}" for name in ("about", "orders", "snapshots")}
        assert set(names) == {"ferry_journal", *others}

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

    def test_tables_that_were_begun_are_completed(self, url):
        # Somebody was killed before the last statement.
        with Journal(url) as journal:
            journal.unresolved()
        run_sql(url, "DELETE FROM ferry_journal_about")
        run_sql(url, "DROP TABLE ferry_journal")
        with Journal(url) as journal:
            journal.begin(intent())
            caught(UnresolvedWriteError, journal.begin, intent())

    def test_who_may_not_make_tables_may_use_those_that_are_there(self, postgres):
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

    def test_the_subject_is_json(self, url, journal):
        journal.begin(confirmation("b-ß-1"))
        arrow = "subject ->> 'booking_id'"
        if "sqlite" in url:
            arrow = "json_extract(subject, '$.booking_id')"
        assert run_sql(url, f"SELECT {arrow} FROM ferry_journal") == [("b-ß-1",)]  # noqa: S608 -- one of three

    def test_a_session_elsewhere_on_the_globe_gives_the_same_moments(self, postgres):
        url = postgres.new_url()
        with Journal(url) as here, Journal(f"{url}%20-ctimezone%3DAsia/Tokyo") as there:
            entry_id = there.begin(intent())
            assert there.entry(entry_id) == here.entry(entry_id)
            assert there.entry(entry_id).created_at.tzinfo is timezone.utc
            assert there.unresolved(older_than=timedelta(minutes=5)) == ()


class TestDurability:
    def test_every_commit_reaches_the_disk_and_readers_do_not_wait(self, sqlite_url):
        with Journal(sqlite_url) as journal, journal._engine.connect() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
            synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar()
            patience = connection.exec_driver_sql("PRAGMA busy_timeout").scalar()
        assert mode == "wal"
        assert synchronous == 3
        assert patience >= 5000
        with Journal(f"{sqlite_url}?timeout=1.5") as journal, journal._engine.connect() as one:
            assert one.exec_driver_sql("PRAGMA busy_timeout").scalar() == 1500

    def test_a_server_that_was_restarted_is_found_again(self, postgres):
        with Journal(postgres.new_url()) as journal:
            entry_id = journal.begin(intent())
            postgres.restart()
            journal.end(entry_id, "done")
            assert journal.entry(entry_id).state == "done"


class TestFailures:
    @staticmethod
    def failure_of(use):
        with pytest.raises(JournalError) as caught:
            use()
        error = caught.value
        assert error.outcome == "not_sent"
        assert error.__cause__ is None
        assert error.__context__ is None
        words = "".join(traceback.TracebackException.from_exception(error).format())
        assert TRAVELLER.decode() not in words
        assert PASSWORD not in words
        return str(error)

    def test_a_folder_that_is_not_there(self, tmp_path):
        with Journal(f"sqlite:///{tmp_path / 'nowhere' / 'ferry.db'}") as journal:
            said = self.failure_of(lambda: journal.begin(intent()))
        assert "unable to open database file" in said

    def test_a_file_that_is_no_database_is_closed_again(self, tmp_path):
        path = tmp_path / "letter"
        path.write_text("This is a letter, and no database at all. " * 40)
        opened = []
        engine = engine_of(f"sqlite:///{path}")
        event.listen(engine, "connect", lambda link, _: opened.append(link), insert=True)
        with Journal(engine) as journal:
            assert "not a database" in self.failure_of(journal.unresolved)
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
            assert "readonly" in self.failure_of(lambda: journal.begin(intent()))

    def test_a_server_that_is_not_there(self, tmp_path):
        url = f"postgresql://ferry:{PASSWORD}@/ferry?host={tmp_path}"
        with Journal(url) as journal:
            assert "no connection" in self.failure_of(lambda: journal.begin(intent()))

    def test_a_database_that_is_not_there(self, postgres):
        url = postgres.new_url().replace("@/", f":{PASSWORD}@/no_")
        with Journal(url) as journal:
            assert "OperationalError" in self.failure_of(journal.unresolved)

    @each("wrong", ["zero\0byte", "half a \ud800 pair"])
    def test_a_text_that_the_database_does_not_take(self, postgres, wrong):
        with Journal(postgres.new_url()) as journal:
            said = self.failure_of(lambda: journal.begin(intent(correlation_id=wrong)))
        assert wrong not in said
