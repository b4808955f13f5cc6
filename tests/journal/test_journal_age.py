"""What is old: entries of another clock, and what `forget` deletes, page by page."""

from datetime import timedelta

import pytest
from sqlalchemy import event, insert

from ferry_sdk.journal import Journal, schema, statements
from ferry_sdk.journal import journal as journals
from ferry_sdk.types import OrderRecord
from tests.journal.intents import confirmation, engine_for, intent, run_sql

HOUR = timedelta(hours=1)


@pytest.fixture
def ahead(monkeypatch):
    """A function that makes an entry by a clock that is ahead by some time."""

    def begin(journal, seconds):
        later = schema.utc_now() + timedelta(seconds=seconds)
        with monkeypatch.context() as patch:
            patch.setattr(statements, "utc_now", lambda: later)
            return journal.begin(confirmation(f"ahead {seconds}"))

    return begin


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(journals, "_PAGE", 10)


def add_settled(url, count):
    """Add entries that were settled two hours ago."""
    moment = schema.utc_now() - 2 * HOUR
    rows = [
        {
            "id": f"{number:032}",
            "operation": "bookings.confirm",
            "method": "POST",
            "path": "booking/confirm",
            "subject": {},
            "correlation_id": "c-1",
            "fingerprint": "0" * 64,
            "state": "done",
            "created_at": moment,
            "changed_at": moment,
            "booking_id": "b1",
        }
        for number in range(count)
    ]
    engine = engine_for(url)
    with engine.begin() as connection:
        connection.execute(insert(schema.entries), rows)
    engine.dispose()


@pytest.fixture
def old_url(url):
    """The address of a journal with 35 entries that were settled two hours ago."""
    with Journal(url) as journal:
        journal.unresolved()
    add_settled(url, 35)
    return url


def commits(journal):
    """The statements that delete entries, each of which is a transaction."""
    seen = []

    def note(_connection, _cursor, statement, *_):
        if statement.startswith("DELETE FROM ferry_journal "):
            seen.append(statement)

    event.listen(journal._engine, "after_cursor_execute", note)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [5, 7200, 10**7])
def test_entry_of_the_future_is_old(journal, ahead, seconds):
    entry_id = ahead(journal, seconds)
    assert [entry.id for entry in journal.unresolved(older_than=60)] == [entry_id]


def test_entry_of_now_is_not_old(journal):
    journal.begin(intent())
    assert journal.unresolved(older_than=60) == ()


def test_entry_of_the_future_is_not_forgotten(journal, ahead):
    entry_id = ahead(journal, 7200)
    run_sql(
        journal._engine.url.render_as_string(hide_password=False).replace("+psycopg", ""),
        "UPDATE ferry_journal SET state = 'done', changed_at = created_at",
    )
    assert journal.forget(older_than=60) == 0
    assert journal.entry(entry_id).state == "done"


@pytest.mark.usefixtures("small_pages")
def test_each_page_is_a_transaction(old_url):
    with Journal(old_url) as journal:
        deletions = commits(journal)
        assert journal.forget(older_than=HOUR) == 35
    assert len(deletions) == 4


@pytest.mark.usefixtures("small_pages")
def test_pages_leave_what_is_not_old(old_url):
    with Journal(old_url) as journal:
        kept = {journal.begin(confirmation(f"b{number}")) for number in range(12)}
        journal.forget(older_than=HOUR)
        assert {entry.id for entry in journal.entries()} == kept


@pytest.mark.usefixtures("small_pages")
def test_pages_leave_the_entry_of_an_order(old_url):
    with Journal(old_url) as journal:
        journal.save_order(OrderRecord("o" * 32, "hold", "{}", f"{7:032}", False, 0))
        assert journal.forget(older_than=HOUR) == 34
        assert [entry.id for entry in journal.entries()] == [f"{7:032}"]


@pytest.mark.usefixtures("small_pages")
def test_everything_old_is_deleted(url, journal):
    for number in range(25):
        journal.save_order(OrderRecord(f"{number:032}", "hold", "{}", None, True, 0))
        journal.save_snapshot(f"b{number}", "{}")
    journal.forget(older_than=0)
    assert journal.load_orders() == ()
    assert run_sql(url, "SELECT count(*) FROM ferry_journal_snapshots") == [(0,)]


@pytest.mark.usefixtures("small_pages")
def test_interruption_between_pages_keeps_the_rest(old_url, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    with Journal(old_url) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(journals.time, "sleep", interrupt)
            with pytest.raises(KeyboardInterrupt):
                journal.forget(older_than=HOUR)
        assert len(journal.entries()) == 25
        assert journal.forget(older_than=HOUR) == 25


@pytest.mark.usefixtures("small_pages")
def test_write_goes_on_between_pages(old_url, monkeypatch):
    begun = []

    def begin_meanwhile(_):
        with Journal(old_url) as other:
            begun.append(other.begin(confirmation(f"b{len(begun)}")))

    with Journal(old_url) as journal, monkeypatch.context() as patch:
        patch.setattr(journals.time, "sleep", begin_meanwhile)
        journal.forget(older_than=HOUR)
        assert {entry.id for entry in journal.entries()} == {*begun}
    assert len(begun) == 3
