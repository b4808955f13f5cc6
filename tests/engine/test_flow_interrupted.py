"""A write that is ended by anything but a failure is on record as what is known of it."""

import asyncio
import logging
from functools import partial

import pytest

from ferry_sdk import Booking, BookingConfirmation, FerryError, OutcomeEvent
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import Exclusive, Send, SingleFlight
from ferry_sdk._engine.flow import report_interruption, run
from ferry_sdk._engine.settings import Secret
from ferry_sdk.hooks import build_hooks
from tests.engine.recorder import Notes
from tests.engine.replies import Script, booking, good, refused, reply, reset, scripted_driver
from tests.support.driven import SETTINGS, Driver
from tests.support.operations import described
from tests.support.samples import BOOKING_CONFIRMATION, BOOKING_CREATED
from tests.support.tables import each

STOPS = (KeyboardInterrupt, SystemExit, asyncio.CancelledError, RuntimeError)
CREATING = (refused(), good(BOOKING_CREATED))
CONFIRMING = (
    refused(),
    reset(),
    good(booking("issuance_due", "Pending")),
    good(booking("ticketed", "Issued")),
)
COURSES = {
    "bookings.create": (
        CREATING,
        [
            *(("RunBlocking", None), ("CallUser", "not_sent"), ("Send", "unknown")),
            *(("Sleep", "not_sent"), ("Send", "unknown"), ("RunBlocking", "open")),
        ],
    ),
    "bookings.confirm": (
        CONFIRMING,
        [
            *(("RunBlocking", None), ("CallUser", "not_sent"), ("Send", "unknown")),
            *(("Sleep", "not_sent"), ("Send", "unknown"), ("Send", "unknown")),
            *(("Sleep", "unknown"), ("Send", "unknown"), ("RunBlocking", "open")),
        ],
    ),
}
"""Of each write: what is said to it, and each effect with the state it leaves when ended there."""
every_step = each(
    ("name", "number"),
    [(name, number) for name, (_, effects) in COURSES.items() for number in range(len(effects))],
)
every_stop = each("stop", STOPS)


class Stopped(Driver):
    """Raises instead of performing one of the effects.

    Args:
        number: Which one; turns and company do not count.
        stop: What is raised.
        sayings: What is said to the requests before.
    """

    def __init__(self, number, stop, replies):
        super().__init__(Script(*replies), Session(stage="bare"))
        self._number = number
        self._stop = stop
        self.seen = []

    def perform(self, effect):
        """Perform it, or stop."""
        if not isinstance(effect, Exclusive | SingleFlight):
            self.seen.append(type(effect).__name__)
            if len(self.seen) == self._number + 1:
                if isinstance(effect, Send):
                    effect.is_handed_over = True
                raise self._stop
        return super().perform(effect)


def stop_at(name, number, stop):
    """Interrupt a call at one of its effects; return the driver and the journal."""
    notes = Notes()
    driver = Stopped(number, stop, COURSES[name][0])
    error = driver.error(
        type(stop),
        described(name),
        journal=notes,
        token=Secret(lambda: "token"),
        correlation_id="c-1",
    )
    assert error is stop
    return driver, notes


@every_stop
@every_step
def test_a_write_that_is_interrupted_is_on_record_as_what_is_known(name, number, stop):
    kind, state = COURSES[name][1][number]
    if state == "open" and issubclass(stop, Exception):
        return  # see below: a recorder that fails does not take the result away
    driver, notes = stop_at(name, number, stop())
    assert driver.seen[number] == kind
    assert notes.states == ({} if state is None else {"entry-1": state})
    ends = ["RunBlocking"] if state not in (None, "open") else []
    assert driver.seen[number + 1 :] == ends


@every_step
def test_an_interruption_is_told_where_the_write_may_have_happened(name, number, caplog):
    caplog.clear()
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        stop_at(name, number, KeyboardInterrupt())
    told = [record.getMessage() for record in caplog.records]
    what = {
        "unknown": "was interrupted and may have happened",
        "open": "was done when it was interrupted",
    }.get(COURSES[name][1][number][1] or "")
    assert told == ([f"{name} {what} (correlation id c-1)"] if what else [])


def test_a_write_that_is_interrupted_after_its_reply_was_done(caplog):
    driver = scripted_driver(good(BOOKING_CREATED))
    operation = described("bookings.create")
    context = Context.start(SETTINGS, driver.session, operation.name, correlation_id="c-1")
    driver.walk(run(operation, context))
    report_interruption(operation, context)  # as a transport does until the caller has the result
    (told,) = caplog.messages
    assert told == "bookings.create was done when it was interrupted (correlation id c-1)"


def test_a_refusal_whose_record_is_interrupted_names_its_call():
    driver = Stopped(2, KeyboardInterrupt(), [reply(422)])
    error = driver.error(
        KeyboardInterrupt, described("bookings.create"), journal=Notes(), correlation_id="c-1"
    )
    refusal = error.__context__
    assert isinstance(refusal, FerryError)
    assert (refusal.operation, refusal.correlation_id) == ("bookings.create", "c-1")


