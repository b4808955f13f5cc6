"""A damaged journal: no write is sent twice, and every other entry is listed."""

import sqlite3
from contextlib import closing
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, ConfigurationError, Ferry, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from tests.journal.intents import confirmation, engine_for, intent, run_sql
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.tiers import examples, mostly_long

NO_UTF_8 = "CAST(x'ff' AS TEXT)"
FIELDS = (
    *("operation", "method", "path", "subject", "correlation_id", "fingerprint", "state"),
    *("created_at", "changed_at", "booking_id", "ticket_ids", "status_code", "code"),
)
LETTERS = ("'Z' || substr(fingerprint, 2)", "substr(fingerprint, 2)", "''")
EVERYWHERE = [
    ("state", "'odd'"),
    *[("subject", value) for value in ("'[1]'", """'{"booking_id": 7}'""", "'null'")],
    *[("fingerprint", value) for value in LETTERS],
    *[("ticket_ids", value) for value in ("'[7]'", "'{}'")],
    ("correlation_id", "'c-1' || chr(13) || chr(10) || 'x: y'"),
]
IN_SQLITE = [
    *[(field, NO_UTF_8) for field in FIELDS],
    *[(field, "x'00ff'") for field in FIELDS],
    *[("created_at", one) for one in ("'yesterday'", "7", "'0001-01-01 00:00:00.000000+14:00'")],
    *[("subject", "'not json'"), ("changed_at", "''"), ("status_code", "'teapot'")],
    ("fingerprint", "CAST(fingerprint AS BLOB)"),
]
IN_POSTGRESQL = [("created_at", "'infinity'"), ("changed_at", "'-infinity'")]


def damage(url, field, value, entry_id):
    if "sqlite" in url:
        value = value.replace("chr(", "char(")
    statement = f"UPDATE ferry_journal SET {field} = {value} WHERE id = '{entry_id}'"  # noqa: S608 -- of the lists above
    run_sql(url, statement.replace("%", "%%"))


def check_damaged_entry(url, field, value):
    with Journal(url) as journal:
        damaged = journal.begin(confirmation("b1"))
        whole = journal.begin(confirmation("b2"))
    damage(url, field, value, damaged)
    with Journal(url) as journal:
        listed = {entry.id: entry for entry in journal.unresolved()}
        assert set(listed) == {damaged, whole}
        assert (listed[damaged].damaged, listed[whole].damaged) == ((field,), ())
        assert listed[damaged].is_unresolved
        assert listed[damaged] == journal.entry(damaged)
        assert set(listed[damaged].subject) in ({"booking_id"}, set())
        only_old = [entry.id for entry in journal.unresolved(older_than=3600)]
        assert only_old == ([damaged] if field == "created_at" else [])
        with pytest.raises((UnresolvedWriteError, JournalError), match=damaged) as refused:
            journal.begin(confirmation("b1"))
        assert refused.value.outcome == "not_sent"
        journal.forget(older_than=0)
        assert len(journal.unresolved()) == 2
        # A person finds out what became of it: that ends it, though it is damaged.
        assert journal.settle(damaged, happened=False).state == "rejected"
        assert [entry.id for entry in journal.unresolved()] == [whole]
        assert journal.begin(confirmation("b1")) not in {damaged, whole}


class TestOneEntry:
    @each(("field", "value"), mostly_long([*EVERYWHERE, *IN_SQLITE], short=14))
    def test_in_sqlite_is_shown_and_holds_its_write_back(self, tmp_path_factory, field, value):
        url = f"sqlite:///{tmp_path_factory.mktemp('damage') / 'journal.db'}"
        check_damaged_entry(url, field, value)

    @each(("field", "value"), mostly_long([*IN_POSTGRESQL, *EVERYWHERE], short=3))
    def test_in_postgresql(self, postgres, field, value):
        check_damaged_entry(postgres.new_url(), field, value)

    def test_the_reply_of_its_own_call_still_ends_it(self, url):
        with Journal(url) as journal:
            for state in ("rejected", "not_sent", "done"):
                entry_id = journal.begin(confirmation("b1"))
                damage(url, "state", "'odd'", entry_id)
                damage(url, "subject", "'[1]'", entry_id)
                journal.end(entry_id, state)
                assert journal.entry(entry_id).state == state
            journal.begin(confirmation("b1"))

    def test_is_recovered_by_nobody_who_does_not_know_what_it_was(self, sqlite_url):
        with (
            Journal(sqlite_url) as journal,
            Ferry("token", base_url="http://127.0.0.1:9", journal=journal) as ferry,
        ):
            for field in ("operation", "subject"):
                entry_id = journal.begin(confirmation(field))
                damage(sqlite_url, field, NO_UTF_8, entry_id)
                entry = journal.unresolved()[-1]
                assert caught(sdk.OutcomeUnknownError, ferry.recover, entry).entry_id == entry_id
                assert journal.unresolved()[-1] == entry

    @given(
        field=st.sampled_from(FIELDS),
        value=st.binary(max_size=70)
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=70)
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False),
        is_text=st.booleans(),
    )
    @examples(60)
    def test_of_whatever_value_has_typed_answers(self, tmp_path_factory, field, value, is_text):
        path = tmp_path_factory.mktemp("damage") / "journal.db"
        with Journal(f"sqlite:///{path}") as journal:
            entry_id, other = journal.begin(intent(b"one")), journal.begin(intent(b"two"))
            with closing(sqlite3.connect(path)) as connection, connection:
                new = "CAST(? AS TEXT)" if is_text else "?"
                where = f"UPDATE ferry_journal SET {field} = {new} WHERE id = ?"  # noqa: S608 -- one of ours
                connection.execute(where, (value, entry_id))
            with pytest.raises((UnresolvedWriteError, JournalError), match=entry_id):
                journal.begin(intent(b"one"))
            ids = {entry.id for entry in journal.unresolved()}
            assert other in ids
            assert (entry_id in ids) == journal.entry(entry_id).is_unresolved is True
            journal.forget(older_than=0)
            journal.end(entry_id, "done")
            assert journal.settle(entry_id, happened=True).state == "done"


