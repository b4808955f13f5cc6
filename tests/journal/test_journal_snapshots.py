"""What watches save in a journal."""

from __future__ import annotations

from ferry_sdk import ConfigurationError
from ferry_sdk.journal import Journal
from tests.support.exchanges import caught


def test_snapshots_are_replaced_found_by_id_and_forgotten(any_journal):
    assert any_journal.load_snapshots(["b1"]) == {}
    for content in ("first", "second é"):
        any_journal.save_snapshot("b1", content)
    any_journal.save_snapshot("b2", "other")
    ids = [f"b{number}" for number in range(1_200)]
    assert any_journal.load_snapshots(ids) == {"b1": "second é", "b2": "other"}
    assert any_journal.load_snapshots([]) == {}
    any_journal.forget(older_than=3600)
    assert len(any_journal.load_snapshots(ids)) == 2
    assert any_journal.forget(older_than=0) == 0
    assert any_journal.load_snapshots(ids) == {}


def test_snapshots_of_another_process_are_seen(url):
    with Journal(url) as here, Journal(url) as there:
        here.save_snapshot("b1", "saved")
        assert there.load_snapshots(["b1"]) == {"b1": "saved"}


def test_a_journal_that_is_closed_saves_nothing(sqlite_url):
    journal = Journal(sqlite_url)
    journal.close()
    caught(ConfigurationError, journal.save_snapshot, "b1", "late")
