"""A damaged journal: no write is sent twice, and every other entry is listed."""

import shutil
import sqlite3
from contextlib import closing
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from ferry_sdk import (
    AsyncFerry,
    ConfigurationError,
    Ferry,
    JournalError,
    OutcomeUnknownError,
    UnresolvedWriteError,
)
from ferry_sdk.journal import Journal
from tests.journal.intents import confirmation, engine_for, intent, run_sql
from tests.support.exchanges import caught
from tests.support.tiers import examples, mostly_long

FIELDS = [
    "operation",
    "method",
    "path",
    "subject",
    "correlation_id",
    "fingerprint",
    "state",
    "created_at",
    "changed_at",
    "booking_id",
    "ticket_ids",
    "status_code",
    "code",
]
EVERYWHERE = [
    "state = 'odd'",
    "subject = '[1]'",
    """subject = '{"booking_id": 7}'""",
    "subject = 'null'",
    "fingerprint = 'Z' || substr(fingerprint, 2)",
    "fingerprint = substr(fingerprint, 2)",
    "fingerprint = ''",
    "ticket_ids = '[7]'",
    "ticket_ids = '{}'",
    "correlation_id = 'c-1' || chr(13) || chr(10) || 'x: y'",
]
"""What damages one field of an entry, in SQL."""
IN_SQLITE = [
    *[f"{field} = CAST(x'ff' AS TEXT)" for field in FIELDS],
    *[f"{field} = x'00ff'" for field in FIELDS],
    "created_at = 'yesterday'",
    "created_at = 7",
    "created_at = '0001-01-01 00:00:00.000000+14:00'",
    "subject = 'not json'",
    "changed_at = ''",
    "status_code = 'teapot'",
    "fingerprint = CAST(fingerprint AS BLOB)",
]
IN_POSTGRESQL = ["created_at = 'infinity'", "changed_at = '-infinity'"]
FILE_DAMAGES = {
    "noise at the beginning": lambda whole: whole[:100] + NOISE + whole[3100:],
    "noise instead of the header": lambda whole: NOISE[:100] + whole[100:],
    "half": lambda whole: whole[: len(whole) // 2],
    "a letter": lambda _: b"This is a letter. " * 300,
}
NOISE = b"\xa5" * 3000
USES = {
    "begin": lambda journal, _: journal.begin(confirmation("b9")),
    "end": lambda journal, entry_id: journal.end(entry_id, "done"),
    "settle": lambda journal, entry_id: journal.settle(entry_id, happened=True),
    "entry": lambda journal, entry_id: journal.entry(entry_id),
    "forget": lambda journal, _: journal.forget(older_than=0),
    "unresolved": lambda journal, _: journal.unresolved(),
}
BEGIN_AND_READ = [USES["begin"], USES["unresolved"]]
KEY = "a key of sixteen bytes or more"


def damage(url, change, entry_id):
    if "sqlite" in url:
        change = change.replace("chr(", "char(")
    statement = f"UPDATE ferry_journal SET {change} WHERE id = '{entry_id}'"  # noqa: S608 -- of the lists above
    run_sql(url, statement.replace("%", "%%"))


class Template(NamedTuple):
    """The file of a journal with two open entries, which is only copied."""

    path: object
    first: str
    second: str


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "journal.db"
    with Journal(f"sqlite:///{path}") as journal:
        first = journal.begin(confirmation("b1"))
        second = journal.begin(confirmation("b2"))
    return Template(path, first, second)


class Damaged(NamedTuple):
    """A journal with one damaged entry and a whole one."""

    journal: Journal
    field: str
    entry_id: str
    whole_id: str


@pytest.fixture(params=mostly_long([*EVERYWHERE, *IN_SQLITE], short=14))
def damaged(request, template, tmp_path):
    """A journal in SQLite, for each damage."""
    shutil.copy(template.path, tmp_path / "journal.db")
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    damage(url, request.param, template.first)
    with Journal(url) as journal:
        yield Damaged(journal, request.param.split()[0], template.first, template.second)


@pytest.fixture(params=mostly_long([*IN_POSTGRESQL, *EVERYWHERE], short=3))
def damaged_in_postgresql(request, postgres):
    """A journal in PostgreSQL, for each damage."""
    url = postgres.new_url()
    with Journal(url) as journal:
        first = journal.begin(confirmation("b1"))
        second = journal.begin(confirmation("b2"))
        damage(url, request.param, first)
        yield Damaged(journal, request.param.split()[0], first, second)


def check_listed(damaged):
    """It is listed with the name of the damaged field, and so is the whole entry."""
    listed = {entry.id: entry for entry in damaged.journal.unresolved()}
    assert set(listed) == {damaged.entry_id, damaged.whole_id}
    entry = listed[damaged.entry_id]
    assert entry.damaged == (damaged.field,)
    assert listed[damaged.whole_id].damaged == ()
    assert entry == damaged.journal.entry(damaged.entry_id)
    assert entry.is_unresolved
    assert set(entry.subject) in ({"booking_id"}, set())


def check_age(damaged):
    """It is old if nobody knows when it began."""
    expected = [damaged.entry_id] if damaged.field == "created_at" else []
    assert [entry.id for entry in damaged.journal.unresolved(older_than=3600)] == expected


def check_held_back(damaged):
    """Its write is not begun again."""
    with pytest.raises((UnresolvedWriteError, JournalError), match=damaged.entry_id) as refused:
        damaged.journal.begin(confirmation("b1"))
    assert refused.value.outcome == "not_sent"


def check_kept(damaged):
    """It is not forgotten."""
    damaged.journal.forget(older_than=0)
    assert len(damaged.journal.unresolved()) == 2


def check_settled(damaged):
    """A person settles it, and then its write can be begun again."""
    assert damaged.journal.settle(damaged.entry_id, happened=False).state == "rejected"
    assert [entry.id for entry in damaged.journal.unresolved()] == [damaged.whole_id]
    assert damaged.journal.begin(confirmation("b1")) not in {damaged.entry_id, damaged.whole_id}


def test_damaged_entry_is_listed(damaged):
    check_listed(damaged)


def test_entry_with_a_damaged_time_is_old(damaged):
    check_age(damaged)


def test_damaged_entry_holds_its_write_back(damaged):
    check_held_back(damaged)


def test_damaged_entry_is_not_forgotten(damaged):
    check_kept(damaged)


def test_person_settles_a_damaged_entry(damaged):
    check_settled(damaged)


def test_damaged_entry_of_postgresql_is_the_same(damaged_in_postgresql):
    check_listed(damaged_in_postgresql)
    check_age(damaged_in_postgresql)
    check_held_back(damaged_in_postgresql)
    check_kept(damaged_in_postgresql)
    check_settled(damaged_in_postgresql)


@pytest.mark.parametrize("state", ["rejected", "not_sent", "done"])
def test_reply_of_its_call_ends_a_damaged_entry(url, journal, state):
    entry_id = journal.begin(confirmation("b1"))
    damage(url, "state = 'odd'", entry_id)
    damage(url, "subject = '[1]'", entry_id)
    journal.end(entry_id, state)
    assert journal.entry(entry_id).state == state
    assert journal.begin(confirmation("b1")) != entry_id


@pytest.mark.parametrize("field", ["operation", "subject"])
def test_write_with_unreadable_fields_is_not_recovered(sqlite_url, field):
    with (
        Journal(sqlite_url) as journal,
        Ferry("token", base_url="http://127.0.0.1:9", journal=journal) as ferry,
    ):
        entry_id = journal.begin(confirmation("b1"))
        damage(sqlite_url, f"{field} = CAST(x'ff' AS TEXT)", entry_id)
        (entry,) = journal.unresolved()
        assert caught(OutcomeUnknownError, ferry.recover, entry).entry_id == entry_id
        assert journal.unresolved() == (entry,)


@pytest.mark.slow
@given(
    field=st.sampled_from(FIELDS),
    value=st.binary(max_size=70)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=70)
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False),
    is_text=st.booleans(),
)
@examples(60)
def test_any_value_has_typed_answers(tmp_path_factory, field, value, is_text):
    path = tmp_path_factory.mktemp("damage") / "journal.db"
    with Journal(f"sqlite:///{path}") as journal:
        entry_id = journal.begin(intent(b"one"))
        other = journal.begin(intent(b"two"))
        with closing(sqlite3.connect(path)) as connection, connection:
            new = "CAST(? AS TEXT)" if is_text else "?"
            statement = f"UPDATE ferry_journal SET {field} = {new} WHERE id = ?"  # noqa: S608 -- one of ours
            connection.execute(statement, (value, entry_id))

        with pytest.raises((UnresolvedWriteError, JournalError), match=entry_id):
            journal.begin(intent(b"one"))
        ids = {entry.id for entry in journal.unresolved()}
        assert other in ids
        assert (entry_id in ids) == journal.entry(entry_id).is_unresolved is True
        journal.forget(older_than=0)
        journal.end(entry_id, "done")
        assert journal.settle(entry_id, happened=True).state == "done"


