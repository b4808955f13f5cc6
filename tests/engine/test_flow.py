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
from ferry_sdk._engine.sending import SendState
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

ISSUED = booking("ticketed", "Issued")
PENDING = booking("issuance_due", "Pending")
COURSES = {
    "bookings.create": (
        (refused, good(BOOKING_CREATED)),
        [
            ("RunBlocking", None),
            ("CallUser", "not_sent"),
            ("Send", "unknown"),
            ("Sleep", "not_sent"),
            ("Send", "unknown"),
            ("RunBlocking", "open"),
        ],
    ),
    "bookings.confirm": (
        (refused, reset, good(PENDING), good(ISSUED)),
        [
            ("RunBlocking", None),
            ("CallUser", "not_sent"),
            ("Send", "unknown"),
            ("Sleep", "not_sent"),
            ("Send", "unknown"),
            ("Send", "unknown"),
            ("Sleep", "unknown"),
            ("Send", "unknown"),
            ("RunBlocking", "open"),
        ],
    ),
}
"""The replies to each write; its effects, with the state of the entry if the call stops there."""
STEPS = [
    pytest.param(name, number, id=f"{name} {number}")
    for name, (_, effects) in COURSES.items()
    for number in range(len(effects))
]
every_step = pytest.mark.parametrize(("name", "number"), STEPS)
every_stop = pytest.mark.parametrize(
    "stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, RuntimeError]
)


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
                    effect.state = SendState.HANDED_OVER
                raise self._stop
        return super().perform(effect)


def stop_at(name, number, stop, replies=None):
    """Interrupt a call at one of its effects; return the driver and the journal."""
    notes = Notes()
    driver = Stopped(number, stop, COURSES[name][0] if replies is None else replies)
    settings = {"journal": notes, "token": Secret(lambda: "token"), "correlation_id": "c-1"}
    assert driver.error(type(stop), name, **settings) is stop
    return driver, notes


@every_step
@every_stop
def test_interrupted_write_is_recorded_as_known(name, number, stop, caplog):
    kind, state = COURSES[name][1][number]
    if state == "open" and issubclass(stop, Exception):
        return  # a recorder that fails does not take the result away

    driver, notes = stop_at(name, number, stop())
    messages = {
        "unknown": [f"{name} was interrupted and may have happened (correlation id c-1)"],
        "open": [f"{name} was done when it was interrupted (correlation id c-1)"],
    }
    assert caplog.messages == messages.get(state or "", [])
    assert driver.seen[number] == kind
    assert notes.states == ({} if state is None else {"entry-1": state})
    ends = ["RunBlocking"] if state not in (None, "open") else []
    assert driver.seen[number + 1 :] == ends


@every_step
def test_write_that_is_given_up_stays_open(name, number):
    state = COURSES[name][1][number][1]
    _, notes = stop_at(name, number, GeneratorExit())
    assert notes.states == ({} if state is None else {"entry-1": "open"})


def test_interruption_after_the_result_is_logged(caplog):
    """A transport reports it until the caller has the result."""
    driver = scripted_driver(good(BOOKING_CREATED))
    operation = described("bookings.create")
    context = Context.start(SETTINGS, driver.session, operation.name, correlation_id="c-1")
    driver.walk(run(operation, context))
    report_interruption(operation, context)
    (message,) = caplog.messages
    assert message == "bookings.create was done when it was interrupted (correlation id c-1)"


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(described("bookings.confirm", expect_total=1), id="guard"),
        pytest.param(described("catalogue.ports"), id="read"),
    ],
)
def test_interrupted_read_is_not_recorded(operation, caplog):
    notes = Notes()
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        Stopped(0, KeyboardInterrupt(), []).error(KeyboardInterrupt, operation, journal=notes)
    assert (notes.states, caplog.records) == ({}, [])


@pytest.mark.parametrize("name", ["bookings.create", "mcp.create_booking"])
def test_interrupted_refresh_leaves_the_write_not_sent(name):
    driver, notes = stop_at(name, 3, KeyboardInterrupt(), [reply(401)])
    assert driver.seen == ["RunBlocking", "CallUser", "Send", "CallUser", "RunBlocking"]
    assert notes.states == {"entry-1": "not_sent"}


