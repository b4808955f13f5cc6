"""Any sequence of begin, end, settle and forget, compared with a journal made of a dict."""

import pytest
from hypothesis import stateful
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ferry_sdk import InvalidInputError, JournalError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from tests.journal.intents import confirmation
from tests.support.exchanges import caught
from tests.support.tiers import examples

RANK = {"open": 0, "unknown": 1, "not_sent": 2, "rejected": 2, "done": 3}


class Machine(stateful.RuleBasedStateMachine):
    """Two clients of one journal; the model knows only that a higher rank stands."""

    journals = ()
    ids = stateful.Bundle("ids")
    clients = st.integers(0, 1)

    def __init__(self):
        super().__init__()
        self.booking = {}
        self.state = {}
        for entry in self.journals[0].unresolved():
            self.journals[0].settle(entry, happened=True)
        self.journals[0].forget(older_than=0)

    def raise_state(self, entry_id, state):
        if RANK[state] > RANK[self.state[entry_id]]:
            self.state[entry_id] = state

    @rule(target=ids, booking=st.sampled_from(["b1", "b2", "b3"]), client=clients)
    def begin(self, booking, client):
        unresolved = [entry_id for entry_id, state in self.state.items() if RANK[state] < 2]
        duplicates = [entry_id for entry_id in unresolved if self.booking[entry_id] == booking]
        if duplicates:
            error = caught(UnresolvedWriteError, self.journals[client].begin, confirmation(booking))
            assert duplicates == [error.entry.id]
            return stateful.multiple()
        entry_id = self.journals[client].begin(confirmation(booking))
        self.booking[entry_id] = booking
        self.state[entry_id] = "open"
        return entry_id

    @rule(entry_id=ids, state=st.sampled_from([*RANK][1:]), client=clients)
    def end(self, entry_id, state, client):
        if entry_id not in self.state:
            caught(JournalError, self.journals[client].end, entry_id, state)
            return
        self.journals[client].end(entry_id, state)
        self.raise_state(entry_id, state)

    @rule(entry_id=ids, happened=st.booleans(), client=clients)
    def settle(self, entry_id, happened, client):
        before = self.state.get(entry_id)
        if before is None or (before == "done" and not happened):
            caught(InvalidInputError, self.journals[client].settle, entry_id, happened=happened)
            return
        self.raise_state(entry_id, "done" if happened else "rejected")
        entry = self.journals[client].settle(entry_id, happened=happened)
        assert entry.state == self.state[entry_id]

    @rule(client=clients)
    def forget(self, client):
        settled = {entry_id for entry_id, state in self.state.items() if RANK[state] >= 2}
        assert self.journals[client].forget(older_than=0) == len(settled)
        for entry_id in settled:
            del self.state[entry_id]

    @invariant()
    def every_entry_is_listed_once_with_its_state(self):
        expected = {entry_id for entry_id, state in self.state.items() if RANK[state] < 2}
        for journal in self.journals:
            assert {entry.id for entry in journal.unresolved()} == expected
        listed = self.journals[1].entries()
        assert {entry.id: entry.state for entry in listed} == self.state
        assert all(entry.subject["booking_id"] == self.booking[entry.id] for entry in listed)
        assert len(listed) == len(self.state)
        by_booking = self.journals[0].entries(booking_id="b1")
        assert by_booking == tuple(entry for entry in listed if entry.booking_id == "b1")


def run_machine(count, *journals):
    """Run any sequences one after the other; to open the journals takes longer than a sequence."""
    machine = type("Clients", (Machine,), {"journals": journals})
    stateful.run_state_machine_as_test(machine, settings=examples(count, stateful_step_count=20))


def test_any_sequence_in_memory():
    with Journal("sqlite://") as journal:
        run_machine(12, journal, journal)


@pytest.mark.slow
def test_any_sequence_with_two_clients(url):
    with Journal(url) as first, Journal(url) as second:
        run_machine(5, first, second)
