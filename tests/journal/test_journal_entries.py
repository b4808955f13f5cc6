"""Entries from their beginning to their end: which outcome stands, and who may say so."""

import copy
import math
import pickle
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from sqlalchemy import event
from sqlalchemy.pool import Pool

from ferry_sdk import ConfigurationError, InvalidInputError, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal, connections
from tests.journal.intents import confirmation, intent, run_sql
from tests.support.exchanges import caught

OUTCOMES = ("unknown", "not_sent", "rejected", "done")
TRANSITIONS = [
    ("open", "unknown", "unknown"),
    ("open", "not_sent", "not_sent"),
    ("open", "rejected", "rejected"),
    ("open", "done", "done"),
    ("unknown", "unknown", "unknown"),
    ("unknown", "not_sent", "not_sent"),
    ("unknown", "rejected", "rejected"),
    ("unknown", "done", "done"),
    ("not_sent", "unknown", "not_sent"),
    ("not_sent", "not_sent", "not_sent"),
    ("not_sent", "rejected", "not_sent"),
    ("not_sent", "done", "done"),
    ("rejected", "unknown", "rejected"),
    ("rejected", "not_sent", "rejected"),
    ("rejected", "rejected", "rejected"),
    ("rejected", "done", "done"),
    ("done", "unknown", "done"),
    ("done", "not_sent", "done"),
    ("done", "rejected", "done"),
    ("done", "done", "done"),
]
"""The state of an entry, the outcome that is recorded, and the state afterwards."""
SETTLING = [row for row in TRANSITIONS if row[-1] != "unknown"]
NO_IDS = ["0" * 32, "", "' OR 1=1 --", 7, None, ["e"]]
NO_AGES = [
    -1,
    math.nan,
    math.inf,
    1e300,
    True,
    "1",
    None,
    timedelta(seconds=-1),
    timedelta.max,
    timedelta.max.total_seconds(),  # rounded, and so beyond what a timedelta holds
]
PAST = "'2026-01-02 03:04:05.000000'"
USES = {
    "begin": lambda journal, _: journal.begin(intent()),
    "end": lambda journal, entry_id: journal.end(entry_id, "done"),
    "entry": lambda journal, entry_id: journal.entry(entry_id),
    "save_snapshot": lambda journal, _: journal.save_snapshot("b1", "late"),
    "unresolved": lambda journal, _: journal.unresolved(),
}


def begin_and_end(journal, state, write=None):
    """Make an entry in a state, and return its id."""
    entry_id = journal.begin(write or intent())
    if state != "open":
        journal.end(entry_id, state)
    return entry_id


@pytest.fixture
def memory_journal():
    """A journal whose arguments are refused before it is used."""
    with Journal("sqlite://") as journal:
        yield journal


def test_begun_entry_is_open_with_its_fields(any_journal):
    entry_id = any_journal.begin(confirmation("b7", correlation_id="trace-9"))
    entry = any_journal.entry(entry_id)
    assert (entry.id, entry.state, entry.is_unresolved) == (entry_id, "open", True)
    assert (entry.operation, entry.method) == ("bookings.confirm", "POST")
    assert (entry.path, entry.correlation_id) == ("booking/confirm", "trace-9")
    assert entry.subject == {"booking_id": "b7"}
    assert (entry.booking_id, entry.ticket_ids) == ("b7", None)
    assert (entry.status_code, entry.code) == (None, None)


def test_begun_entry_has_its_time_in_utc(any_journal):
    before = datetime.now(UTC)
    entry = any_journal.entry(any_journal.begin(intent()))
    assert before <= entry.created_at == entry.changed_at <= datetime.now(UTC)
    assert entry.created_at.tzinfo is UTC is entry.changed_at.tzinfo


def test_write_on_a_ticket_names_the_ticket(any_journal):
    entry = any_journal.entry(any_journal.begin(intent(subject={"ticket_id": "t1"})))
    assert (entry.booking_id, entry.ticket_ids) == (None, ("t1",))
    assert (entry.status_code, entry.code) == (None, None)


def test_entry_is_committed_before_begin_returns(url, journal):
    entry_id = journal.begin(intent())
    with Journal(url) as other:
        assert other.entry(entry_id) == journal.entry(entry_id)


def test_snapshot_is_committed_before_its_save_returns(url, journal):
    journal.save_snapshot("b1", "saved")
    with Journal(url) as other:
        assert other.load_snapshots(["b1"]) == {"b1": "saved"}


@pytest.mark.parametrize("state", ["open", "unknown"])
def test_same_write_is_refused_while_unresolved(any_journal, state):
    first = begin_and_end(any_journal, state, confirmation())
    same = confirmation(operation="mcp.confirm_booking", path="mcp", correlation_id="c-2")
    error = caught(UnresolvedWriteError, any_journal.begin, same)
    assert error.entry == any_journal.entry(first)
    assert error.outcome == "not_sent"
    assert len(any_journal.unresolved()) == 1


