"""Entries from their beginning to their end: who may say what, and what stands."""

import copy
import math
import pickle
from datetime import datetime, timedelta, timezone

import pytest
import time_machine

from ferry_sdk import (
    ConfigurationError,
    FerryError,
    InvalidInputError,
    JournalError,
    UnresolvedWriteError,
)
from ferry_sdk.journal import Journal
from tests.journal.databases import run_sql
from tests.journal.intents import confirmation, intent
from tests.support.exchanges import caught
from tests.support.tables import each

UNRESOLVED = ("open", "unknown")
ENDS = ("unknown", "not_sent", "rejected", "done")


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

    def test_it_is_committed_before_begin_returns(self, url, journal):
        entry_id = journal.begin(intent())
        with Journal(url) as other:
            assert other.entry(entry_id) == journal.entry(entry_id)

    def test_moments_are_aware_and_in_utc(self, any_journal):
        entry = any_journal.entry(any_journal.begin(intent()))
        assert entry.created_at.utcoffset() == timedelta(0) == entry.changed_at.utcoffset()
        assert entry.created_at.tzinfo is timezone.utc is entry.changed_at.tzinfo

    @pytest.mark.parametrize("state", UNRESOLVED)
    def test_the_twin_of_an_unresolved_write_is_refused_with_its_entry(self, any_journal, state):
        first = any_journal.begin(confirmation())
        if state != "open":
            any_journal.end(first, state)
        error = caught(UnresolvedWriteError, any_journal.begin, confirmation(correlation_id="c-2"))
        assert error.entry == any_journal.entry(first)
        assert error.outcome == "not_sent"
        assert len(any_journal.unresolved()) == 1

    @pytest.mark.parametrize("state", ["done", "rejected", "not_sent"])
    def test_the_twin_of_a_settled_write_may_begin(self, any_journal, state):
        first = begin_and_end(any_journal, state)
        assert any_journal.begin(intent()) != first

    def test_the_same_content_for_another_effect_is_another_write(self, any_journal):
        any_journal.begin(intent(effect="bookings.create"))
        any_journal.begin(intent(effect="bookings.confirm"))
        assert len(any_journal.unresolved()) == 2

    def test_effect_and_content_do_not_run_into_each_other(self, any_journal):
        any_journal.begin(intent(b"bc", effect="a"))
        any_journal.begin(intent(b"c", effect="ab"))
        assert len({entry.fingerprint for entry in any_journal.unresolved()}) == 2

    def test_the_same_effect_of_both_protocols_is_one_write(self, any_journal):
        first = any_journal.begin(confirmation())
        with pytest.raises(UnresolvedWriteError) as caught:
            any_journal.begin(confirmation(operation="mcp.confirm_booking", path="mcp"))
        assert caught.value.entry.id == first

    def test_the_refusal_survives_a_pickle(self, any_journal):
        any_journal.begin(confirmation())
        error = caught(UnresolvedWriteError, any_journal.begin, confirmation())
        assert pickle.loads(pickle.dumps(error)).entry == error.entry
        assert copy.deepcopy(error).entry == error.entry


class TestTheLastWord:
    @pytest.mark.parametrize("state", ENDS)
    def test_an_open_write_ends_in_any_state(self, any_journal, state):
        entry_id = begin_and_end(any_journal, state)
        entry = any_journal.entry(entry_id)
        assert entry.state == state
        assert entry.changed_at >= entry.created_at

    @pytest.mark.parametrize("state", ["not_sent", "rejected", "done"])
    def test_an_unknown_write_is_settled_by_any_knowledge(self, any_journal, state):
        assert any_journal.entry(begin_and_end(any_journal, "unknown", state)).state == state

    @pytest.mark.parametrize("state", ENDS)
    def test_what_is_done_stays_done(self, any_journal, state):
        entry_id = begin_and_end(any_journal, "done")
        before = any_journal.entry(entry_id)
        any_journal.end(entry_id, state)
        assert any_journal.entry(entry_id) == before

    @pytest.mark.parametrize("settled", ["rejected", "not_sent"])
    def test_doubt_does_not_unsettle_what_did_not_happen(self, any_journal, settled):
        assert any_journal.entry(begin_and_end(any_journal, settled, "unknown")).state == settled

    def test_a_reply_corrects_a_person_who_gave_the_write_up(self, any_journal):
        entry_id = any_journal.begin(intent())
        any_journal.settle(entry_id, happened=False)
        any_journal.end(entry_id, "done")
        assert any_journal.entry(entry_id).state == "done"

    @pytest.mark.parametrize("late", ["unknown", "rejected", "not_sent"])
    def test_a_late_end_does_not_take_back_what_a_person_saw(self, any_journal, late):
        entry_id = any_journal.begin(intent())
        any_journal.settle(entry_id, happened=True)
        any_journal.end(entry_id, late)
        assert any_journal.entry(entry_id).state == "done"

    def test_a_late_end_of_a_write_given_up_does_not_touch_its_second_try(self, any_journal):
        first = any_journal.begin(intent())
        any_journal.settle(first, happened=False)
        second = any_journal.begin(intent())
        any_journal.end(first, "unknown")
        assert [entry.id for entry in any_journal.unresolved()] == [second]

    def test_the_end_of_an_entry_that_is_not_there_is_refused(self, any_journal):
        with pytest.raises(JournalError, match="no entry with this id"):
            any_journal.end("0" * 32, "done")

    def test_a_write_cannot_end_open(self, any_journal):
        entry_id = any_journal.begin(intent())
        assert caught(InvalidInputError, any_journal.end, entry_id, "open").field == "state"


