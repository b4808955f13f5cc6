"""Entries from their beginning to their end: who may say what, and what stands."""

import copy
import math
import pickle
from datetime import datetime, timedelta, timezone

import pytest
import time_machine
from sqlalchemy import event
from sqlalchemy.pool import Pool

from ferry_sdk import (
    ConfigurationError,
    FerryError,
    InvalidInputError,
    JournalError,
    UnresolvedWriteError,
)
from ferry_sdk.journal import Journal, engines
from tests.journal.databases import run_sql
from tests.journal.intents import confirmation, intent
from tests.support.exchanges import caught
from tests.support.tables import each

ENDS = ("unknown", "not_sent", "rejected", "done")
UNKNOWN_IDS = ("0" * 32, "", "' OR 1=1 --", 7, None, ["e"])


def begin_and_end(journal, *states):
    entry_id = journal.begin(intent())
    for state in states:
        journal.end(entry_id, state)
    return entry_id


class TestBeginning:
    def test_what_is_begun_is_open_with_all_its_facts(self, any_journal):
        before = datetime.now(timezone.utc)
        entry_id = any_journal.begin(confirmation("b7", correlation_id="trace-9"))
        entry = any_journal.entry(entry_id)
        assert entry.id == entry_id
        assert (entry.operation, entry.method, entry.path) == (
            "bookings.confirm",
            "POST",
            "booking/confirm",
        )
        assert entry.subject == {"booking_id": "b7"}
        assert entry.correlation_id == "trace-9"
        assert entry.state == "open"
        assert entry.is_unresolved
        assert before <= entry.created_at == entry.changed_at <= datetime.now(timezone.utc)
        assert entry.created_at.tzinfo is timezone.utc is entry.changed_at.tzinfo

    def test_it_is_committed_before_begin_returns(self, url, journal):
        entry_id = journal.begin(intent())
        journal.save_snapshot("b1", "saved")
        with Journal(url) as other:
            assert other.entry(entry_id) == journal.entry(entry_id)
            assert other.load_snapshots(["b1"]) == {"b1": "saved"}

    def test_the_twin_of_an_unresolved_write_is_refused_with_its_entry(self, any_journal):
        first = any_journal.begin(confirmation())
        over_mcp = confirmation(operation="mcp.confirm_booking", path="mcp", correlation_id="c-2")
        for _ in ("open", "unknown"):
            error = caught(UnresolvedWriteError, any_journal.begin, over_mcp)
            assert error.entry == any_journal.entry(first)
            assert error.outcome == "not_sent"
            assert len(any_journal.unresolved()) == 1
            assert pickle.loads(pickle.dumps(error)).entry == error.entry
            assert copy.deepcopy(error).entry == error.entry
            any_journal.end(first, "unknown")

    def test_another_effect_or_content_is_another_write(self, any_journal):
        for content, effect in ((b"abc", "a"), (b"bc", "a"), (b"c", "ab"), (b"c", "a")):
            any_journal.begin(intent(content, effect=effect))
        assert len({entry.fingerprint for entry in any_journal.unresolved()}) == 4


class TestTheLastWord:
    def test_knowledge_replaces_doubt_and_an_effect_replaces_everything(self, any_journal):
        for first in ("open", *ENDS):
            for last in ENDS:
                doubted = first in {"open", "unknown"} and last != "unknown"
                expected = last if first == "open" or doubted or last == "done" else first
                entry_id = any_journal.begin(confirmation(f"{first} {last}"))
                if first != "open":
                    any_journal.end(entry_id, first)
                before = any_journal.entry(entry_id)
                any_journal.end(entry_id, last)
                entry = any_journal.entry(entry_id)
                assert entry.state == expected, (first, last)
                assert entry.changed_at >= entry.created_at
                if first == "done":
                    assert entry == before, last
                if expected != "unknown":  # the twin of a settled write may begin
                    twin = any_journal.begin(confirmation(f"{first} {last}"))
                    assert twin != entry_id, (first, last)

    def test_a_reply_corrects_a_person_who_gave_up_and_not_one_who_saw_the_effect(
        self, any_journal
    ):
        entry_id = any_journal.begin(intent())
        any_journal.settle(entry_id, happened=False)
        any_journal.end(entry_id, "done")
        assert any_journal.entry(entry_id).state == "done"
        for late in ("unknown", "rejected", "not_sent"):
            entry_id = any_journal.begin(intent())
            any_journal.settle(entry_id, happened=True)
            any_journal.end(entry_id, late)
            assert any_journal.entry(entry_id).state == "done", late

    def test_a_late_end_of_a_write_given_up_does_not_touch_its_second_try(self, any_journal):
        first = any_journal.begin(intent())
        any_journal.settle(first, happened=False)
        second = any_journal.begin(intent())
        any_journal.end(first, "unknown")
        assert [entry.id for entry in any_journal.unresolved()] == [second]

    def test_an_end_needs_an_entry_and_a_state_in_which_a_write_ends(self, any_journal):
        with pytest.raises(JournalError, match="no entry with this id"):
            any_journal.end("0" * 32, "done")
        entry_id = any_journal.begin(intent())
        assert caught(InvalidInputError, any_journal.end, entry_id, "open").field == "state"


