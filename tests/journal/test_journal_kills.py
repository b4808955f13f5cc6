"""A process killed in the middle of a write, at every phase.

What the service did is on record, nothing else is as done, and a read settles what it can show.
"""

import pytest

from ferry_sdk import Ferry, OutcomeUnknownError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from tests.backend.gathering import eventually
from tests.journal import children
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.summer import chosen
from tests.support.tiers import mostly_long
from tests.support.trip import PASSENGERS, found

WRITES = {
    "bookings.create": "bookings.create",
    "bookings.confirm": "bookings.confirm",
    "bookings.cancel": "bookings.cancel",
    "tickets.cancel": "tickets.cancel",
    "tickets.mark_paid": "tickets.mark_paid",
    "mcp.create_booking": "bookings.create",
    "mcp.confirm_booking": "bookings.confirm",
    "mcp.cancel_ticket": "tickets.cancel",
}
"""Every write, and the effect that the service counts."""
WORK, REPLY = "after the request, before the work", "after the work, before the reply"
PHASES = {
    "before the intent commits": "before_begin",
    "after it, before the request": "begun",
    WORK: None,
    REPLY: None,
    "after the reply, before the outcome commits": "before_end",
    "after it": "ended",
}
"""Where the process is killed, and the step of the journal's at which it stands still there."""


def arguments_of(ferry, call):
    # In real time: the other process has seen no reply that would tell it a frozen one.
    trip = {"availabilities": chosen([found(ferry)]), "passengers": PASSENGERS}
    if "create" in call:
        return trip
    booking_id = ferry.bookings.create(**trip).booking_id
    if call in {"bookings.confirm", "bookings.cancel", "mcp.confirm_booking"}:
        return {"booking_id": booking_id}
    if call == "tickets.mark_paid":
        ticket_id = ferry.bookings.get(booking_id).tickets[0].id
        return {"ticket_id": ticket_id, "booking_id": booking_id, "external_payment_ref": "pi_4711"}
    return {"ticket_id": ferry.bookings.confirm(booking_id).ticket_id}


class Scene:
    def __init__(self, ferry, sandbox, nursery, url, call):
        self.sandbox = sandbox
        self.call = call
        self._nursery = nursery
        self._url = url
        self._arguments = arguments_of(ferry, call)
        self._client = {
            "token": sandbox.token,
            "base_url": sandbox.base_url,
            "organisation_token": sandbox.organisation_token,
        }
        self._before = len(sandbox.counters.effects_of(WRITES[call]))
        self.journal = Journal(url)
        self.ferry = Ferry(**self._client, journal=self.journal)

    @property
    def done(self):
        return len(self.sandbox.counters.effects_of(WRITES[self.call])) - self._before

    @property
    def asked(self):
        """How many requests for it the service has read."""
        return self.sandbox.counters.requests[self.call]

    def again(self):
        return children.method_of(self.ferry, self.call)(**self._arguments)

    def killed(self, halt, wait, *, is_async):
        here, there = self._nursery.Pipe(duplex=False)
        order = children.Order(
            self._url, self.call, self._arguments, self._client, is_async=is_async, halt=halt
        )
        process = self._nursery.Process(target=children.write, args=(order, there))
        process.start()
        there.close()
        try:
            wait(process, here)
        finally:
            process.kill()
            process.join()
            here.close()
        assert process.exitcode == -9

    def check(self, *, begun, ended):
        """What the journal has to know, after a death that left this much of it."""
        entries = self.journal.entries()
        assert len(entries) == begun
        assert self.done <= begun
        if not begun:
            return
        (entry,) = entries
        assert entry.operation == self.call
        if ended:
            assert (entry.state, self.done) == ("done", 1)
            assert self.journal.unresolved() == ()
            return
        assert self.journal.unresolved() == (entry,)
        asked = self.asked
        if self.done and "create" not in self.call:
            assert self.ferry.recover(entry).read_back
            assert self.journal.entry(entry.id).state == "done"
        else:
            error = caught(OutcomeUnknownError, self.ferry.recover, entry)
            assert (error.entry_id, error.correlation_id) == (entry.id, entry.correlation_id)
            assert self.journal.unresolved() == (entry,)
            assert caught(UnresolvedWriteError, self.again).entry == entry
            self.journal.settle(entry, happened=self.done == 1)
            if not self.done and asked == 0:  # a write that was given up can be made again
                assert self.again()
                assert self.done == 1
                assert self.journal.unresolved() == ()
                return
        assert self.asked == asked
        assert self.done <= 1


def wait_for_step(pipe, step):
    """Wait until the other process says that it has come to a step."""
    said = None
    while said != step:
        assert pipe.poll(30)
        said = pipe.recv()


@pytest.fixture
def scene(ferry, ferry_sandbox, nursery, url, call, record_property):
    made = Scene(ferry, ferry_sandbox, nursery, url, call)
    record_property("processes killed in the middle of a write", 1)
    yield made
    made.ferry.close()
    made.journal.close()


@pytest.mark.parametrize("call", mostly_long(WRITES))
@pytest.mark.parametrize("phase", PHASES)
def test_killed_write_is_on_record(scene, phase, call):
    is_async = (list(WRITES).index(call) + list(PHASES).index(phase)) % 2 == 1
    asked, halt = scene.asked, PHASES[phase]
    hold = Hold(scene.sandbox, call, replies=phase == REPLY) if halt is None else None

    def wait(process, told):
        if phase == WORK:
            eventually(lambda: scene.asked > asked or not process.is_alive())
        elif phase == REPLY:
            eventually(lambda: scene.done or not process.is_alive())
        else:
            wait_for_step(told, halt)
        assert process.is_alive()

    scene.killed(halt, wait, is_async=is_async)
    if hold is not None:
        hold.release()
    if halt not in {"before_begin", "begun"}:
        eventually(lambda: scene.done)
    scene.check(begun=halt != "before_begin", ended=halt == "ended")