@pytest.mark.parametrize("content", FILE_DAMAGES)
@pytest.mark.parametrize("use", USES)
def test_damaged_file_raises_a_journal_error(template, tmp_path, content, use):
    path = tmp_path / "journal.db"
    path.write_bytes(FILE_DAMAGES[content](template.path.read_bytes()))
    with Journal(f"sqlite:///{path}") as journal:
        assert caught(JournalError, USES[use], journal, template.first).outcome == "not_sent"


@pytest.fixture
def used_url(url):
    """The address of a journal with one open entry."""
    with Journal(url) as journal:
        journal.begin(confirmation("b1"))
    return url


def check_version_refused(url, version, shown):
    run_sql(url, f"UPDATE ferry_journal_about SET schema_version = {version}")  # noqa: S608 -- of these rows
    with Journal(url) as journal:
        for use in BEGIN_AND_READ:
            problem = str(caught(JournalError, use, journal, ""))
            assert f"the journal has schema {shown}" in problem
            assert "supports 2: settle" in problem
            assert "start a new journal" in problem


@pytest.mark.parametrize("version", ["0", "1", "3", "2147483647"])
def test_other_version_is_refused_with_what_to_do(used_url, version):
    check_version_refused(used_url, version, version)


@pytest.mark.parametrize(("version", "shown"), [("'x'", "'x'"), ("x'00'", "b"), ("1.5", "1.5")])
def test_version_that_is_no_number_is_refused(template, tmp_path, version, shown):
    shutil.copy(template.path, tmp_path / "journal.db")
    check_version_refused(f"sqlite:///{tmp_path / 'journal.db'}", version, shown)