@each("name", COURSES)
def test_a_recorder_that_fails_after_the_write_does_not_take_the_result_away(name, caplog):
    caplog.clear()
    replies, effects = COURSES[name]
    notes = Notes()
    driver = Stopped(len(effects) - 1, RuntimeError("a recorder's own"), replies)
    driver.raw(name, journal=notes, token=Secret(lambda: "token"))
    assert notes.states == {"entry-1": "open"}
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@each("name", COURSES)
def test_the_courses_are_whole(name):
    replies, effects = COURSES[name]
    driver = Stopped(-1, KeyboardInterrupt(), replies)
    notes = Notes()
    driver.raw(name, journal=notes, token=Secret(lambda: "token"))
    assert driver.seen == [kind for kind, _ in effects]
    assert notes.states == {"entry-1": "done"}


@every_step
def test_a_flow_that_is_given_up_leaves_its_entry_open(name, number):
    notes = Notes()
    driver = Stopped(number, GeneratorExit(), COURSES[name][0])
    driver.error(GeneratorExit, name, journal=notes, token=Secret(lambda: "token"))
    begun = COURSES[name][1][number][1] is not None
    assert notes.states == ({"entry-1": "open"} if begun else {})


@each("name", ["bookings.create", "mcp.create_booking"])
def test_a_second_refresh_that_is_interrupted_leaves_the_write_not_sent(name):
    notes = Notes()
    driver = Stopped(3, KeyboardInterrupt(), [reply(401)])
    driver.error(KeyboardInterrupt, name, journal=notes, token=Secret(lambda: "token"))
    assert driver.seen == ["RunBlocking", "CallUser", "Send", "CallUser", "RunBlocking"]
    assert notes.states == {"entry-1": "not_sent"}


def test_a_guard_that_is_interrupted_leaves_nothing_on_record():
    notes = Notes()
    driver = Stopped(0, KeyboardInterrupt(), [])
    driver.error(KeyboardInterrupt, described("bookings.confirm", expect_total=1), journal=notes)
    assert notes.states == {}


def test_a_read_that_is_interrupted_says_nothing(caplog):
    with caplog.at_level(logging.WARNING, "ferry_sdk"), pytest.raises(KeyboardInterrupt):
        Stopped(0, KeyboardInterrupt(), []).raw("catalogue.ports")
    assert caplog.records == []


@each(
    ("is_handed_over", "is_followed", "is_sent", "state"),
    [
        (False, False, False, "not_sent"),
        (True, False, False, "unknown"),
        (True, False, True, "unknown"),
        (True, True, False, "not_sent"),
        (True, True, True, "unknown"),
    ],
)
@each("name", COURSES)
def test_a_request_that_was_interrupted_before_it_left_is_not_sent(
    name, is_handed_over, is_followed, is_sent, state
):
    def connecting(_):
        effect = last_of(driver)
        effect.is_handed_over = is_handed_over
        effect.is_followed, effect.is_sent = is_followed, is_sent
        raise KeyboardInterrupt

    driver, notes = scripted_driver(refused(), connecting), Notes()
    driver.error(KeyboardInterrupt, name, journal=notes)
    assert notes.states == {"entry-1": state}


def test_a_look_that_was_interrupted_before_it_left_changes_no_doubt():
    def connecting(_):
        last_of(driver).is_followed = True
        raise KeyboardInterrupt

    driver, notes = scripted_driver(reset(), connecting), Notes()
    driver.error(KeyboardInterrupt, "bookings.confirm", journal=notes)
    assert notes.states == {"entry-1": "unknown"}


@each("status", [409, 422])
@every_stop
def test_a_refused_write_is_rejected_when_the_read_after_it_is_interrupted(status, stop, caplog):
    notes, events = Notes(), list[OutcomeEvent]()
    driver = Stopped(2, stop(), [reply(status)])
    with caplog.at_level(logging.WARNING, "ferry_sdk"), pytest.raises(stop):
        driver.raw(
            described("bookings.confirm"),
            journal=notes,
            hooks=build_hooks({"outcome": [events.append]}, may_be_async=False),
        )
    assert driver.seen[:3] == ["RunBlocking", "Send", "Send"]
    assert notes.states == {"entry-1": "rejected"}
    assert [event.outcome for event in events] == ["rejected"]
    assert caplog.records == []


def last_of(driver):
    """The exchange that is under way."""
    (*_, effect) = driver.effects
    assert isinstance(effect, Send)
    return effect


def test_validators_are_built_before_a_write_is_sent(monkeypatch):
    driver, built = scripted_driver(good(BOOKING_CONFIRMATION)), list[tuple[str, bool]]()

    def note(model):
        built.append((model.__name__, any(isinstance(one, Send) for one in driver.effects)))

    for model in (BookingConfirmation, Booking):
        monkeypatch.setattr(model, "__pydantic_complete__", False)
        monkeypatch.setattr(model, "model_rebuild", partial(note, model))
    driver.raw("bookings.confirm")
    assert built == [("BookingConfirmation", False), ("Booking", False)]
    assert any(isinstance(one, Send) for one in driver.effects)