class TestReading:
    def test_unresolved_ones_come_oldest_first(self, any_journal):
        ids = [any_journal.begin(confirmation(f"b{number}")) for number in range(8)]
        any_journal.end(ids[3], "done")
        any_journal.end(ids[5], "unknown")
        assert [entry.id for entry in any_journal.unresolved()] == ids[:3] + ids[4:]

    @pytest.mark.parametrize("ages", [(3600, 0), (timedelta(hours=1), timedelta(0)), (0.5e4, 0.0)])
    def test_young_ones_can_be_left_out(self, any_journal, ages):
        entry_id = any_journal.begin(intent())
        old, young = ages
        assert any_journal.unresolved(older_than=old) == ()
        assert [entry.id for entry in any_journal.unresolved(older_than=young)] == [entry_id]

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

    @each("wrong", ["0" * 32, "", "' OR 1=1 --", 7, None, ["e"]])
    def test_an_unknown_id_is_refused_by_name(self, any_journal, wrong):
        assert caught(InvalidInputError, any_journal.entry, wrong).field == "entry_id"


class TestSettling:
    @pytest.mark.parametrize("before", UNRESOLVED)
    @pytest.mark.parametrize(("happened", "state"), [(True, "done"), (False, "rejected")])
    def test_a_person_says_what_became_of_it(self, any_journal, before, happened, state):
        entry_id = any_journal.begin(intent())
        if before != "open":
            any_journal.end(entry_id, before)
        entry = any_journal.settle(any_journal.entry(entry_id), happened=happened)
        assert entry.state == state
        assert entry == any_journal.entry(entry_id)
        assert any_journal.unresolved() == ()
        any_journal.begin(intent())

    @pytest.mark.parametrize("happened", [True, False])
    def test_to_say_it_twice_changes_nothing(self, any_journal, happened):
        entry_id = any_journal.begin(intent())
        once = any_journal.settle(entry_id, happened=happened)
        assert any_journal.settle(entry_id, happened=happened) == once

    def test_what_is_done_cannot_be_said_not_to_have_happened(self, any_journal):
        entry_id = begin_and_end(any_journal, "done")
        with pytest.raises(InvalidInputError, match="recorded as done") as caught:
            any_journal.settle(entry_id, happened=False)
        assert caught.value.field == "happened"
        assert any_journal.entry(entry_id).state == "done"

    @pytest.mark.parametrize("state", ["rejected", "not_sent"])
    def test_what_was_given_up_can_be_corrected_and_confirmed(self, any_journal, state):
        entry_id = begin_and_end(any_journal, state)
        assert any_journal.settle(entry_id, happened=False).state == state
        assert any_journal.settle(entry_id, happened=True).state == "done"

    @each("wrong", ["0" * 32, "", 7, None, ["e"]])
    def test_an_unknown_entry_is_refused_by_name(self, any_journal, wrong):
        error = caught(InvalidInputError, any_journal.settle, wrong, happened=True)
        assert error.field == "entry_or_id"

    @pytest.mark.parametrize("wrong", [None, 1, "no"])
    def test_what_happened_is_yes_or_no(self, any_journal, wrong):
        entry_id = any_journal.begin(intent())
        error = caught(InvalidInputError, any_journal.settle, entry_id, happened=wrong)
        assert error.field == "happened"
        assert any_journal.entry(entry_id).state == "open"


class TestForgetting:
    def test_a_new_journal_has_nothing_to_forget(self, any_journal):
        assert any_journal.forget(older_than=0) == 0

    def test_settled_ones_go_and_unresolved_ones_stay(self, any_journal):
        ids = {}
        for state in ("open", *ENDS):
            ids[state] = any_journal.begin(confirmation(state))
            if state != "open":
                any_journal.end(ids[state], state)
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

    def test_young_ones_stay(self, any_journal):
        entry_id = begin_and_end(any_journal, "done")
        assert any_journal.forget(older_than=timedelta(days=1)) == 0
        assert any_journal.entry(entry_id).state == "done"


class TestClosing:
    def test_a_closed_journal_refuses_everything(self, any_journal):
        entry_id = any_journal.begin(intent())
        any_journal.close()
        any_journal.close()
        for use in (
            lambda: any_journal.begin(intent()),
            lambda: any_journal.end(entry_id, "done"),
            lambda: any_journal.entry(entry_id),
            any_journal.unresolved,
        ):
            with pytest.raises(ConfigurationError, match="closed") as caught:
                use()
            assert isinstance(caught.value, FerryError)

    def test_it_is_closed_after_its_block(self, url):
        with Journal(url) as journal:
            journal.begin(intent())
        with pytest.raises(ConfigurationError, match="closed"):
            journal.unresolved()

    def test_it_is_neither_pickled_nor_copied(self, any_journal):
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="URL"):
                way(any_journal)
