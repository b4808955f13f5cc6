"""Entries from their beginning to their end: who may say what, and what stands."""

import copy
import math
import pickle
from datetime import datetime, timedelta, timezone

import pytest
import time_machine
from sqlalchemy import event
from sqlalchemy.pool import Pool

from ferry_sdk import ConfigurationError, InvalidInputError, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal, connections
from tests.journal.intents import confirmation, intent, run_sql
from tests.support.exchanges import caught

ENDS = ("unknown", "not_sent", "rejected", "done")
NO_AGES = [
    *(-1, math.nan, math.inf, 1e300, True, "1", None, timedelta(seconds=-1), timedelta.max),
    timedelta.max.total_seconds(),  # rounded, and so beyond what a timedelta holds
]


def ended(journal, *states, write=None):
    entry_id = journal.begin(write or intent())
    for state in states:
        if state != "open":
            journal.end(entry_id, state)
    return entry_id


class TestBeginning:
    def test_what_is_begun_is_open_with_all_its_facts(self, any_journal):
        before = datetime.now(timezone.utc)
        entry_id = any_journal.begin(confirmation("b7", correlation_id="trace-9"))
        entry = any_journal.entry(entry_id)
        assert (entry.id, entry.state, entry.is_unresolved) == (entry_id, "open", True)
        assert (entry.operation, entry.method) == ("bookings.confirm", "POST")
        assert (entry.path, entry.correlation_id) == ("booking/confirm", "trace-9")
        assert entry.subject == {"booking_id": "b7"}
        assert before <= entry.created_at == entry.changed_at <= datetime.now(timezone.utc)
        assert entry.created_at.tzinfo is timezone.utc is entry.changed_at.tzinfo
        assert (entry.booking_id, entry.ticket_ids) == ("b7", None)
        ticket = any_journal.entry(any_journal.begin(intent(subject={"ticket_id": "t1"})))
        assert (ticket.booking_id, ticket.ticket_ids) == (None, ("t1",))
        assert (ticket.status_code, ticket.code) == (None, None)

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
        for content, effect in ((b"abc", "a"), (b"bc", "a"), (b"c", "ab"), (b"c", "a")):
            any_journal.begin(intent(content, effect=effect))  # each is another write
        assert len({entry.fingerprint for entry in any_journal.unresolved()}) == 5

    def test_what_cannot_be_found_or_said_is_refused_by_name(self, any_journal):
        for wrong in ("0" * 32, "", "' OR 1=1 --", 7, None, ["e"]):
            assert caught(InvalidInputError, any_journal.entry, wrong).field == "entry_id"
            error = caught(InvalidInputError, any_journal.settle, wrong, happened=True)
            assert error.field == "entry_or_id"
        options = {"happened": True, "booking_id": "b1"}
        assert caught(InvalidInputError, any_journal.settle, "", **options).field == "entry_id"
        with pytest.raises(JournalError, match="no entry with this id"):
            any_journal.end("0" * 32, "done")
        entry_id = any_journal.begin(intent())
        assert caught(InvalidInputError, any_journal.end, entry_id, "open").field == "state"
        for wrong in (None, 1, "no"):
            error = caught(InvalidInputError, any_journal.settle, entry_id, happened=wrong)
            assert error.field == "happened"
        for wrong in NO_AGES:
            for reading in (any_journal.unresolved, any_journal.forget):
                error = caught(InvalidInputError, reading, older_than=wrong)
                assert error.field == "older_than", wrong
        assert any_journal.entry(entry_id).state == "open"


