"""A journal in PostgreSQL has settings of its own, whatever those of its server are."""

import pytest

from ferry_sdk.journal import Journal
from ferry_sdk.journal.connections import connect
from tests.journal.intents import confirmation, engine_for, intent
from tests.support.tiers import LONG


def with_options(url, **settings):
    """Return the address with settings that every connection begins with."""
    options = "".join(f"%20-c{name}%3D{value}" for name, value in settings.items())
    return f"{url}{options}"


def setting(journal, name):
    with connect(journal._engine, writes=True) as connection:
        return connection.exec_driver_sql(f"SHOW {name}").scalar_one()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("synchronous_commit", "off", "on"),
        ("synchronous_commit", "local", "local"),
        ("synchronous_commit", "remote_apply", "remote_apply"),
        ("statement_timeout", "0", "8s"),
        ("statement_timeout", "60000", "8s"),
        ("statement_timeout", "700", "700ms"),
        ("idle_in_transaction_session_timeout", "0", "10s"),
        ("transaction_isolation", None, "read committed"),
    ],
)
def test_transaction_has_settings_of_the_journal(postgres, name, value, expected):
    changed = {"default_transaction_isolation": "serializable"} | ({name: value} if value else {})
    with Journal(with_options(postgres.new_url(), **changed)) as journal:
        assert setting(journal, name) == expected


def test_callers_engine_commits_to_the_disk(postgres):
    engine = engine_for(with_options(postgres.new_url(), synchronous_commit="off"))
    with Journal(engine) as journal:
        assert setting(journal, "synchronous_commit") == "on"
    engine.dispose()


def test_connection_keeps_no_setting_of_the_journal(postgres):
    engine = engine_for(with_options(postgres.new_url(), synchronous_commit="off"))
    with Journal(engine) as journal:
        journal.begin(intent())
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "off"
    engine.dispose()


@pytest.mark.parametrize(
    "settings",
    [
        {"datestyle": "SQL,DMY"},
        {"datestyle": "German"},
        {"intervalstyle": "sql_standard"},
        {"timezone": "Asia/Kathmandu"},
        {"bytea_output": "escape"},
        {"standard_conforming_strings": "off"},
        {"session_replication_role": "replica"},
        {"client_encoding": "LATIN1"},
    ],
    ids=str,
)
def test_entry_is_whole_whatever_the_settings(postgres, settings):
    settings = {name: value.replace(",", r"%2C") for name, value in settings.items()}
    with Journal(with_options(postgres.new_url(), **settings)) as journal:
        entry_id = journal.begin(confirmation("b-ß-łódź"))
        entry = journal.entry(entry_id)
    assert (entry.damaged, entry.booking_id) == ((), "b-ß-łódź")


def test_encoding_of_the_environment_does_not_count(postgres, monkeypatch):
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with Journal(postgres.new_url()) as journal:
        assert journal.entry(journal.begin(confirmation("łódź"))).booking_id == "łódź"


@LONG
@pytest.mark.parametrize(
    "statement",
    [
        "ALTER SYSTEM SET synchronous_commit = off",
        "ALTER DATABASE postgres SET synchronous_commit = off",
        "ALTER ROLE ferry SET synchronous_commit = off",
    ],
)
def test_intent_survives_a_crash_of_the_server(own_server, statement):
    own_server.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
    own_server.execute(statement)
    own_server.restart()
    with Journal(own_server.new_url()) as journal:
        journal.unresolved()
        own_server.execute("CHECKPOINT")
        entry_id = journal.begin(confirmation("b1"))
        own_server.crash()
        assert [entry.id for entry in journal.unresolved()] == [entry_id]


@LONG
def test_outcome_survives_a_crash_of_the_server(own_server):
    own_server.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
    own_server.execute("ALTER ROLE ferry SET synchronous_commit = off")
    own_server.restart()
    with Journal(own_server.new_url()) as journal:
        entry_id = journal.begin(confirmation("b1"))
        journal.end(entry_id, "done")
        own_server.crash()
        assert journal.entry(entry_id).state == "done"