@pytest.mark.parametrize(
    "loss", ["DROP INDEX ferry_journal_unresolved", "DROP TABLE ferry_journal"]
)
def test_lost_part_is_named_each_time(used_url, loss):
    run_sql(used_url, loss)
    name = loss.rpartition(" ")[2]
    for _ in range(2):  # the first use does not make it again
        with Journal(used_url) as journal, pytest.raises(JournalError, match=f"{name} is missing"):
            journal.begin(intent())


@pytest.mark.parametrize(
    ("loss", "key"),
    [("DELETE FROM ferry_journal_about", None), ("DROP TABLE ferry_journal_about", KEY)],
    ids=["own key", "callers key"],
)
def test_lost_key_is_not_made_again(url, loss, key):
    with Journal(url, key=key) as journal:
        journal.end(journal.begin(confirmation()), "done")
        journal.begin(intent())
    run_sql(url, loss)
    for _ in range(2):  # the first use does not make it again
        with Journal(url, key=key) as journal:
            for use in BEGIN_AND_READ:
                assert "key is missing" in str(caught(JournalError, use, journal, ""))
    assert run_sql(url, "SELECT count(*) FROM ferry_journal_about") == [(0,)]


def check_key_refused(url, change, words):
    run_sql(url, f"UPDATE ferry_journal_about SET {change}")  # noqa: S608 -- of these rows
    with Journal(url) as journal:
        assert words in str(caught(JournalError, journal.begin, intent()))


@pytest.mark.parametrize("column", ["key_check", "own_key"])
def test_damaged_key_is_a_journal_error(used_url, column):
    zero = "x'00'" if "sqlite" in used_url else "'\\x00'"
    value = "'wrong'" if column == "key_check" else zero
    check_key_refused(used_url, f"{column} = {value}", "key is damaged")


@pytest.mark.parametrize("change", ["key_check = x'ff'", "own_key = 'a text'"])
def test_key_of_another_type_is_a_journal_error(template, tmp_path, change):
    shutil.copy(template.path, tmp_path / "journal.db")
    check_key_refused(f"sqlite:///{tmp_path / 'journal.db'}", change, "journal")


@pytest.mark.parametrize("client", [Ferry, AsyncFerry])
@pytest.mark.parametrize(
    "wrong",
    ["sqlite:///ferry.db", 7, object(), Journal, b"", {}],
    ids=["url", "number", "object", "class", "bytes", "dict"],
)
def test_client_takes_no_address_of_a_journal(client, wrong):
    error = caught(
        ConfigurationError, client, "token", base_url="https://ferry.example", journal=wrong
    )
    assert str(error).startswith("journal")


def test_failure_while_a_damaged_entry_is_read(sqlite_url):
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
