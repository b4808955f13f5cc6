"""Callers who ask for the same change at once share one request, and what becomes of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import (
    AlreadyDoneError,
    BookingConfirmError,
    ConflictError,
    ConnectionFailedError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RequestTimeoutError,
)
from ferry_sdk._engine.effects import SingleFlight
from ferry_sdk._engine.settings import Secret
from tests.engine.interleaved import Interleaved
from tests.engine.recorder import Notes
from tests.engine.replies import booking, good, refused, reply, reset, scripted_driver
from tests.support.driven import SETTINGS
from tests.support.operations import OPERATIONS, described
from tests.support.samples import BOOKING_CONFIRMATION, BOOKING_CREATED
from tests.support.tables import each

CONFIRMED = BOOKING_CONFIRMATION | {"booking_id": "b-1"}
SHARED = (
    "bookings.confirm",
    "bookings.cancel",
    "tickets.cancel",
    "tickets.mark_paid",
    "mcp.confirm_booking",
    "mcp.cancel_ticket",
)
seeds = st.integers(0, 10**6)


def at_once(driver, settings, seed, *operations, ahead=2):
    """What calls give or fail with that are all so many effects ahead before any ends."""
    together = Interleaved(driver, seed)
    courses = [together.course(driver.steps(operation, settings)) for operation in operations]
    for course in courses * ahead:
        next(course)
    return together.outcomes(*courses)


def writes(driver):
    return [
        request.url
        for request in driver.requests
        if request.method == "POST" and "cancel-fee" not in request.url
    ]


@given(seed=seeds, callers=st.integers(2, 5), over_mcp=st.booleans())
def test_one_request_confirms_for_all(seed, callers, over_mcp):
    names = ["mcp.confirm_booking" if over_mcp else "bookings.confirm"]
    names += ["bookings.confirm"] * (callers - 1)
    notes = Notes()
    driver = scripted_driver(good(CONFIRMED))
    settings = replace(SETTINGS, journal=notes)
    outcomes = at_once(driver, settings, seed, *(described(name) for name in names))
    assert [raw.parse().ticket_id for raw in outcomes] == ["t-1"] * callers
    assert len(driver.requests) == 1
    assert notes.states == {"entry-1": "done"}


@given(seed=seeds)
def test_all_are_told_of_a_failure_each_by_an_error_of_their_own(seed):
    api_error = {"error": True, "code": "BOOKING_CONFIRM_ERROR", "message": "No"}
    driver = scripted_driver(reply(409, api_error), good(booking()))
    outcomes = at_once(driver, SETTINGS, seed, *[described("bookings.confirm")] * 3)
    assert {type(error) for error in outcomes} == {BookingConfirmError}
    assert len({id(error) for error in outcomes}) == 3
    assert {error.operation for error in outcomes} == {"bookings.confirm"}
    assert {error.outcome for error in outcomes} == {"rejected"}
    assert [len(error.attempts) for error in outcomes] == [2, 2, 2]
    sent = driver.requests[0].headers["x-client-correlation-id"]
    assert {error.correlation_id for error in outcomes} == {sent}


@given(seed=seeds)
def test_all_who_ask_for_what_is_there_already_are_told_so(seed):
    driver = scripted_driver(reply(409), good(booking("ticketed", "Issued")))
    notes = Notes()
    settings = replace(SETTINGS, journal=notes)
    outcomes = at_once(driver, settings, seed, *[described("bookings.confirm")] * 3)
    assert {type(error) for error in outcomes} == {AlreadyDoneError}
    assert len({id(error) for error in outcomes}) == 3
    assert {(error.outcome, error.result.ticket_id) for error in outcomes} == {("rejected", "t-1")}
    assert {type(error.__cause__) for error in outcomes} == {ConflictError}
    assert notes.states == {"entry-1": "rejected"}
    assert len(driver.requests) == 2


@given(seed=seeds)
def test_one_look_after_the_other_is_enough_for_all(seed):
    driver = scripted_driver(reset(), good(booking()), good(booking("ticketed", "Issued")))
    outcomes = at_once(driver, SETTINGS, seed, *[described("bookings.confirm")] * 3)
    assert all(raw.parse().read_back for raw in outcomes)
    assert len(driver.requests) == 3


@given(seed=seeds)
def test_an_unknown_outcome_is_the_same_for_all(seed):
    driver = scripted_driver(reset(), reply(404))
    settings = replace(SETTINGS, journal=Notes())
    outcomes = at_once(driver, settings, seed, *[described("bookings.confirm")] * 3)
    assert {type(error) for error in outcomes} == {OutcomeUnknownError}
    assert {error.entry_id for error in outcomes} == {"entry-1"}
    assert [len(error.attempts) for error in outcomes] == [2, 2, 2]
    assert len(driver.requests) == 2


@given(seed=seeds)
def test_each_has_a_guard_of_its_own_and_one_request_is_sent(seed):
    def answer(request):
        return good(booking() if request.method == "GET" else CONFIRMED)(request)

    driver = scripted_driver(then=answer)
    outcomes = at_once(
        driver,
        SETTINGS,
        seed,
        described("bookings.confirm", expect_total="148.18"),
        described("bookings.confirm", expect_total="1"),
        described("bookings.confirm", expect_total="148.18"),
        ahead=1,
    )
    assert [type(outcome).__name__ for outcome in outcomes] == [
        "RawResponse",
        "PriceChangedError",
        "RawResponse",
    ]
    assert 1 <= len(writes(driver)) <= 2


@each(
    ("first", "second"),
    [
        (described("bookings.confirm"), described("bookings.confirm", booking_id="b-2")),
        (described("bookings.confirm"), described("bookings.cancel")),
        (
            described("tickets.mark_paid"),
            described("tickets.mark_paid", external_payment_ref="pay-2"),
        ),
    ],
)
def test_other_changes_have_requests_of_their_own(first, second):
    driver = scripted_driver(then=reply(403))
    outcomes = at_once(driver, SETTINGS, 0, first, second)
    assert {type(outcome) for outcome in outcomes} == {PermissionDeniedError}
    assert len(driver.requests) == 2


@given(seed=seeds)
def test_two_creations_make_two_bookings(seed):
    driver = scripted_driver(then=good(BOOKING_CREATED))
    at_once(driver, SETTINGS, seed, *[described("bookings.create")] * 2, ahead=1)
    assert len(driver.requests) == 2


def key(operation, settings=SETTINGS):
    steps = scripted_driver().steps(operation, settings)
    effect = next(steps)
    steps.close()
    return effect.key if isinstance(effect, SingleFlight) else None


@each("name", [name for name in OPERATIONS if name not in SHARED])
def test_only_changes_of_what_is_there_are_shared(name):
    assert key(described(name)) is None


@each("name", SHARED)
def test_what_is_shared_is_shared_by_address_token_and_content(name):
    operation = described(name)
    assert key(operation) == key(described(name))
    assert key(operation) != key(operation, replace(SETTINGS, base_url="https://other.test"))
    other = Secret("another-token")
    assert key(operation) != key(
        operation, replace(SETTINGS, token=other, organisation_token=other)
    )
    assert "test-token" not in repr(next(scripted_driver().steps(operation, SETTINGS)))


def test_a_token_function_need_not_be_hashable():
    class Tokens:
        __hash__ = None

        def __call__(self):
            return "token"

    hash(key(described("bookings.confirm"), replace(SETTINGS, token=Secret(Tokens()))))


@given(seed=seeds, is_seen=st.booleans(), after=st.integers(1, 3))
def test_who_joined_one_that_was_interrupted_reads_back(seed, is_seen, after):
    shown = booking("ticketed", "Issued") if is_seen else booking("payment_due", "Pending")
    driver = scripted_driver(then=good(shown))
    together = Interleaved(driver, seed)
    flier, joined = (
        together.course(driver.steps(described("bookings.confirm"), SETTINGS)) for _ in range(2)
    )
    for _ in range(2):
        next(flier)
    for _ in range(after):
        next(joined)
    with pytest.raises(KeyboardInterrupt):
        flier.throw(KeyboardInterrupt())
    (outcome,) = together.outcomes(joined)
    if is_seen:
        assert outcome.parse().read_back
    else:
        assert isinstance(outcome, OutcomeUnknownError)
        assert outcome.subject == {"booking_id": "b-1"}
        assert outcome.last_seen.stage == "payment_due"
    assert "POST" not in {request.method for request in driver.requests} or after == 1


@given(seed=seeds)
def test_who_comes_later_makes_a_request_of_their_own(seed):
    driver = scripted_driver(then=good(CONFIRMED))
    for _ in range(2):
        at_once(driver, SETTINGS, seed, *[described("bookings.confirm")] * 2)
    assert len(driver.requests) == 2


@each("name", SHARED)
def test_who_joined_and_has_no_time_left_does_not_know(name):
    driver = scripted_driver()
    steps = driver.steps(described(name), replace(SETTINGS, deadline=5.0))
    assert next(steps).until == 1005.0
    driver.now = 1005.0
    with pytest.raises(OutcomeUnknownError) as info:
        steps.throw(RequestTimeoutError("the deadline has passed", outcome="unknown"))
    assert info.value.subject
    assert info.value.attempts == ()
    assert driver.requests == []


@each("name", SHARED)
def test_who_joined_one_that_sent_nothing_has_sent_nothing(name):
    steps = scripted_driver().steps(described(name), SETTINGS)
    next(steps)
    with pytest.raises(ConnectionFailedError) as info:
        steps.throw(refused())
    assert info.value.outcome == "not_sent"