def driver_interrupted_in(send_state, first):
    """Return a driver whose second request is interrupted in a state."""

    def interrupt(_):
        driver.effects[-1].state = send_state
        raise KeyboardInterrupt

    driver = scripted_driver(first, interrupt)
    return driver


every_sending = pytest.mark.parametrize(
    ("send_state", "state"),
    [
        pytest.param(SendState.NOT_BEGUN, "not_sent", id="not begun"),
        pytest.param(SendState.HANDED_OVER, "unknown", id="handed over"),
        pytest.param(SendState.IN_OWN_CLIENT, "not_sent", id="in our client"),
        pytest.param(SendState.FOLLOWED, "not_sent", id="followed"),
        pytest.param(SendState.SENT, "unknown", id="sent"),
    ],
)


@every_sending
@pytest.mark.parametrize("name", COURSES)
def test_request_interrupted_before_it_left_is_not_sent(name, send_state, state):
    driver = driver_interrupted_in(send_state, refused())
    notes = Notes()
    driver.error(KeyboardInterrupt, name, journal=notes)
    assert notes.states == {"entry-1": state}


@every_sending
def test_interrupted_look_changes_no_doubt(send_state, state):
    driver = driver_interrupted_in(send_state, reset())
    notes = Notes()
    driver.error(KeyboardInterrupt, "bookings.confirm", journal=notes)
    assert notes.states == {"entry-1": "unknown"}


@pytest.mark.parametrize("status", [409, 422])
@every_stop
def test_interrupted_look_leaves_a_refusal_rejected(status, stop, caplog):
    notes = Notes()
    events = []
    driver = Stopped(2, stop(), [reply(status)])
    hooks = build_hooks({"outcome": [events.append]}, may_be_async=False)
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        driver.error(stop, "bookings.confirm", journal=notes, hooks=hooks)
    assert driver.seen[:3] == ["RunBlocking", "Send", "Send"]
    assert notes.states == {"entry-1": "rejected"}
    assert ([event.outcome for event in events], caplog.records) == (["rejected"], [])


def test_validators_are_built_before_a_write_is_sent(monkeypatch):
    driver = scripted_driver(good(BOOKING_CONFIRMATION))
    built = []

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
    driver = scripted_driver(good(CONFIRMED))
    notes = Notes()
    outcomes = at_once(driver, seed, first, *[CONFIRM] * (callers - 1), journal=notes)
    assert [raw.parse().ticket_id for raw in outcomes] == ["t-1"] * callers
    assert len(driver.requests) == 1
    assert notes.states == {"entry-1": "done"}


@with_seeds
def test_one_look_after_another_is_enough_for_all(seed):
    driver = scripted_driver(reset(), good(booking()), good(ISSUED))
    outcomes = at_once(driver, seed, *[CONFIRM] * 3)
    assert all(raw.parse().read_back for raw in outcomes)
    assert len(driver.requests) == 3


@with_seeds
def test_refusal_is_raised_to_all(seed):
    api_error = {"error": True, "code": "BOOKING_CONFIRM_ERROR", "message": "No"}
    driver = scripted_driver(reply(409, api_error), good(booking()))
    for error in errors_of_all(sdk.BookingConfirmError, driver, seed):
        sent = driver.requests[0].headers["x-client-correlation-id"]
        assert (error.operation, error.outcome) == ("bookings.confirm", "rejected")
        assert error.correlation_id == sent


@with_seeds
def test_effect_that_was_there_is_told_to_all(seed):
    driver = scripted_driver(reply(409), good(ISSUED))
    notes = Notes()
    for error in errors_of_all(sdk.AlreadyDoneError, driver, seed, journal=notes):
        assert (error.outcome, error.result.ticket_id) == ("rejected", "t-1")
        assert isinstance(error.__cause__, sdk.ConflictError)
    assert notes.states == {"entry-1": "rejected"}