class TestTheLastWord:
    def test_knowledge_replaces_doubt_and_an_effect_replaces_everything(self, any_journal):
        entry_id = any_journal.begin(intent())
        any_journal.settle(entry_id, happened=False)
        second = any_journal.begin(intent())
        any_journal.end(entry_id, "unknown")  # late, and not about the second try
        assert [entry.id for entry in any_journal.unresolved()] == [second]
        any_journal.end(entry_id, "done")
        assert any_journal.entry(entry_id).state == "done"
        for late in ("unknown", "rejected", "not_sent"):
            any_journal.settle(second, happened=True)
            any_journal.end(second, late)
            assert any_journal.entry(second).state == "done", late
            second = any_journal.begin(intent())
        for first in ("open", *ENDS):
            for last in ENDS:
                doubted = first in {"open", "unknown"} and last != "unknown"
                expected = last if first == "open" or doubted or last == "done" else first
                write = confirmation(f"{first} {last}")
                entry_id = ended(any_journal, first, write=write)
                before = any_journal.entry(entry_id)
                any_journal.end(entry_id, last)
                entry = any_journal.entry(entry_id)
                assert entry.state == expected, (first, last)
                assert entry.changed_at >= entry.created_at
                if first == "done":
                    assert entry == before, last
                if expected != "unknown":  # the twin of a settled write may begin
                    assert any_journal.begin(write) != entry_id, (first, last)

    def test_a_person_says_what_became_of_it(self, any_journal):
        for happened, state in ((True, "done"), (False, "rejected")):
            for before in ("open", "unknown"):
                entry_id = ended(any_journal, before)
                entry = any_journal.settle(any_journal.entry(entry_id), happened=happened)
                assert entry.state == state
                assert entry == any_journal.entry(entry_id)
                assert any_journal.unresolved() == ()
                again = any_journal.settle(entry_id, happened=happened)
                assert again == entry, "to say it twice changes nothing"
        for given_up in ("rejected", "not_sent"):  # it can be confirmed, and corrected
            entry_id = ended(any_journal, given_up)
            assert any_journal.settle(entry_id, happened=False).state == given_up
            assert any_journal.settle(entry_id, happened=True).state == "done"
        entry_id = ended(any_journal, "done")
        error = caught(InvalidInputError, any_journal.settle, entry_id, happened=False)
        assert error.field == "happened"
        assert "recorded as done" in str(error)
        assert any_journal.entry(entry_id).state == "done"


class TestTheirAge:
    def test_unresolved_ones_come_oldest_first_up_to_this_very_moment(self, any_journal):
        ids = [any_journal.begin(confirmation(f"b{number}")) for number in range(8)]
        any_journal.end(ids[3], "done")
        any_journal.end(ids[5], "unknown")
        assert [entry.id for entry in any_journal.unresolved()] == ids[:3] + ids[4:]
        for hour in (3600, timedelta(hours=1), 0.5e4):
            assert any_journal.unresolved(older_than=hour) == ()
        with time_machine.travel(datetime(2127, 3, 1, tzinfo=timezone.utc), tick=False):
            entry_id = any_journal.begin(intent())
            assert [entry.id for entry in any_journal.unresolved()][-1] == entry_id

    def test_settled_ones_are_forgotten_and_unresolved_and_young_ones_stay(self, any_journal):
        assert any_journal.forget(older_than=0) == 0, "it is new"
        ids = {
            state: ended(any_journal, state, write=confirmation(state)) for state in ("open", *ENDS)
        }
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
            for way in (pickle.dumps, copy.copy, copy.deepcopy):
                assert "URL" in str(caught(TypeError, way, any_journal))
        any_journal.close()
        for use in (
            lambda: any_journal.begin(intent()),
            lambda: any_journal.end(entry_id, "done"),
            lambda: any_journal.entry(entry_id),
            lambda: any_journal.save_snapshot("b1", "late"),
            any_journal.unresolved,
        ):
            assert "closed" in str(caught(ConfigurationError, use))

    def test_a_connection_in_use_is_closed_when_its_use_ends(self, any_journal):
        open_connections = set()
        event.listen(Pool, "connect", lambda connection, _: open_connections.add(id(connection)))
        event.listen(Pool, "close", lambda connection, _: open_connections.discard(id(connection)))
        any_journal.begin(intent())
        with connections.connect(any_journal._engine):
            any_journal.close()
            assert open_connections
        assert not open_connections