@pytest.mark.parametrize("state", ["open", "unknown"])
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],
    ids=["deepcopy", "pickle"],
)
def test_copy_of_a_refusal_has_its_entry(any_journal, state, copied):
    begin_and_end(any_journal, state)
    error = caught(UnresolvedWriteError, any_journal.begin, intent())
    assert copied(error).entry == error.entry


def test_other_content_or_effect_is_another_write(any_journal):
    any_journal.begin(confirmation())
    any_journal.begin(intent(b"abc", effect="a"))
    any_journal.begin(intent(b"bc", effect="a"))
    any_journal.begin(intent(b"c", effect="ab"))
    any_journal.begin(intent(b"c", effect="a"))
    assert len({entry.fingerprint for entry in any_journal.unresolved()}) == 5


@pytest.mark.parametrize(("before", "outcome", "after"), TRANSITIONS)
def test_outcome_replaces_what_it_may(any_journal, before, outcome, after):
    entry_id = begin_and_end(any_journal, before)
    any_journal.end(entry_id, outcome)
    entry = any_journal.entry(entry_id)
    assert entry.state == after
    assert entry.changed_at >= entry.created_at


@pytest.mark.parametrize(("before", "outcome", "after"), SETTLING)
def test_same_write_begins_again_when_settled(any_journal, before, outcome, after):
    entry_id = begin_and_end(any_journal, before)
    any_journal.end(entry_id, outcome)
    assert any_journal.begin(intent()) != entry_id, after


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_done_entry_stays_as_it_is(any_journal, outcome):
    entry_id = begin_and_end(any_journal, "done")
    before = any_journal.entry(entry_id)
    any_journal.end(entry_id, outcome)
    assert any_journal.entry(entry_id) == before


def test_late_outcome_is_not_of_the_second_try(any_journal):
    first = any_journal.begin(intent())
    any_journal.settle(first, happened=False)
    second = any_journal.begin(intent())
    any_journal.end(first, "unknown")
    assert [entry.id for entry in any_journal.unresolved()] == [second]


def test_late_success_is_recorded_beside_a_second_try(any_journal):
    first = any_journal.begin(intent())
    any_journal.settle(first, happened=False)
    any_journal.begin(intent())
    any_journal.end(first, "done")
    assert any_journal.entry(first).state == "done"


@pytest.mark.parametrize("late", ["unknown", "rejected", "not_sent"])
def test_late_outcome_does_not_contradict_a_person(any_journal, late):
    entry_id = any_journal.begin(intent())
    any_journal.settle(entry_id, happened=True)
    any_journal.end(entry_id, late)
    assert any_journal.entry(entry_id).state == "done"


def test_outcome_without_an_entry_is_refused(any_journal):
    with pytest.raises(JournalError, match="no entry with this id"):
        any_journal.end("0" * 32, "done")


def test_write_cannot_end_as_open(any_journal):
    entry_id = any_journal.begin(intent())
    assert caught(InvalidInputError, any_journal.end, entry_id, "open").field == "state"
    assert any_journal.entry(entry_id).state == "open"


def test_unresolved_entries_come_oldest_first(any_journal):
    ids = [any_journal.begin(confirmation(f"b{number}")) for number in range(8)]
    any_journal.end(ids[3], "done")
    any_journal.end(ids[5], "unknown")
    assert [entry.id for entry in any_journal.unresolved()] == ids[:3] + ids[4:]


@pytest.mark.parametrize("age", [3600, timedelta(hours=1), 0.5e4], ids=str)
def test_new_entry_is_not_old(any_journal, age):
    any_journal.begin(intent())
    assert any_journal.unresolved(older_than=age) == ()


def test_entry_of_this_moment_is_unresolved(any_journal):
    with time_machine.travel(datetime(2127, 3, 1, tzinfo=UTC), tick=False):
        entry_id = any_journal.begin(intent())
        assert [entry.id for entry in any_journal.unresolved()] == [entry_id]


@pytest.mark.parametrize("wrong", NO_AGES, ids=str)
@pytest.mark.parametrize("read", [Journal.unresolved, Journal.forget])
def test_age_must_be_a_duration(memory_journal, read, wrong):
    error = caught(InvalidInputError, read, memory_journal, older_than=wrong)
    assert error.field == "older_than"


@pytest.mark.parametrize("wrong", NO_IDS, ids=str)
def test_entry_needs_its_id(any_journal, wrong):
    assert caught(InvalidInputError, any_journal.entry, wrong).field == "entry_id"


@pytest.mark.parametrize("wrong", NO_IDS, ids=str)
def test_settling_needs_an_entry(any_journal, wrong):
    error = caught(InvalidInputError, any_journal.settle, wrong, happened=True)
    assert error.field == "entry_or_id"