@with_seeds
def test_unknown_outcome_names_the_shared_entry(seed):
    driver = scripted_driver(reset(), reply(404))
    for error in errors_of_all(OutcomeUnknownError, driver, seed, journal=Notes()):
        assert error.entry_id == "entry-1"


@with_seeds
def test_each_caller_has_its_own_guard(seed):
    def answer(request):
        return good(booking() if request.method == "GET" else CONFIRMED)(request)

    driver = scripted_driver(then=answer)
    guarded = [described("bookings.confirm", expect_total=total) for total in ("148.18", "1")]
    outcomes = at_once(driver, seed, *guarded, guarded[0], ahead=1)
    kinds = [type(outcome).__name__ for outcome in outcomes]
    assert kinds == ["RawResponse", "PriceChangedError", "RawResponse"]
    assert 1 <= [request.method for request in driver.requests].count("POST") <= 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(CONFIRM, described("bookings.confirm", booking_id="b-2"), id="booking"),
        pytest.param(CONFIRM, described("bookings.cancel"), id="operation"),
        pytest.param(
            described("tickets.mark_paid"),
            described("tickets.mark_paid", external_payment_ref="pay-2"),
            id="argument",
        ),
    ],
)
@with_seeds
def test_other_changes_have_their_own_requests(first, second, seed):
    driver = scripted_driver(then=reply(403))
    outcomes = at_once(driver, seed, first, second)
    assert {type(outcome) for outcome in outcomes} == {sdk.PermissionDeniedError}
    assert len(driver.requests) == 2


@with_seeds
def test_creates_share_no_request(seed):
    driver = scripted_driver(then=good(BOOKING_CREATED))
    at_once(driver, seed, *[described("bookings.create")] * 2, ahead=1)
    assert len(driver.requests) == 2


@with_seeds
def test_later_callers_share_no_earlier_request(seed):
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


SEARCHES = ("availability.search", "mcp.search_availability")


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in {*SHOWN, *SEARCHES}])
def test_other_calls_are_not_shared(name):
    assert key(described(name)) is None


@pytest.mark.parametrize("name", [*SHOWN, *SEARCHES])
def test_call_is_shared_by_address_token_content(name):
    operation = described(name)
    assert key(operation) == key(described(name)) is not None
    assert key(operation) != key(operation, base_url="https://other.test")
    other = Secret("another-token")
    assert key(operation) != key(operation, token=other, organisation_token=other)


def test_token_function_need_not_be_hashable():
    class Tokens:
        __hash__ = None

        def __call__(self):
            return "token"

    hash(key(CONFIRM, token=Secret(Tokens())))


def test_interrupted_refusal_names_its_call():
    driver = Stopped(2, KeyboardInterrupt(), [reply(422)])
    settings = {"journal": Notes(), "correlation_id": "c-1"}
    refusal = driver.error(KeyboardInterrupt, "bookings.create", **settings).__context__
    assert isinstance(refusal, sdk.FerryError)
    assert (refusal.operation, refusal.correlation_id) == ("bookings.create", "c-1")


@given(seed=st.integers(0, 10**6), is_seen=st.booleans(), after=st.integers(1, 3))
def test_caller_who_joined_an_interrupted_one_reads_back(seed, is_seen, after):
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


@pytest.mark.parametrize("name", SHOWN)
def test_caller_who_waits_too_long_knows_nothing(name):
    driver = scripted_driver()
    steps = driver.steps(described(name), replace(SETTINGS, deadline=5.0))
    assert next(steps).until == 1005.0
    driver.now = 1005.0
    with pytest.raises(OutcomeUnknownError) as info:
        steps.throw(sdk.RequestTimeoutError("the deadline has passed", outcome="unknown"))
    assert info.value.subject
    assert info.value.attempts == ()
    assert driver.requests == []


@pytest.mark.parametrize("name", SHOWN)
def test_joined_caller_has_the_outcome_of_the_other(name):
    steps = scripted_driver().steps(described(name), SETTINGS)
    next(steps)
    assert caught(sdk.ConnectionFailedError, steps.throw, refused()).outcome == "not_sent"
