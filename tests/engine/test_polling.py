"""A wait, and a write whose reply was lost: both read until enough is seen or time is up."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import (
    SAFETY,
    AlreadyDoneError,
    APIError,
    Booking,
    ConfigurationError,
    ConflictError,
    FerryError,
    InvalidInputError,
    NotFoundError,
    OutcomeUnknownError,
    RateLimitError,
    RequestTimeoutError,
    Stage,
    Ticket,
    TicketNotFoundError,
)
from ferry_sdk._engine.effects import CallUser, Send, Sleep
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
from tests.support.samples import POSSIBLE_ACTION
from tests.support.tables import each
from tests.support.trip import booked

if TYPE_CHECKING:
    from collections.abc import Mapping


WAITS = ("bookings.wait", "tickets.wait_pdf")
ENOUGH = {
    "bookings.wait": booking("ticketed"),
    "tickets.wait_pdf": {"url": "https://service.example/v.pdf"},
}
NOT_YET = {"bookings.wait": booking("payment_due"), "tickets.wait_pdf": {"url": None}}
every_wait = each("name", WAITS)


@every_wait
def test_pauses_grow_gently_up_to_ten_seconds(name):
    driver = scripted_driver(*[good(NOT_YET[name])] * 12, good(ENOUGH[name]))
    driver.raw(described(name, deadline=600))
    pauses = (0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10, 10)
    for wait, pause in zip(driver.waits, pauses, strict=True):
        assert pause <= wait <= pause + 0.25
    assert len({wait - pause for wait, pause in zip(driver.waits, pauses, strict=True)}) > 6


@every_wait
def test_what_does_not_come_ends_at_the_deadline_with_what_was_seen_last(name):
    driver = scripted_driver(then=good(NOT_YET[name]))
    with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
        driver.raw(described(name, deadline=45))
    error = info.value
    assert 1044.5 < driver.now <= 1045
    assert isinstance(error.last_seen, described(name).answer.model)
    assert (error.operation, error.outcome, error.__cause__) == (name, "unknown", None)


@every_wait
@each("deadline", [0.01, 0.2, 0.25, 0.3, 0.5])
def test_a_short_deadline_leaves_one_look(name, deadline):
    driver = scripted_driver(then=good(NOT_YET[name]))
    driver.latency = 0.25 if deadline == 0.5 else 0.005
    error = driver.error(RequestTimeoutError, described(name, deadline=deadline))
    assert 1 <= len(driver.requests) <= 3
    assert deadline < 0.5 or driver.waits == []
    assert error.last_seen is not None
    assert driver.now <= 1000 + deadline


@each(
    ("name", "field", "value"),
    [
        *product(WAITS, ["deadline"], [0, -1, float("nan")]),
        *product(["bookings.wait"], ["until"], [[], (), set()]),
    ],
)
def test_a_wait_for_no_time_or_no_stage_is_refused(name, field, value):
    with pytest.raises(InvalidInputError) as info:
        described(name, **{field: value})
    assert info.value.field == field


@each(
    ("until", "stages"),
    [
        ("ticketed", ["ticketed"]),
        (Stage.ISSUANCE_DUE, ["issuance_due"]),
        (["ticketed", "in_progress"], ["in_progress", "ticketed"]),
        ((Stage.REJECTED, "moored"), ["moored", "rejected"]),
        ({"ticketed"}, ["ticketed"]),
        ("voided", ["voided"]),
        (["lapsed"], ["lapsed"]),
    ],
)
def test_a_booking_is_waited_for_until_it_is_of_a_stage(until, stages):
    for stage in [*Stage, "moored"]:
        driver = scripted_driver(good(booking(stage)), good(booking(stages[0])))
        is_final = stage in ("voided", "lapsed") and stage not in stages
        if is_final:
            error = driver.error(RequestTimeoutError, described("bookings.wait", until=until))
            assert error.last_seen.stage == stage
            assert driver.now < 1002
        else:
            seen = driver.raw(described("bookings.wait", until=until)).parse()
            assert seen.stage in stages
        assert len(driver.requests) == (1 if stage in stages or is_final else 2)


def test_a_predicate_decides_by_itself_and_what_it_raises_goes_to_the_caller():
    seen = []

    def has_two(known):
        seen.append(known.stage)
        if known.stage == "ticketed":
            raise ZeroDivisionError
        return len(known.tickets) == 2

    driver = scripted_driver(
        good(booking("voided")), good(booking("lapsed")), good(booking("x", "a", "b"))
    )
    found = driver.raw(described("bookings.wait", until=has_two)).parse()
    assert len(found.tickets) == 2
    assert seen == ["voided", "lapsed", "x"]
    driver = scripted_driver(then=good(booking("ticketed")))
    driver.error(ZeroDivisionError, described("bookings.wait", until=has_two))


@every_wait
def test_progress_is_told_of_everything_that_is_read(name):
    told = []
    driver = scripted_driver(good(NOT_YET[name]), reset(), good(NOT_YET[name]), good(ENOUGH[name]))
    last = driver.raw(described(name, on_progress=told.append)).parse()
    assert len(told) == 3
    assert told[-1] is last
    asked = [effect.until for effect in driver.effects if isinstance(effect, CallUser)]
    assert asked == [1060.0] * 3


@every_wait
@each("is_there", [True, False])
def test_progress_that_outlasts_the_deadline_does_not_hide_what_was_seen(name, is_there):
    def told(_):
        driver.now = 1060.0
        raise RequestTimeoutError("the deadline has passed")

    driver = scripted_driver(good(ENOUGH[name] if is_there else NOT_YET[name]))
    operation = described(name, on_progress=told)
    if is_there:
        assert driver.raw(operation).parse()
    else:
        with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
            driver.raw(operation)
        assert info.value.last_seen is not None


@every_wait
@each("moment", [1000.25, 1059.9])
@each("trouble", [ZeroDivisionError(), KeyboardInterrupt(), reset(), timed_out()])
@each("records", [ENOUGH, NOT_YET])
def test_what_progress_raises_goes_to_the_caller(name, moment, trouble, records):
    def told(_):
        driver.now = moment
        raise trouble

    driver = scripted_driver(good(records[name]))
    error = driver.error(type(trouble), described(name, on_progress=told))
    assert error is trouble
    assert len(driver.requests) == 1


@each(
    "trouble",
    [
        refused,
        reset,
        timed_out,
        undecodable,
        lambda: reply(429),
        lambda: reply(429, retry_after="4"),
        lambda: reply(408),
        lambda: reply(500),
        lambda: reply(500, {"code": "TICKET_VIEW_ERROR"}),
        lambda: reply(503, retry_after="3"),
        lambda: reply(200),
    ],
)
@each("max_retries", [0, 2])
@every_wait
def test_failures_that_pass_are_outlived(name, trouble, max_retries):
    driver = scripted_driver(
        good(NOT_YET[name]), *(trouble() for _ in range(8)), good(NOT_YET[name]), good(ENOUGH[name])
    )
    driver.raw(described(name, deadline=300), max_retries=max_retries)
    assert len(driver.requests) == 11


@every_wait
def test_a_wait_that_ends_in_failures_has_the_last_as_its_cause(name):
    for seen in ([good(NOT_YET[name])], []):
        driver = scripted_driver(*seen, then=reply(503))
        error = driver.error(RequestTimeoutError, described(name, deadline=20))
        assert isinstance(error.__cause__, FerryError)
        assert (error.last_seen is not None) == bool(seen)
        assert driver.now <= 1020


@each("status", [302, 400, 401, 403, 404, 410, 422])
@every_wait
def test_a_failure_that_stays_ends_the_wait(name, status):
    driver = scripted_driver(good(NOT_YET[name]), reply(status))
    error = driver.error(FerryError, name)
    assert not isinstance(error, RequestTimeoutError)
    assert error.attempts[-1].status_code == status


@every_wait
@each("asked", ["60", "3600", "9" * 400])
def test_a_retry_after_beyond_the_deadline_ends_the_wait(name, asked):
    driver = scripted_driver(good(NOT_YET[name]), reply(429, retry_after=asked))
    error = driver.error(RequestTimeoutError, described(name, deadline=45))
    assert driver.now < 1002
    assert isinstance(error.__cause__, RateLimitError)
    assert error.__cause__.retry_after == float(asked)


@every_wait
def test_a_retry_after_up_to_the_last_look_is_waited_for(name):
    for deadline, asked in ((100, 70.0), (1.5, 1.0)):
        driver = scripted_driver(reply(429, retry_after=f"{asked}"), good(ENOUGH[name]))
        driver.raw(described(name, deadline=deadline), max_retries=0)
        assert driver.waits == [asked]


# When a booking is due to change


def poll_in_vain(driver, **changes):
    """Poll for a stage that the booking never reaches."""
    driver.answer = good(booking("payment_due", **changes))
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60))


def is_read_at(driver, moment):
    """Whether a read was in flight at a moment, or began at most the shortest delay after it."""
    start = 1000.0
    for wait in (*driver.waits, 0.0):
        if start - 0.26 <= moment <= start + driver.latency:
            return True
        start += driver.latency + wait
    return False


@each("due", [3.0, 17.3, 29.9, 41.41])
@each("by", ["expire_at", "timeLimit", "both"])
def test_a_booking_is_looked_at_when_it_is_due_to_change(due, by):
    driver = scripted_driver()
    there = datetime.fromtimestamp(driver.calendar() + due, timezone.utc)
    later = (there + timedelta(days=1)).isoformat()
    action = POSSIBLE_ACTION | {"timeLimit": later if by == "expire_at" else there.isoformat()}
    poll_in_vain(
        driver,
        expire_at=later if by == "timeLimit" else there.isoformat(),
        possible_actions={"Pay": action, "Cancel": POSSIBLE_ACTION | {"timeLimit": None}},
    )
    assert is_read_at(driver, 1000 + due)


@each(
    ("expire_at", "limit"),
    [
        ("2020-01-01T00:00:00Z", "at noon"),
        ("9999-12-31T23:59:59Z", None),
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_a_moment_that_has_passed_or_cannot_be_read_changes_no_pause(expire_at, limit):
    driver = scripted_driver()
    action = POSSIBLE_ACTION | {"timeLimit": limit}
    poll_in_vain(driver, expire_at=expire_at, possible_actions={"Pay": action})
    for wait, pause in zip(driver.waits, (0.25, 0.5, 1, 2, 4, 8, 10), strict=False):
        assert pause <= wait <= pause + 0.25
    assert driver.now <= 1060


def test_a_moment_is_due_by_the_services_clock():
    driver = scripted_driver()
    there = datetime.fromtimestamp(int(driver.calendar()) + 500, timezone.utc)
    driver.answer = lambda _: reply(404, date=format_datetime(there, usegmt=True))
    driver.error(NotFoundError, "catalogue.ports")
    driver.now, driver.requests, driver.effects = 1000.0, [], []
    skew = driver.session.skew
    assert 499 <= skew <= 500
    due = datetime.fromtimestamp(driver.calendar() + skew + 20, timezone.utc)
    poll_in_vain(driver, expire_at=due.isoformat())
    assert is_read_at(driver, 1020)


@given(
    dues=st.lists(st.floats(-10, 130), max_size=4),
    deadline=st.floats(0.1, 120),
    latency=st.floats(0.001, 2),
    failing=st.lists(st.integers(0, 20), max_size=8),
)
def test_whatever_is_due_a_wait_is_gentle_and_never_past_its_deadline(
    dues, deadline, latency, failing
):
    driver = scripted_driver()
    driver.latency = latency
    moments = [
        datetime.fromtimestamp(driver.calendar() + due, timezone.utc).isoformat() for due in dues
    ]
    actions = {
        str(number): POSSIBLE_ACTION | {"timeLimit": moment}
        for number, moment in enumerate(moments)
    }
    seen = good(booking("payment_due", possible_actions=actions))
    driver.answer = lambda request: reply(503) if len(driver.requests) in failing else seen(request)
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=deadline))
    assert driver.now <= 1000 + deadline + 1e-6
    assert len(driver.requests) <= 12 + deadline / 8 + len(dues) + 3 * len(failing)


@each("fraction", [0.0, 0.001, 0.02, 0.5, 0.999])
def test_a_clock_that_tells_whole_seconds_makes_no_look_follow_at_once(fraction):
    driver = scripted_driver()
    driver.latency = 0.002
    due = datetime.fromtimestamp(int(driver.calendar()) + 20 + fraction, timezone.utc)
    seen = booking("payment_due", expire_at=due.isoformat())

    def answer(_):
        there = datetime.fromtimestamp(int(driver.calendar()), timezone.utc)
        return reply(200, seen, date=format_datetime(there, usegmt=True))

    driver.answer = answer
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60))
    assert len(driver.requests) <= 16


def test_a_long_pause_is_cut_short_even_for_what_is_due_within_the_second(monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.random", lambda: 0.0)
    driver = scripted_driver()
    due = datetime.fromtimestamp(driver.calendar() + 9.85, timezone.utc)
    poll_in_vain(driver, expire_at=due.isoformat())
    assert driver.waits[:5] == [0.25, 0.5, 1, 2, 4]
    assert driver.waits[5] == pytest.approx(0.6, abs=1e-3)


# A write whose reply was lost is read back until its effect is seen or time is up


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


@each("last", [*map(reply, (302, 400, 401, 403, 404, 410, 422)), reply(429, retry_after="31")])
@every_case
def test_a_look_that_never_will_succeed_is_the_last(case, last):
    driver = scripted_driver(reset(), good(case.before), last)
    error = driver.error(OutcomeUnknownError, case.operation())
    assert error.last_seen.model_dump(include={"status"}) == {"status": case.before["status"]}
    assert error.attempts[-1].status_code == last.status_code
    assert len(driver.requests) == 3
    assert driver.now < 1002


@each("status", [401, 404])
@every_case
def test_what_cannot_be_read_at_all_is_unknown_at_once(case, status):
    driver = scripted_driver(reply(500, {"message": "oops"}), reply(status))
    error = driver.error(OutcomeUnknownError, case.operation())
    assert error.last_seen == {"message": "oops"}
    assert driver.waits == []


@every_case
def test_a_refusal_stands_unless_one_read_shows_the_effect(case):
    unseen = (good(case.before), reply(404), reply(503), reply(200), reset(), timed_out())
    silent = product((401, 403, 404, 429), [()])  # these say nothing of the state
    for status, reads in (*silent, *product((400, 402, 409, 410, 422), zip(unseen, strict=True))):
        driver = scripted_driver(reply(status), *reads)
        error = driver.error(APIError, case.operation(), max_retries=0)
        assert (error.status_code, error.outcome) == (status, "rejected")
        assert (error.operation, error.__cause__) == (case.name, None)
        assert driver.paths[1:] == [case.read] * len(reads)


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


@each("name", ["bookings.create", "mcp.create_booking", "mcp.call_tool"])
def test_what_no_read_shows_is_unknown_at_once(name):
    seen = {"500": {"message": "oops"}, "another shape": {"status": 7}}
    for loss, lost in LOST.items():
        driver = scripted_driver(lost())
        error = driver.error(OutcomeUnknownError, name)
        assert (error.subject, error.last_seen) == ({}, seen.get(loss, error.last_seen))
        assert len(driver.requests) == 1
        assert driver.waits == []
    driver = scripted_driver(reply(409))
    driver.error(ConflictError, name)
    assert len(driver.requests) == 1


@every_case
def test_an_unknown_outcome_names_its_cause_and_the_request_without_its_content(case):
    seen = set()
    for _ in range(2):
        lost = reset()
        driver = scripted_driver(lost, reply(404))
        error = driver.error(OutcomeUnknownError, case.operation())
        assert error.__cause__ is lost
        digest = error.request
        assert digest.method == "POST"
        assert digest.path.startswith(driver.paths[0])
        seen.add(digest.digest)
    assert len(seen) == 1


def test_a_payment_is_read_with_the_clients_own_token():
    driver = scripted_driver(reset(), good(booking("ticketed", "Issued")))
    driver.raw(described("tickets.mark_paid", booking_id="b-1"))
    sent = [request.headers["Authorization"] for request in driver.requests]
    assert sent == ["Bearer organisation-token", "Bearer test-token"]
    assert b"b-1" not in (driver.requests[0].content or b"")


def test_without_retries_each_look_is_one_request():
    """A confirmed booking without a ticket is not yet a result."""
    driver = scripted_driver(
        reset(), reply(503), good(booking("ticketed")), good(booking("ticketed", "Issued"))
    )
    assert driver.raw("bookings.confirm", max_retries=0).parse().ticket_id == "t-1"
    assert len(driver.requests) == 4
    first, second = driver.waits
    assert 0.25 <= first <= 0.5 <= second <= 0.75


def test_a_read_of_the_effect_goes_before_requests_that_wait_for_the_limiter():
    goes_first = []

    class Limiter:
        def acquire(self, operation):
            goes_first.append((operation, current_request.get().goes_first))

    driver = scripted_driver(reply(409), good(booking("ticketed", "Issued")))
    driver.error(AlreadyDoneError, "bookings.confirm", limiter=Limiter())
    assert goes_first == [("bookings.confirm", False), ("bookings.get", True)]


# A write that is read back once more, by its error or its journal entry


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
    driver, notes = scripted_driver(good(case.after)), Notes()
    result = recover_again(driver, made(case.lost()), correlation_id="another", journal=notes)
    assert type(result) is case.operation().answer.model
    assert result.read_back
    assert getattr(result, "refund_amount", None) is None
    assert driver.paths == [case.read]
    assert driver.requests[0].headers["x-client-correlation-id"] == "c-7"
    assert notes.states == {"entry-1": "done"}


@every_copy
@every_case
def test_an_effect_that_is_not_seen_gives_the_same_error_with_fresher_facts(case, made):
    error, notes = made(case.lost()), Notes()
    before = len(error.attempts)
    driver = scripted_driver(good(case.before))
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(driver, error, journal=notes)
    fresher = info.value
    assert fresher is not error
    assert fresher.last_seen.model_dump()["status"] == case.before["status"]
    assert len(fresher.attempts) == before + 1
    assert len(error.attempts) == before
    for name in ("operation", "correlation_id", "request", "subject", "entry_id", "outcome"):
        assert getattr(fresher, name) == getattr(error, name)
    assert str(fresher) == str(error)
    assert notes.states == {}


@every_case
def test_a_reading_that_fails_for_good_keeps_what_was_seen(case):
    error, notes = case.lost(), Notes()
    error.last_seen = "what was seen"
    driver = scripted_driver(reply(404))
    with pytest.raises(OutcomeUnknownError) as info:
        recover_again(driver, error, journal=notes)
    assert info.value.last_seen == "what was seen"
    assert [attempt.status_code for attempt in info.value.attempts[-2:]] == [404, 404]
    assert info.value.__cause__ is not None
    assert notes.states == {}


def test_a_reading_is_repeated_as_any_read_is():
    error, notes = CASES["confirm"].lost(), Notes()
    error.entry_id = None
    driver = scripted_driver(reset(), reply(503), good(CASES["confirm"].after))
    assert recover_again(driver, error, max_retries=2, journal=notes).read_back
    assert len(driver.waits) == 2
    assert notes.states == {}, "the write has no entry"


def test_a_reading_has_the_deadline_of_the_client():
    driver = scripted_driver(then=reset())
    with pytest.raises(OutcomeUnknownError):
        recover_again(driver, CASES["confirm"].lost(), max_retries=10**6, deadline=3.0)
    assert driver.now <= 1003


@every_case
def test_an_entry_is_recovered_as_its_error_is(case):
    known, notes = entry(case.name, **case.subject), Notes()
    driver = scripted_driver(good(case.after))
    assert type(recover_again(driver, known, journal=notes)) is case.operation().answer.model
    assert notes.states == {"entry-7": "done"}
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


@each(
    ("name", "subject"),
    [
        *product(["bookings.paint", "bookings.get", "bookings.wait", ""], [BOOKING]),
        *product(["bookings.confirm"], [{}, TICKET]),
    ],
)
def test_what_is_no_write_or_lacks_the_id_that_is_read_cannot_be_recovered(name, subject):
    with pytest.raises(OutcomeUnknownError):
        _unknown_outcome(entry(name, **subject))


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