def test_every_use_of_a_damaged_file_is_a_journal_error(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(f"sqlite:///{path}") as journal:
        entry_id = journal.begin(intent())
    whole, noise = path.read_bytes(), b"\xa5" * 3000
    for content in (
        *(noise[:100] + whole[100:], whole[:100] + noise + whole[3100:]),
        *(whole[: len(whole) // 2], b"This is a letter. " * 300),
    ):
        path.write_bytes(content)
        with Journal(f"sqlite:///{path}") as journal:
            for use in (
                partial(journal.begin, confirmation()),
                partial(journal.end, entry_id, "done"),
                partial(journal.settle, entry_id, happened=True),
                partial(journal.entry, entry_id),
                partial(journal.forget, older_than=0),
                journal.unresolved,
            ):
                assert caught(JournalError, use).outcome == "not_sent"


class TestTheSchema:
    def test_another_version_is_refused_with_what_to_do(self, url):
        with Journal(url) as journal:
            journal.begin(intent())
        versions = {one: one for one in ("0", "1", "3", "2147483647")}
        if "sqlite" in url:
            versions |= {"'x'": "'x'", "x'00'": "b", "1.5": "1.5"}
        for version, shown in versions.items():
            run_sql(url, f"UPDATE ferry_journal_about SET schema_version = {version}")  # noqa: S608 -- of this list
            with Journal(url) as other:
                for use in (partial(other.begin, intent()), other.unresolved):
                    said = str(caught(JournalError, use))
                    assert f"the journal has schema {shown}" in said
                    assert "supports 2: settle" in said
                    assert "start a new journal" in said

    @pytest.mark.parametrize(
        "loss", ["DROP INDEX ferry_journal_unresolved", "DROP TABLE ferry_journal"]
    )
    def test_a_part_that_is_gone_is_named_and_not_made_again(self, url, loss):
        with Journal(url) as journal:
            journal.begin(intent())
        run_sql(url, loss)
        name = loss.rpartition(" ")[2]
        for _ in range(2):
            with Journal(url) as other, pytest.raises(JournalError, match=f"{name} is missing"):
                other.begin(intent())

    @pytest.mark.parametrize(
        ("loss", "how"),
        [
            ("DELETE FROM ferry_journal_about", {}),
            ("DROP TABLE ferry_journal_about", {"key": "a key of sixteen bytes or more"}),
        ],
    )
    def test_a_key_that_is_gone_is_not_made_again_while_there_are_entries(self, url, loss, how):
        with Journal(url, **how) as journal:
            journal.end(journal.begin(confirmation()), "done")
            journal.begin(intent())
        run_sql(url, loss)
        for _ in range(2):
            with Journal(url, **how) as other:
                for use in (partial(other.begin, intent()), other.unresolved):
                    assert "key is missing" in str(caught(JournalError, use))
        assert run_sql(url, "SELECT count(*) FROM ferry_journal_about") == [(0,)]

    def test_a_key_that_is_damaged_is_a_journal_error(self, url):
        with Journal(url) as journal:
            journal.begin(intent())
        run_sql(url, "CREATE TABLE kept AS SELECT own_key, key_check FROM ferry_journal_about")
        restored = "own_key = (SELECT own_key FROM kept), key_check = (SELECT key_check FROM kept)"
        zero = "x'00'" if "sqlite" in url else "'\\x00'"
        changes = {"key_check = 'wrong'": "key is damaged", f"own_key = {zero}": "key is damaged"}
        if "sqlite" in url:
            changes |= {"key_check = x'ff'": "journal", "own_key = 'a text'": "journal"}
        for change, words in changes.items():
            run_sql(url, f"UPDATE ferry_journal_about SET {change}")  # noqa: S608 -- one of these
            with Journal(url) as other:
                assert words in str(caught(JournalError, other.begin, intent()))
            run_sql(url, f"UPDATE ferry_journal_about SET {restored}")  # noqa: S608 -- as it was


@each("wrong", ["sqlite:///ferry.db", 7, object(), Journal, b"", {}])
def test_a_client_takes_no_address_of_a_journal(wrong):
    options = {"base_url": "https://ferry.example", "journal": wrong}
    for any_client in (Ferry, AsyncFerry):
        assert str(caught(ConfigurationError, any_client, "token", **options)).startswith("journal")


def test_a_database_that_fails_while_a_damaged_entry_is_read_is_a_journal_error(sqlite_url):
    def fail(_connection, _cursor, statement, *_):
        if statement.startswith("SELECT ferry_journal.operation \n"):
            raise sqlite3.OperationalError("disk I/O error")

    engine = engine_for(sqlite_url)
    with Journal(engine) as journal:
        journal.begin(intent())
        run_sql(sqlite_url, "UPDATE ferry_journal SET created_at = 'yesterday'")
        assert len(journal.unresolved()) == 1
        event.listen(engine, "before_cursor_execute", fail)
        caught(JournalError, journal.unresolved)
    engine.dispose()