def test_settling_with_a_booking_needs_an_entry(any_journal):
    error = caught(InvalidInputError, any_journal.settle, "", happened=True, booking_id="b1")
    assert error.field == "entry_id"


@pytest.mark.parametrize("wrong", [None, 1, "no"])
def test_settling_needs_true_or_false(any_journal, wrong):
    entry_id = any_journal.begin(intent())
    error = caught(InvalidInputError, any_journal.settle, entry_id, happened=wrong)
    assert error.field == "happened"
    assert any_journal.entry(entry_id).state == "open"


@pytest.mark.parametrize(
    ("before", "happened", "after"),
    [
        ("open", True, "done"),
        ("open", False, "rejected"),
        ("unknown", True, "done"),
        ("unknown", False, "rejected"),
        ("rejected", True, "done"),
        ("rejected", False, "rejected"),
        ("not_sent", True, "done"),
        ("not_sent", False, "not_sent"),
    ],
)
def test_person_settles_a_write(any_journal, before, happened, after):
    entry_id = begin_and_end(any_journal, before)
    entry = any_journal.settle(any_journal.entry(entry_id), happened=happened)
    assert entry.state == after
    assert entry == any_journal.entry(entry_id)
    assert any_journal.unresolved() == ()


@pytest.mark.parametrize("happened", [True, False])
@pytest.mark.parametrize("before", ["open", "unknown"])
def test_settling_twice_changes_nothing(any_journal, before, happened):
    entry_id = begin_and_end(any_journal, before)
    entry = any_journal.settle(entry_id, happened=happened)
    assert any_journal.settle(entry_id, happened=happened) == entry


@pytest.mark.parametrize("given_up", ["rejected", "not_sent"])
def test_person_corrects_what_a_person_gave_up(any_journal, given_up):
    entry_id = begin_and_end(any_journal, given_up)
    any_journal.settle(entry_id, happened=False)
    assert any_journal.settle(entry_id, happened=True).state == "done"


def test_done_write_cannot_be_settled_as_failed(any_journal):
    entry_id = begin_and_end(any_journal, "done")
    error = caught(InvalidInputError, any_journal.settle, entry_id, happened=False)
    assert error.field == "happened"
    assert "recorded as done" in str(error)
    assert any_journal.entry(entry_id).state == "done"


def test_new_journal_has_nothing_to_forget(any_journal):
    assert any_journal.forget(older_than=0) == 0


def test_young_entries_are_not_forgotten(any_journal):
    for state in ("open", *OUTCOMES):
        begin_and_end(any_journal, state, confirmation(state))
    assert any_journal.forget(older_than=timedelta(days=1)) == 0


def test_settled_entries_are_forgotten(any_journal):
    ids = {
        state: begin_and_end(any_journal, state, confirmation(state))
        for state in ("open", *OUTCOMES)
    }
    assert any_journal.forget(older_than=0) == 3
    assert {entry.id for entry in any_journal.unresolved()} == {ids["open"], ids["unknown"]}
    assert any_journal.forget(older_than=0) == 0
    caught(InvalidInputError, any_journal.entry, ids["done"])


def test_end_keeps_the_time_of_the_beginning(url, journal):
    entry_id = journal.begin(intent())
    run_sql(url, f"UPDATE ferry_journal SET created_at = {PAST}, changed_at = {PAST}")  # noqa: S608 -- a moment
    begun = journal.entry(entry_id)
    journal.end(entry_id, "done")
    entry = journal.entry(entry_id)
    assert entry.created_at == begun.created_at < entry.changed_at
    assert datetime.now(UTC) - entry.changed_at < timedelta(hours=1)


def test_age_counts_from_the_end(url, journal):
    entry_id = journal.begin(intent())
    run_sql(url, f"UPDATE ferry_journal SET created_at = {PAST}, changed_at = {PAST}")  # noqa: S608 -- a moment
    journal.end(entry_id, "done")
    assert journal.forget(older_than=3600) == 0
    run_sql(url, f"UPDATE ferry_journal SET changed_at = {PAST}")  # noqa: S608 -- a moment
    assert journal.forget(older_than=3600) == 1


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_journal_cannot_be_copied(any_journal, copied):
    assert "URL" in str(caught(TypeError, copied, any_journal))


@pytest.mark.parametrize("use", USES)
def test_closed_journal_refuses_a_use(any_journal, use):
    with any_journal:
        entry_id = any_journal.begin(intent())
    any_journal.close()
    assert "closed" in str(caught(ConfigurationError, USES[use], any_journal, entry_id))


def test_connection_in_use_is_closed_after_it(any_journal):
    open_connections = set()
    event.listen(Pool, "connect", lambda connection, _: open_connections.add(id(connection)))
    event.listen(Pool, "close", lambda connection, _: open_connections.discard(id(connection)))
    any_journal.begin(intent())
    with connections.connect(any_journal._engine):
        any_journal.close()
        assert open_connections
    assert not open_connections
