"""Journals that released versions have made, as `stored.py` says, are read and written."""

import shutil
from collections import Counter

import pytest

from ferry_sdk import UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.types import IdempotencyKey
from tests.journal.intents import confirmation, intent, run_sql
from tests.journal.stored import FOLDER, MOMENT
from tests.support.exchanges import caught

FILES = sorted(FOLDER.iterdir())


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def stored(request, tmp_path):
    """A journal that another version has made."""
    if request.param.suffix == ".db":
        shutil.copy(request.param, tmp_path / "journal.db")
        url = f"sqlite:///{tmp_path / 'journal.db'}"
    else:
        url = request.getfixturevalue("postgres").new_url()
        run_sql(url, request.param.read_text(encoding="utf-8").replace("%", "%%"))
    with Journal(url) as journal:
        yield journal


def test_both_databases_are_stored():
    assert {path.suffix for path in FILES} == {".db", ".sql"}


def test_every_entry_is_whole(stored):
    entries = stored.entries()
    states = Counter(entry.state for entry in entries)
    assert states == {"done": 3, "rejected": 1, "not_sent": 1, "unknown": 1, "open": 1}
    assert [entry.damaged for entry in entries] == [()] * 7


def test_unresolved_entries_are_old(stored):
    unresolved = stored.unresolved(older_than=60)
    assert [entry.operation for entry in unresolved] == ["bookings.confirm", "bookings.create"]


def test_same_write_is_refused(stored):
    caught(UnresolvedWriteError, stored.begin, intent(b"a crew"))
    caught(UnresolvedWriteError, stored.begin, confirmation("b-4"))


def test_what_outcomes_named_is_kept(stored):
    first, second = stored.entries(booking_id="b-ß-1")
    assert (first.correlation_id, second.ticket_ids) == ("order-1", ("t-1", "t-2"))
    (refused,) = stored.entries(state="rejected")
    assert (refused.status_code, refused.code) == (409, "BOOKING_EXPIRED")


def test_booking_that_a_person_settled_is_corrected(stored):
    (entry,) = stored.entries(booking_id="b-5")
    assert stored.settle(entry, happened=True, booking_id="b-6").booking_id == "b-6"


def test_order_and_snapshot_are_kept(stored):
    (order,) = stored.load_orders(only_unfinished=True)
    stored.save_order(order)
    assert stored.load_snapshots(["b-ß-1"]) == {"b-ß-1": "{}"}


def test_departures_are_added(stored):
    assert "b-ß-1" in {*stored.booking_ids(departs_after=MOMENT)}
    stored.save_departures("b-ß-1", "new", ends_at=MOMENT, snapshot=None)
    assert "b-ß-1" not in {*stored.booking_ids(departs_after=MOMENT)}
    assert stored.load_departures(["b-ß-1"]) == {"b-ß-1": ("new", 2)}


def test_key_is_used_once(stored):
    key = IdempotencyKey("order-4711", b"a family")
    entry_id = stored.begin(intent(idempotency_key=key))
    error = caught(UnresolvedWriteError, stored.begin, intent(b"later", idempotency_key=key))
    assert error.entry.id == entry_id


def test_unresolved_entry_gets_its_outcome(stored):
    for entry in stored.unresolved():
        stored.end(entry.id, "done")
    assert stored.unresolved() == ()
    assert stored.forget(older_than=0) == 7
