"""A call that is interrupted, and one that others share."""

import asyncio
import logging
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ferry_sdk as sdk
from ferry_sdk import OutcomeUnknownError
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import Exclusive, Send, SingleFlight
from ferry_sdk._engine.flow import report_interruption, run
from ferry_sdk._engine.settings import Secret
from ferry_sdk.hooks import build_hooks
from tests.engine.failures import refused, reset
from tests.engine.interleaved import Interleaved
from tests.engine.recorder import Notes
from tests.engine.replies import Script, booking, good, reply, scripted_driver
from tests.engine.writes import SHOWN
from tests.support.driven import SETTINGS, Driver
from tests.support.exchanges import caught
from tests.support.operations import OPERATIONS, described
from tests.support.samples import BOOKING_CONFIRMATION, BOOKING_CREATED
from tests.support.tables import each

ISSUED, PENDING = booking("ticketed", "Issued"), booking("issuance_due", "Pending")
COURSES = {
    "bookings.create": (
        (refused, good(BOOKING_CREATED)),
        [
            *(("RunBlocking", None), ("CallUser", "not_sent"), ("Send", "unknown")),
            *(("Sleep", "not_sent"), ("Send", "unknown"), ("RunBlocking", "open")),
        ],
    ),
    "bookings.confirm": (
        (refused, reset, good(PENDING), good(ISSUED)),
        [
            *(("RunBlocking", None), ("CallUser", "not_sent"), ("Send", "unknown")),
            *(("Sleep", "not_sent"), ("Send", "unknown"), ("Send", "unknown")),
            *(("Sleep", "unknown"), ("Send", "unknown"), ("RunBlocking", "open")),
        ],
    ),
}
"""The replies to each write; its effects, with the state of the entry if the call stops there."""
every_step = each(
    ("name", "number"),
    [(name, number) for name, (_, effects) in COURSES.items() for number in range(len(effects))],
)
every_stop = each("stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, RuntimeError])


class Stopped(Driver):
    """Performs a number of effects, and raises an exception in place of the next.

    `Exclusive` and `SingleFlight` are not counted.
    """

    def __init__(self, number, stop, replies):
        super().__init__(Script(*replies), Session(opened_at=0.0))
        self._number = number
        self._stop = stop
        self.seen = []

    def perform(self, effect):
        if not isinstance(effect, Exclusive | SingleFlight):
            self.seen.append(type(effect).__name__)
            if len(self.seen) == self._number + 1:
                if isinstance(effect, Send):
                    effect.is_handed_over = True
                raise self._stop
        return super().perform(effect)


def stop_at(name, number, stop, replies=None):
    """Interrupt a call at one of its effects; return the driver and the journal."""
    notes = Notes()
    driver = Stopped(number, stop, COURSES[name][0] if replies is None else replies)
    settings = {"journal": notes, "token": Secret(lambda: "token"), "correlation_id": "c-1"}
    assert driver.error(type(stop), name, **settings) is stop
    return driver, notes


@every_stop
@every_step
def test_a_write_that_is_interrupted_is_on_record_and_told_as_known(name, number, stop, caplog):
    kind, state = COURSES[name][1][number]
    if state == "open" and issubclass(stop, Exception):
        return  # a recorder that fails does not take the result away
    caplog.clear()
    driver, notes = stop_at(name, number, stop())
    told = {
        "unknown": [f"{name} was interrupted and may have happened (correlation id c-1)"],
        "open": [f"{name} was done when it was interrupted (correlation id c-1)"],
    }
    assert caplog.messages == told.get(state or "", [])
    assert driver.seen[number] == kind
    assert notes.states == ({} if state is None else {"entry-1": state})
    ends = ["RunBlocking"] if state not in (None, "open") else []
    assert driver.seen[number + 1 :] == ends
    _, notes = stop_at(name, number, GeneratorExit())
    assert notes.states == ({} if state is None else {"entry-1": "open"}), "it is given up"


def test_an_interruption_before_or_after_the_write_says_what_is_known(caplog):
    driver = scripted_driver(good(BOOKING_CREATED))
    operation = described("bookings.create")
    context = Context.start(SETTINGS, driver.session, operation.name, correlation_id="c-1")
    driver.walk(run(operation, context))
    report_interruption(operation, context)  # as a transport does until the caller has the result
    (told,) = caplog.messages
    assert told == "bookings.create was done when it was interrupted (correlation id c-1)"
    caplog.clear()
    for call in (described("bookings.confirm", expect_total=1), described("catalogue.ports")):
        notes = Notes()
        with caplog.at_level(logging.WARNING, "ferry_sdk"):
            Stopped(0, KeyboardInterrupt(), []).error(KeyboardInterrupt, call, journal=notes)
        assert (notes.states, caplog.records) == ({}, [])


@each("name", ["bookings.create", "mcp.create_booking"])
def test_a_second_refresh_that_is_interrupted_leaves_the_write_not_sent(name):
    driver, notes = stop_at(name, 3, KeyboardInterrupt(), [reply(401)])
    assert driver.seen == ["RunBlocking", "CallUser", "Send", "CallUser", "RunBlocking"]
    assert notes.states == {"entry-1": "not_sent"}


@each(
    ("facts", "state"),
    [
        ((), "not_sent"),
        (("is_handed_over",), "unknown"),
        (("is_handed_over", "is_sent"), "unknown"),
        (("is_handed_over", "is_followed"), "not_sent"),
        (("is_handed_over", "is_followed", "is_sent"), "unknown"),
    ],
)
@each("name", COURSES)
def test_a_request_that_was_interrupted_before_it_left_is_not_sent(name, facts, state):
    def connecting(_):
        for fact in ("is_handed_over", "is_followed", "is_sent"):
            setattr(driver.effects[-1], fact, fact in facts)
        raise KeyboardInterrupt

    driver, notes = scripted_driver(refused(), connecting), Notes()
    driver.error(KeyboardInterrupt, name, journal=notes)
    assert notes.states == {"entry-1": state}
    if name == "bookings.confirm":  # a look that was interrupted changes no doubt
        driver, notes = scripted_driver(reset(), connecting), Notes()
        driver.error(KeyboardInterrupt, name, journal=notes)
        assert notes.states == {"entry-1": "unknown"}


@each("status", [409, 422])
@every_stop
def test_a_refused_write_is_rejected_when_the_read_after_it_is_interrupted(status, stop, caplog):
    notes, events = Notes(), []
    driver = Stopped(2, stop(), [reply(status)])
    hooks = build_hooks({"outcome": [events.append]}, may_be_async=False)
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        driver.error(stop, "bookings.confirm", journal=notes, hooks=hooks)
    assert driver.seen[:3] == ["RunBlocking", "Send", "Send"]
    assert notes.states == {"entry-1": "rejected"}
    assert ([event.outcome for event in events], caplog.records) == (["rejected"], [])


def test_validators_are_built_before_a_write_is_sent(monkeypatch):
    driver, built = scripted_driver(good(BOOKING_CONFIRMATION)), []

    def note(model):
        built.append((model.__name__, len(driver.requests)))

    for model in (sdk.BookingConfirmation, sdk.Booking):
        monkeypatch.setattr(model, "__pydantic_complete__", False)
        monkeypatch.setattr(model, "model_rebuild", partial(note, model))
    driver.raw("bookings.confirm")
    assert built == [("BookingConfirmation", 0), ("Booking", 0)]
    assert driver.requests


CONFIRM = described("bookings.confirm")
CONFIRMED = BOOKING_CONFIRMATION | {"booking_id": "b-1"}
with_seeds = given(seed=st.integers(0, 10**6))


def at_once(driver, seed, *operations, ahead=2, **changes):
    together = Interleaved(driver, seed)
    settings = replace(SETTINGS, **changes)
    courses = [together.course(driver.steps(operation, settings)) for operation in operations]
    for course in courses * ahead:
        next(course)
    return together.outcomes(*courses)


def errors_of_all(kind, driver, seed, **changes):
    outcomes = at_once(driver, seed, *[CONFIRM] * 3, **changes)
    assert {type(error) for error in outcomes} == {kind}
    assert len({id(error) for error in outcomes}) == 3
    assert [len(error.attempts) for error in outcomes] == [2, 2, 2]
    assert len(driver.requests) == 2
    return outcomes


@given(seed=st.integers(0, 10**6), callers=st.integers(2, 5), over_mcp=st.booleans())
def test_one_request_confirms_for_all(seed, callers, over_mcp):
    first = described("mcp.confirm_booking" if over_mcp else "bookings.confirm")
    driver, notes = scripted_driver(good(CONFIRMED)), Notes()
    outcomes = at_once(driver, seed, first, *[CONFIRM] * (callers - 1), journal=notes)
    assert [raw.parse().ticket_id for raw in outcomes] == ["t-1"] * callers
    assert len(driver.requests) == 1
    assert notes.states == {"entry-1": "done"}
    driver = scripted_driver(reset(), good(booking()), good(ISSUED))
    outcomes = at_once(driver, seed, *[CONFIRM] * 3)
    assert all(raw.parse().read_back for raw in outcomes)
    assert len(driver.requests) == 3, "one look after the other is enough for all"


@with_seeds
def test_each_has_errors_and_guards_of_its_own_and_other_changes_own_requests(seed):
    api_error = {"error": True, "code": "BOOKING_CONFIRM_ERROR", "message": "No"}
    driver = scripted_driver(reply(409, api_error), good(booking()))
    for error in errors_of_all(sdk.BookingConfirmError, driver, seed):
        sent = driver.requests[0].headers["x-client-correlation-id"]
        assert (error.operation, error.outcome) == ("bookings.confirm", "rejected")
        assert error.correlation_id == sent
    driver, notes = scripted_driver(reply(409), good(ISSUED)), Notes()
    for error in errors_of_all(sdk.AlreadyDoneError, driver, seed, journal=notes):
        assert (error.outcome, error.result.ticket_id) == ("rejected", "t-1")
        assert isinstance(error.__cause__, sdk.ConflictError)
    assert notes.states == {"entry-1": "rejected"}
    driver = scripted_driver(reset(), reply(404))
    for error in errors_of_all(OutcomeUnknownError, driver, seed, journal=Notes()):
        assert error.entry_id == "entry-1"

    def answer(request):
        return good(booking() if request.method == "GET" else CONFIRMED)(request)

    driver = scripted_driver(then=answer)
    guarded = [described("bookings.confirm", expect_total=total) for total in ("148.18", "1")]
    outcomes = at_once(driver, seed, *guarded, guarded[0], ahead=1)
    kinds = [type(outcome).__name__ for outcome in outcomes]
    assert kinds == ["RawResponse", "PriceChangedError", "RawResponse"]
    assert 1 <= [request.method for request in driver.requests].count("POST") <= 2
    for first, second in (
        (CONFIRM, described("bookings.confirm", booking_id="b-2")),
        (CONFIRM, described("bookings.cancel")),
        (
            described("tickets.mark_paid"),
            described("tickets.mark_paid", external_payment_ref="pay-2"),
        ),
    ):
        driver = scripted_driver(then=reply(403))
        outcomes = at_once(driver, seed, first, second)
        assert {type(outcome) for outcome in outcomes} == {sdk.PermissionDeniedError}
        assert len(driver.requests) == 2
    driver = scripted_driver(then=good(BOOKING_CREATED))
    at_once(driver, seed, *[described("bookings.create")] * 2, ahead=1)
    assert len(driver.requests) == 2
    driver = scripted_driver(then=good(CONFIRMED))
    for _ in range(2):
        at_once(driver, seed, *[CONFIRM] * 2)
    assert len(driver.requests) == 2


def key(operation, **changes):
    steps = scripted_driver().steps(operation, replace(SETTINGS, **changes))
    effect = next(steps)
    steps.close()
    assert "test-token" not in repr(effect)
    return effect.key if isinstance(effect, SingleFlight) else None


@each("name", OPERATIONS)
def test_only_changes_of_what_is_there_are_shared_by_address_token_and_content(name):
    operation = described(name)
    if name not in SHOWN:
        assert key(operation) is None
        return
    assert key(operation) == key(described(name)) is not None
    assert key(operation) != key(operation, base_url="https://other.test")
    other = Secret("another-token")
    assert key(operation) != key(operation, token=other, organisation_token=other)


def test_a_token_function_need_not_be_hashable_and_an_interrupted_refusal_names_its_call():
    class Tokens:
        __hash__ = None

        def __call__(self):
            return "token"

    hash(key(CONFIRM, token=Secret(Tokens())))
    driver = Stopped(2, KeyboardInterrupt(), [reply(422)])
    settings = {"journal": Notes(), "correlation_id": "c-1"}
    refusal = driver.error(KeyboardInterrupt, "bookings.create", **settings).__context__
    assert isinstance(refusal, sdk.FerryError)
    assert (refusal.operation, refusal.correlation_id) == ("bookings.create", "c-1")


@given(seed=st.integers(0, 10**6), is_seen=st.booleans(), after=st.integers(1, 3))
def test_who_joined_one_that_was_interrupted_reads_back(seed, is_seen, after):
    driver = scripted_driver(then=good(ISSUED if is_seen else booking("payment_due", "Pending")))
    together = Interleaved(driver, seed)
    flier, joined = (together.course(driver.steps(CONFIRM, SETTINGS)) for _ in range(2))
    for course in (flier, flier, *[joined] * after):
        next(course)
    caught(KeyboardInterrupt, flier.throw, KeyboardInterrupt())
    (outcome,) = together.outcomes(joined)
    if is_seen:
        assert outcome.parse().read_back
    else:
        assert isinstance(outcome, OutcomeUnknownError)
        assert outcome.subject == {"booking_id": "b-1"}
        assert outcome.last_seen.stage == "payment_due"
    assert "POST" not in {request.method for request in driver.requests} or after == 1


@each("name", SHOWN)
def test_who_joined_knows_only_what_the_other_call_knows(name):
    driver = scripted_driver()
    steps = driver.steps(described(name), replace(SETTINGS, deadline=5.0))
    assert next(steps).until == 1005.0
    driver.now = 1005.0
    with pytest.raises(OutcomeUnknownError) as info:
        steps.throw(sdk.RequestTimeoutError("the deadline has passed", outcome="unknown"))
    assert info.value.subject
    assert info.value.attempts == ()
    assert driver.requests == []
    steps = scripted_driver().steps(described(name), SETTINGS)
    next(steps)
    assert caught(sdk.ConnectionFailedError, steps.throw, refused()).outcome == "not_sent"