class TestReading:
    def test_unresolved_ones_come_oldest_first(self, any_journal):
        ids = [any_journal.begin(confirmation(f"b{number}")) for number in range(8)]
        any_journal.end(ids[3], "done")
        any_journal.end(ids[5], "unknown")
        assert [entry.id for entry in any_journal.unresolved()] == ids[:3] + ids[4:]
        for hour in (3600, timedelta(hours=1), 0.5e4):
            assert any_journal.unresolved(older_than=hour) == ()

    @each(
        "wrong",
        [
            -1,
            math.nan,
            math.inf,
            1e300,
            timedelta.max.total_seconds(),  # rounded, and so beyond what a timedelta holds
            True,
            "1",
            None,
            timedelta(seconds=-1),
            timedelta.max,
        ],
    )
    def test_an_age_that_is_none_is_refused(self, any_journal, wrong):
        for reading in (any_journal.unresolved, any_journal.forget):
            assert caught(InvalidInputError, reading, older_than=wrong).field == "older_than"

    def test_what_is_begun_at_this_very_moment_is_among_them(self, any_journal):
        with time_machine.travel(datetime(2027, 3, 1, tzinfo=timezone.utc), tick=False):
            entry_id = any_journal.begin(intent())
            assert [entry.id for entry in any_journal.unresolved()] == [entry_id]

    def test_an_unknown_id_is_refused_by_name(self, any_journal):
        for wrong in UNKNOWN_IDS:
            assert caught(InvalidInputError, any_journal.entry, wrong).field == "entry_id"
            error = caught(InvalidInputError, any_journal.settle, wrong, happened=True)
            assert error.field == "entry_or_id"


class TestSettling:
    @each(("happened", "state"), [(True, "done"), (False, "rejected")])
    def test_a_person_says_what_became_of_it(self, any_journal, happened, state):
        for before in ("open", "unknown"):
            entry_id = begin_and_end(any_journal, *(["unknown"] if before == "unknown" else []))
            entry = any_journal.settle(any_journal.entry(entry_id), happened=happened)
            assert entry.state == state
            assert entry == any_journal.entry(entry_id)
            assert any_journal.unresolved() == ()
            again = any_journal.settle(entry_id, happened=happened)
            assert again == entry, "to say it twice changes nothing"

    def test_what_is_done_cannot_be_said_not_to_have_happened(self, any_journal):
        entry_id = begin_and_end(any_journal, "done")
        with pytest.raises(InvalidInputError, match="recorded as done") as caught:
            any_journal.settle(entry_id, happened=False)
        assert caught.value.field == "happened"
        assert any_journal.entry(entry_id).state == "done"

    @each("state", ["rejected", "not_sent"])
    def test_what_was_given_up_can_be_corrected_and_confirmed(self, any_journal, state):
        entry_id = begin_and_end(any_journal, state)
        assert any_journal.settle(entry_id, happened=False).state == state
        assert any_journal.settle(entry_id, happened=True).state == "done"

    def test_what_happened_is_yes_or_no(self, any_journal):
        entry_id = any_journal.begin(intent())
        for wrong in (None, 1, "no"):
            error = caught(InvalidInputError, any_journal.settle, entry_id, happened=wrong)
            assert error.field == "happened"
        assert any_journal.entry(entry_id).state == "open"


class TestForgetting:
    def test_settled_ones_go_and_unresolved_and_young_ones_stay(self, any_journal):
        assert any_journal.forget(older_than=0) == 0, "it is new"
        ids = {}
        for state in ("open", *ENDS):
            ids[state] = any_journal.begin(confirmation(state))
            if state != "open":
                any_journal.end(ids[state], state)
        assert any_journal.forget(older_than=timedelta(days=1)) == 0
        assert any_journal.forget(older_than=0) == 3
        assert {entry.id for entry in any_journal.unresolved()} == {ids["open"], ids["unknown"]}
        assert any_journal.forget(older_than=0) == 0
        caught(InvalidInputError, any_journal.entry, ids["done"])

    def test_age_is_counted_from_the_end_and_not_from_the_beginning(self, url, journal):
        entry_id = journal.begin(intent())
        past = "'2026-01-02 03:04:05.000000'"
        run_sql(url, f"UPDATE ferry_journal SET created_at = {past}, changed_at = {past}")  # noqa: S608 -- a moment
        begun = journal.entry(entry_id)
        journal.end(entry_id, "done")
        entry = journal.entry(entry_id)
        assert entry.created_at == begun.created_at < entry.changed_at
        assert datetime.now(timezone.utc) - entry.changed_at < timedelta(hours=1)
        assert journal.forget(older_than=3600) == 0
        run_sql(url, f"UPDATE ferry_journal SET changed_at = {past}")  # noqa: S608 -- a moment
        assert journal.forget(older_than=3600) == 1


class TestClosing:
    def test_a_closed_journal_refuses_everything(self, any_journal):
        with any_journal:
            entry_id = any_journal.begin(intent())
        any_journal.close()
        for use in (
            lambda: any_journal.begin(intent()),
            lambda: any_journal.end(entry_id, "done"),
            lambda: any_journal.entry(entry_id),
            lambda: any_journal.save_snapshot("b1", "late"),
            any_journal.unresolved,
        ):
            with pytest.raises(ConfigurationError, match="closed") as caught:
                use()
            assert isinstance(caught.value, FerryError)

    def test_a_connection_in_use_is_closed_when_its_use_ends(self, any_journal):
        open_connections = set()
        event.listen(Pool, "connect", lambda connection, _: open_connections.add(id(connection)))
        event.listen(Pool, "close", lambda connection, _: open_connections.discard(id(connection)))
        any_journal.begin(intent())
        with engines.connect(any_journal._engine):
            any_journal.close()
            assert open_connections
        assert not open_connections

    def test_it_is_neither_pickled_nor_copied(self, any_journal):
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="URL"):
                way(any_journal)
