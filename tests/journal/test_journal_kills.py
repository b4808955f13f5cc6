"""A process killed in the middle of a write, at every phase and at any moment.

Whatever the service did is on record, nothing else is on record as done, and what can be read
back is settled by reading it back.
"""

import random
import time
from dataclasses import replace

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

PATIENCE = 30.0

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

PHASES = {
    "before the intent commits": "before_begin",
    "after it, before the request": "begun",
    "after the request, before the work": None,
    "after the work, before the reply": None,
    "after the reply, before the outcome commits": "before_end",
    "after it": "ended",
}
"""Where the process is killed, and the step of the journal's at which it stands still there."""

NOTHING_SENT = ("before the intent commits", "after it, before the request")


def arguments_of(ferry, call):
    """What the write is called with; what it needs is made first."""
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
    """A service, a journal, and a process that makes one write until it is killed."""

    def __init__(self, ferry, sandbox, nursery, url, call, *, is_async):
        self.sandbox = sandbox
        self.call = call
        self.arguments = arguments_of(ferry, call)
        self._client = {
            "token": sandbox.token,
            "base_url": sandbox.base_url,
            "organisation_token": sandbox.organisation_token,
        }
        self._nursery = nursery
        self._order = children.Order(
            url, call, self.arguments, self._client, is_async=is_async, halt=None
        )
        self._before = len(self.effects)
        self.journal = Journal(url)
        self.ferry = Ferry(**self._client, journal=self.journal)

    @property
    def effects(self):
        return self.sandbox.counters.effects_of(WRITES[self.call])

    @property
    def done(self):
        """How often the service did it."""
        return len(self.effects) - self._before

    @property
    def asked(self):
        """How many requests for it the service has read."""
        return self.sandbox.counters.requests[self.call]

    def again(self):
        return children.method_of(self.ferry, self.call)(**self.arguments)

    def killed_at(self, phase):
        asked = self.asked
        self._killed(PHASES[phase], lambda *child: self._reached(phase, asked, *child))

    def killed_after(self, step, seconds):
        def reached(_, told):
            heard(told, step)
            time.sleep(seconds)

        self._killed(None, reached)

    def _killed(self, halt, wait):
        here, there = self._nursery.Pipe(duplex=False)
        order = replace(self._order, halt=halt)
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

    def _reached(self, phase, asked, process, told):
        match phase:
            case "after the request, before the work":
                eventually(lambda: self.asked > asked or not process.is_alive())
            case "after the work, before the reply":
                eventually(lambda: self.done or not process.is_alive())
            case _:
                heard(told, PHASES[phase])
        assert process.is_alive()

    def close(self):
        self.ferry.close()
        self.journal.close()


def heard(told, step):
    """Listen to the process until it has come to this step."""
    said = None
    while said != step:
        assert told.poll(PATIENCE)
        said = told.recv()


@pytest.fixture
def scene(ferry, ferry_sandbox, nursery, url, record_property):
    made = []

    def setting(call, *, is_async):
        made.append(Scene(ferry, ferry_sandbox, nursery, url, call, is_async=is_async))
        record_property("processes killed in the middle of a write", 1)
        return made[0]

    yield setting
    made[0].close()


@pytest.mark.parametrize("call", mostly_long(WRITES))
@pytest.mark.parametrize("phase", PHASES)
def test_a_write_killed_at_any_phase_is_on_record_and_settled(scene, phase, call):
    is_async = (list(WRITES).index(call) + list(PHASES).index(phase)) % 2 == 1
    setting = scene(call, is_async=is_async)
    hold = None
    if PHASES[phase] is None:
        hold = Hold(setting.sandbox, call, replies=phase == "after the work, before the reply")
    setting.killed_at(phase)
    if hold is not None:
        hold.release()
    if phase not in NOTHING_SENT:
        eventually(lambda: setting.done)
    check(setting, begun=phase != "before the intent commits", ended=phase == "after it")


@pytest.mark.parametrize("call", mostly_long(WRITES))
@pytest.mark.parametrize("number", range(2))
def test_a_write_killed_at_any_moment_is_on_record(scene, call, number):
    setting = scene(call, is_async=number == 1)
    moments = random.Random(f"{call} {number}")  # noqa: S311 -- moments are no secrets
    asked = setting.asked
    setting.killed_after(moments.choice(["ready", "begun", "begun"]), moments.uniform(0, 0.02))
    for _ in range(3):  # by then the service has read whatever had left
        setting.ferry.catalogue.vehicle_types()
    eventually(lambda: setting.done == setting.asked - asked)
    entries = all_entries(setting)
    check(setting, begun=bool(entries), ended=any(not entry.is_unresolved for entry in entries))


def all_entries(setting):
    """Every entry, settled ones as well."""
    setting.journal.unresolved()  # the tables are there from here on
    with setting.journal._engine.connect() as connection:
        ids = connection.exec_driver_sql("SELECT id FROM ferry_journal").scalars().all()
    return [setting.journal.entry(entry_id) for entry_id in ids]


def check(setting, *, begun, ended):
    """What the journal has to know, after a death that left this much of it."""
    entries = all_entries(setting)
    assert len(entries) == begun
    if not begun:
        assert setting.done == 0
        return
    assert setting.done <= 1
    (entry,) = entries
    assert entry.operation == setting.call
    if ended:
        assert (entry.state, setting.done) == ("done", 1)
        assert setting.journal.unresolved() == ()
        return
    assert setting.journal.unresolved() == (entry,)
    asked = setting.asked
    if setting.done and "create" not in setting.call:
        assert setting.ferry.recover(entry).read_back
        assert setting.journal.entry(entry.id).state == "done"
    else:
        error = caught(OutcomeUnknownError, setting.ferry.recover, entry)
        assert error.entry_id == entry.id
        assert error.correlation_id == entry.correlation_id
        assert setting.journal.unresolved() == (entry,)
        with pytest.raises(UnresolvedWriteError) as refused:
            setting.again()
        assert refused.value.entry == entry
        setting.journal.settle(entry, happened=setting.done == 1)
        if not setting.done and asked == 0:  # a write that was given up can be made again
            assert setting.again()
            assert setting.done == 1
            assert setting.journal.unresolved() == ()
            return
    assert setting.asked == asked
    assert setting.done <= 1
