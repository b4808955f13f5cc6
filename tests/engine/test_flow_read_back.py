"""A write whose reply was lost is read back until its effect is seen or time is up."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    SAFETY,
    AlreadyDoneError,
    APIError,
    Booking,
    ConfigurationError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    OutcomeUnknownError,
    Ticket,
    TicketNotFoundError,
    UnexpectedResponseError,
)
from ferry_sdk._engine.effects import Send, Sleep
from ferry_sdk._engine.limiter import current_request
from ferry_sdk._engine.settings import Secret
from ferry_sdk.client import _unknown_outcome
from ferry_sdk.hooks import Hooks, OutcomeEvent
from ferry_sdk.types import OutcomeDetails
from tests.engine.recorder import Notes, entry
from tests.engine.replies import (
    booking,
    good,
    refused,
    reply,
    reset,
    scripted_driver,
    ticket,
    timed_out,
    undecodable,
)
from tests.support.operations import OPERATIONS, described
from tests.support.tables import each
from tests.support.trip import booked

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Case:
    """A write that is read back.

    Attributes:
        name: The operation.
        read: What is read, below the base address.
        before: What is read before the effect.
        after: What is read after it.
        subject: The ids of what is changed.
    """

    name: str
    read: str
    before: Any
    after: Any
    subject: Mapping[str, str]

    def operation(self):
        return described(self.name, **self.subject)

    def lost(self):
        """Return the error of a call whose reply and whose effect were not seen."""
        driver = scripted_driver(reset(), reply(404))
        call = self.operation()
        return driver.error(OutcomeUnknownError, call, correlation_id="c-7", journal=Notes())


BOOKING = {"booking_id": "b-1"}
TICKET = {"ticket_id": "t-1"}
PENDING = booking("issuance_due", "Pending")
ISSUED = booking("ticketed", "Issued")
BOTH_ISSUED = booking("in_progress", "Issued", "Issued")
PAID = booking("issuance_due", "Pending", payment_status="paid")
OF_A_BOOKING, OF_A_TICKET = "/api/booking/b-1", "/api/ticket/t-1"
CANCELED = ticket("Canceled")
CASES = {
    "confirm": Case("bookings.confirm", OF_A_BOOKING, PENDING, ISSUED, BOOKING),
    "confirm over MCP": Case("mcp.confirm_booking", OF_A_BOOKING, PENDING, BOTH_ISSUED, BOOKING),
    "cancel": Case("bookings.cancel", OF_A_BOOKING, PENDING, booking("voided", "Pending"), BOOKING),
    "cancel a ticket": Case("tickets.cancel", OF_A_TICKET, ticket("Issued"), CANCELED, TICKET),
    "cancel over MCP": Case("mcp.cancel_ticket", "/mcp", ticket("Issued"), CANCELED, TICKET),
    "pay": Case("tickets.mark_paid", OF_A_TICKET, ticket("Pending"), ticket("Issued"), TICKET),
    "pay of a booking": Case("tickets.mark_paid", OF_A_BOOKING, PENDING, PAID, TICKET | BOOKING),
}
LOST = {
    "reset": reset,
    "time-out": timed_out,
    "408": lambda: reply(408),
    "500": lambda: reply(500, {"message": "oops"}),
    "503": lambda: reply(503, retry_after="3600"),
    "no JSON": lambda: reply(200),
    "another shape": lambda: reply(200, {"status": 7}),
    "undecodable": undecodable,
}
every_case = each("case", CASES.values())
every_loss = each("lost", LOST.values())


@every_loss
@every_case
def test_an_effect_seen_at_once_gives_the_result(case, lost):
    driver = scripted_driver(lost(), good(case.after))
    result = driver.raw(case.operation()).parse()
    assert result.read_back
    assert type(result) is case.operation().answer.model
    assert {name: getattr(result, name, value) for name, value in case.subject.items()} == {
        **case.subject
    }
    assert driver.paths[1:] == [case.read]
    assert driver.waits == []


@every_case
def test_an_effect_seen_later_gives_the_result(case):
    driver = scripted_driver(reset(), *[good(case.before)] * 4, good(case.after))
    assert driver.raw(case.operation()).parse().read_back
    assert driver.paths[1:] == [case.read] * 5
    for wait, pause in zip(driver.waits, (0.25, 0.5, 1, 2), strict=True):
        assert pause <= wait <= pause + 0.25


@every_case
@each("number", [1, 2])
def test_a_pause_that_the_client_is_closed_in_leaves_the_write_in_doubt(case, number, monkeypatch):
    driver = scripted_driver(reset(), then=good(case.before))
    perform = driver.perform

    def close_in_a_pause(effect):
        if isinstance(effect, Sleep) and len(driver.waits) == number - 1:
            driver.effects.append(effect)
            raise ConfigurationError("the client is closed")
        return perform(effect)

    monkeypatch.setattr(driver, "perform", close_in_a_pause)
    error = driver.error(OutcomeUnknownError, case.operation())
    assert error.last_seen is not None
    assert len(driver.waits) == number


@every_case
def test_a_write_whose_effect_is_never_seen_is_unknown_after_half_a_minute(case):
    driver = scripted_driver(reset(), then=good(case.before))
    error = driver.error(OutcomeUnknownError, case.operation())
    assert 1029 < driver.now <= 1030.25
    assert max(driver.waits) <= 10.25
    assert 6 <= len(driver.requests) <= 12
    assert error.subject == case.subject
    assert error.operation == case.name
    assert error.outcome == "unknown"
    assert error.last_seen.model_dump(mode="json", include={"status"}) == {
        "status": case.before["status"]
    }
    assert "may have happened" in str(error)


@every_case
def test_the_last_look_is_just_before_time_is_up(case):
    driver = scripted_driver(reset(), then=good(case.before))
    driver.latency = 0.01
    driver.error(OutcomeUnknownError, case.operation(), deadline=20.0)
    assert 1019.7 < driver.now < 1020


@every_case
def test_the_write_itself_is_never_sent_again(case):
    driver = scripted_driver(reset(), *[reset()] * 3, *[refused()] * 3, then=good(case.before))
    driver.error(OutcomeUnknownError, case.operation(), deadline=60.0)
    writes = [
        request
        for request in driver.requests
        if request.method == "POST" and b"view_ticket" not in (request.content or b"")
    ]
    assert len(writes) == 1


@each(
    "trouble",
    [
        reset,
        refused,
        lambda: reply(503),
        lambda: reply(429, retry_after="2"),
        lambda: reply(408),
        lambda: reply(200),
        lambda: reply(200, {"id": 7}),
    ],
)
@every_case
def test_a_look_that_fails_is_followed_by_others(case, trouble):
    driver = scripted_driver(reset(), *(trouble() for _ in range(4)), good(case.after))
    assert driver.raw(case.operation()).parse().read_back
    assert len(driver.requests) == 6


@each("status", [302, 400, 401, 403, 404, 410, 422])
@every_case
def test_a_look_that_never_will_succeed_is_the_last(case, status):
    driver = scripted_driver(reset(), good(case.before), reply(status))
    error = driver.error(OutcomeUnknownError, case.operation())
    assert error.last_seen.model_dump(include={"status"}) == {"status": case.before["status"]}
    assert error.attempts[-1].status_code == status
    assert len(driver.requests) == 3


@each("status", [401, 404])
@every_case
def test_what_cannot_be_read_at_all_is_unknown_at_once(case, status):
    driver = scripted_driver(reply(500, {"message": "oops"}), reply(status))
    error = driver.error(OutcomeUnknownError, case.operation())
    assert error.last_seen == {"message": "oops"}
    assert driver.waits == []


@every_case
def test_a_look_that_is_told_to_wait_too_long_is_the_last(case):
    driver = scripted_driver(reset(), good(case.before), reply(429, retry_after="31"))
    driver.error(OutcomeUnknownError, case.operation())
    assert len(driver.requests) == 3
    assert driver.now < 1002


@every_case
def test_a_redirect_is_unknown_and_not_read_back(case):
    driver = scripted_driver(reply(307, location="https://elsewhere.example/"))
    with pytest.raises(UnexpectedResponseError, match="redirect") as info:
        driver.raw(case.operation())
    assert info.value.outcome == "unknown"
    assert len(driver.requests) == 1


@every_case
def test_a_refusal_that_says_nothing_of_the_state_is_final(case):
    for status in (401, 403, 404, 429):
        driver = scripted_driver(reply(status))
        error = driver.error(APIError, case.operation(), max_retries=0)
        assert (error.status_code, error.outcome) == (status, "rejected")
        assert len(driver.requests) == 1


@every_case
def test_a_refusal_stands_unless_one_read_shows_the_effect(case):
    unseen = (good(case.before), reply(404), reply(503), reply(200), reset(), timed_out())
    for status in (400, 402, 409, 410, 422):
        for read in unseen:
            driver = scripted_driver(reply(status), read)
            error = driver.error(APIError, case.operation(), max_retries=0)
            assert (error.status_code, error.outcome) == (status, "rejected")
            assert (error.operation, error.__cause__) == (case.name, None)
            assert driver.paths[1:] == [case.read]


@every_case
def test_a_refused_write_whose_effect_is_there_is_already_done(case):
    notes, driver = Notes(), scripted_driver(reply(409), good(case.after))
    error = driver.error(AlreadyDoneError, case.operation(), journal=notes)
    assert not isinstance(error, APIError)
    assert (error.outcome, error.operation) == ("rejected", case.name)
    assert error.result == scripted_driver(reset(), good(case.after)).raw(case.operation()).parse()
    assert isinstance(error.last_seen, Booking | Ticket)
    assert isinstance(error.__cause__, ConflictError)
    assert error.__cause__.correlation_id == error.correlation_id
    assert [attempt.status_code for attempt in error.attempts] == [409, 200]
    assert notes.states == {"entry-1": "rejected"}
    assert notes.details["entry-1"] == OutcomeDetails(status_code=409)
    assert driver.waits == []


@every_case
def test_a_read_after_a_refusal_ends_before_the_deadline(case):
    for deadline, end in ((None, 1025.25), (5.0, 1003.8125)):
        driver = scripted_driver(reply(409), timed_out())
        driver.error(ConflictError, case.operation(), deadline=deadline, max_retries=0)
        (_, read) = [effect for effect in driver.effects if isinstance(effect, Send)]
        assert read.until == end


def test_a_refusal_in_the_body_of_a_tool_is_looked_into_but_for_one_of_an_unknown_ticket():
    case = CASES["cancel over MCP"]
    for code, requests in (("TICKET_CANCEL_ERROR", 2), ("BOOKED", 2), ("TICKET_NOT_FOUND", 1)):
        refusal = good({"error": True, "code": code, "message": "No"})
        driver = scripted_driver(refusal, good(case.after))
        kind = AlreadyDoneError if requests > 1 else TicketNotFoundError
        error = driver.error(kind, case.operation())
        assert error.outcome == "rejected"
        assert len(driver.requests) == requests


def test_what_no_read_shows_is_not_read_after_a_refusal():
    for name in ("bookings.create", "mcp.create_booking", "mcp.call_tool"):
        driver = scripted_driver(reply(409))
        driver.error(ConflictError, name)
        assert len(driver.requests) == 1


@each("name", ["bookings.create", "mcp.create_booking", "mcp.call_tool"])
@every_loss
def test_what_no_read_shows_is_unknown_at_once(name, lost):
    driver = scripted_driver(lost())
    error = driver.error(OutcomeUnknownError, name)
    assert error.subject == {}
    assert len(driver.requests) == 1
    assert driver.waits == []


def test_a_reply_that_cannot_be_read_is_what_was_last_seen():
    driver = scripted_driver(reply(200, {"booking_id": 7}))
    error = driver.error(OutcomeUnknownError, "bookings.create")
    assert error.last_seen == {"booking_id": 7}


@every_case
def test_an_unknown_outcome_names_the_request_without_its_content(case):
    seen = set()
    for _ in range(2):
        driver = scripted_driver(reset(), reply(404))
        error = driver.error(OutcomeUnknownError, case.operation())
        digest = error.request
        assert digest.method == "POST"
        assert digest.path.startswith(driver.paths[0])
        seen.add(digest.digest)
    assert len(seen) == 1


def test_a_payment_is_read_with_the_clients_own_token():
    driver = scripted_driver(reset(), good(ticket("Issued")))
    driver.raw("tickets.mark_paid")
    sent = [request.headers["Authorization"] for request in driver.requests]
    assert sent == ["Bearer organisation-token", "Bearer test-token"]


def test_a_booking_that_is_named_is_read_instead_of_the_ticket_and_not_sent():
    driver = scripted_driver(reset(), good(booking("ticketed", "Issued")))
    driver.raw(described("tickets.mark_paid", booking_id="b-1"))
    assert driver.paths[1] == "/api/booking/b-1"
    assert b"b-1" not in (driver.requests[0].content or b"")


def test_a_confirmed_booking_without_a_ticket_is_not_yet_a_result():
    driver = scripted_driver(
        reset(), good(booking("ticketed")), good(booking("ticketed", "Issued"))
    )
    assert driver.raw("bookings.confirm").parse().ticket_id == "t-1"
    assert len(driver.requests) == 3


def test_without_retries_each_look_is_one_request():
    driver = scripted_driver(reset(), reset(), reset(), good(booking("ticketed", "Issued")))
    driver.raw("bookings.confirm", max_retries=0)
    assert len(driver.requests) == 4
    assert [wait >= 0.25 for wait in driver.waits] == [True, True]


def test_the_failure_of_the_write_is_the_cause():
    lost = reset()
    driver = scripted_driver(lost, reply(404))
    error = driver.error(OutcomeUnknownError, "bookings.confirm")
    assert error.__cause__ is lost
    assert not isinstance(error.__cause__, NotFoundError)


def test_a_read_of_the_effect_goes_before_requests_that_wait_for_the_limiter():
    goes_first = []

    class Limiter:
        def acquire(self, operation):
            goes_first.append((operation, current_request.get().goes_first))

    driver = scripted_driver(reply(409), good(booking("ticketed", "Issued")))
    driver.error(AlreadyDoneError, "bookings.confirm", limiter=Limiter())
    assert goes_first == [("bookings.confirm", False), ("bookings.get", True)]


# A write that is read back once more, by its error or its journal entry


if TYPE_CHECKING:
    from collections.abc import Mapping


COPIES = {
    "the error": lambda error: error,
    "a copy": copy,
    "a deep copy": deepcopy,
    "a pickled one": lambda error: pickle.loads(pickle.dumps(error)),
}
every_copy = each("made", COPIES.values())


def recover_again(driver, error, **changes):
    return driver.recover_again(*_unknown_outcome(error), **changes)


@every_copy
@every_case
def test_an_effect_that_is_seen_gives_the_writes_result(case, made):
    driver = scripted_driver(good(case.after))
    result = recover_again(driver, made(case.lost()))
    assert type(result) is case.operation().answer.model
    assert result.read_back
    assert getattr(result, "refund_amount", None) is None
    assert driver.paths == [case.read]


@every_copy
@every_case
def test_an_effect_that_is_not_seen_gives_the_same_error_with_fresher_facts(case, made):
    error = made(case.lost())
    before = len(error.attempts)
    driver = scripted_driver(good(case.before))
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(driver, error)
    fresher = info.value
    assert fresher is not error
    assert fresher.last_seen.model_dump()["status"] == case.before["status"]
    assert len(fresher.attempts) == before + 1
    assert len(error.attempts) == before
    for name in ("operation", "correlation_id", "request", "subject", "entry_id", "outcome"):
        assert getattr(fresher, name) == getattr(error, name)
    assert str(fresher) == str(error)


@every_case
def test_the_correlation_id_is_that_of_the_write(case):
    driver = scripted_driver(good(case.after))
    recover_again(driver, case.lost(), correlation_id="another")
    assert driver.requests[0].headers["x-client-correlation-id"] == "c-7"


@every_case
def test_a_reading_that_fails_for_good_keeps_what_was_seen(case):
    error = case.lost()
    error.last_seen = "what was seen"
    driver = scripted_driver(reply(404))
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(driver, error)
    assert info.value.last_seen == "what was seen"
    assert [attempt.status_code for attempt in info.value.attempts[-2:]] == [404, 404]
    assert info.value.__cause__ is not None


def test_a_reading_is_repeated_as_any_read_is():
    driver = scripted_driver(reset(), reply(503), good(CASES["confirm"].after))
    assert recover_again(driver, CASES["confirm"].lost(), max_retries=2).read_back
    assert len(driver.waits) == 2


def test_a_reading_has_the_deadline_of_the_client():
    driver = scripted_driver(then=reset())
    with pytest.raises(OutcomeUnknownError):
        recover_again(driver, CASES["confirm"].lost(), max_retries=10**6, deadline=3.0)
    assert driver.now <= 1003


def test_an_error_can_be_recovered_again_and_again():
    error = CASES["confirm"].lost()
    for count in range(1, 4):
        with pytest.raises(OutcomeUnknownError) as info:
            recover_again(scripted_driver(good(CASES["confirm"].before)), error)
        assert len(info.value.attempts) == 2 + count
        error = info.value
    assert recover_again(scripted_driver(good(CASES["confirm"].after)), error).read_back


@every_case
def test_an_entry_is_recovered_as_its_error_is(case):
    known = entry(case.name, **case.subject)
    driver = scripted_driver(good(case.after))
    assert type(recover_again(driver, known)) is case.operation().answer.model
    assert driver.paths == [case.read]
    assert driver.requests[0].headers["x-client-correlation-id"] == "c-7"
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(scripted_driver(good(case.before)), known)
    error = info.value
    assert (error.operation, error.subject, error.entry_id) == (case.name, case.subject, "entry-7")
    assert (error.correlation_id, error.request.method, error.request.path) == (
        "c-7",
        "POST",
        "/api/somewhere",
    )
    assert error.last_seen is not None


@every_case
def test_what_is_recovered_is_on_record_as_done(case):
    for known in (case.lost(), entry(case.name, **case.subject)):
        notes = Notes()
        recover_again(scripted_driver(good(case.after)), known, journal=notes)
        name = "entry-1" if isinstance(known, OutcomeUnknownError) else "entry-7"
        assert notes.states == {name: "done"}


@every_case
def test_what_is_not_recovered_stays_on_record_as_it_was(case):
    for answer in (good(case.before), reply(404)):
        notes = Notes()
        with pytest.raises(OutcomeUnknownError):
            recover_again(scripted_driver(answer), case.lost(), journal=notes)
        assert notes.states == {}


def test_a_write_without_an_entry_is_put_on_no_record():
    error = CASES["confirm"].lost()
    error.entry_id = None
    notes = Notes()
    assert recover_again(
        scripted_driver(good(CASES["confirm"].after)), error, journal=notes
    ).read_back
    assert notes.states == {}


@each(
    "name",
    [name for name in OPERATIONS if not SAFETY[name].is_read and not SAFETY[name].confirmed_by],
)
def test_what_no_read_shows_cannot_be_recovered(name):
    lost = scripted_driver(reset()).error(OutcomeUnknownError, name)
    with pytest.raises(OutcomeUnknownError) as info:
        _unknown_outcome(lost)
    assert info.value is lost
    with pytest.raises(OutcomeUnknownError) as made:
        _unknown_outcome(entry(name))
    assert (made.value.operation, made.value.entry_id) == (name, "entry-7")


@each("name", ["bookings.paint", "bookings.get", "bookings.wait", ""])
def test_what_is_no_write_cannot_be_recovered(name):
    with pytest.raises(OutcomeUnknownError):
        _unknown_outcome(entry(name, booking_id="b-1"))


@each("subject", [{}, {"ticket_id": "t-1"}])
def test_an_entry_without_the_id_that_is_read_cannot_be_recovered(subject):
    with pytest.raises(OutcomeUnknownError):
        _unknown_outcome(entry("bookings.confirm", **subject))


@pytest.mark.parametrize("wrong", [None, "bookings.confirm", RuntimeError(), reset(), {}, 7])
def test_nothing_else_can_be_recovered(both, wrong):
    with pytest.raises(InvalidInputError) as info:
        both.recover(wrong)
    assert info.value.field == "error"


def test_either_client_recovers_an_error_and_an_entry(both):
    made = booked(both)
    error = CASES["confirm"].lost()
    error.subject = {"booking_id": made.booking_id}
    with pytest.raises(OutcomeUnknownError) as info:
        both.recover(error)
    assert info.value.last_seen.booking_id == made.booking_id
    both.bookings.confirm(made.booking_id)
    for known in (info.value, pickle.loads(pickle.dumps(error))):
        assert both.recover(known).read_back
    assert both.recover(entry("bookings.confirm", booking_id=made.booking_id)).read_back


def test_recovering_that_is_interrupted_leaves_the_write_unknown():
    told = []

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recover_again(
            scripted_driver(),
            CASES["confirm"].lost(),
            token=Secret(interrupted),
            hooks=Hooks({OutcomeEvent: [told.append]}),
        )
    assert [event.outcome for event in told] == ["unknown"]
