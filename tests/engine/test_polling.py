"""A wait, and a write whose reply was lost: both read until enough is seen or time is up."""

import json
import pickle
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from itertools import product
from typing import Any

import pytest

import ferry_sdk as sdk
from ferry_sdk import SAFETY, InvalidInputError, OutcomeUnknownError, RequestTimeoutError, Stage
from ferry_sdk._engine.effects import CallUser, Send, Sleep
from ferry_sdk._engine.http import Reply
from ferry_sdk._engine.limiter import current_request
from ferry_sdk._engine.settings import Secret
from ferry_sdk.client import _unknown_outcome
from ferry_sdk.hooks import Hooks, OutcomeEvent
from ferry_sdk.types import OutcomeDetails
from tests.engine.failures import refused, reset, timed_out, undecodable
from tests.engine.recorder import Notes, entry
from tests.engine.replies import booking, close_in_a_pause, good, reply, scripted_driver, ticket
from tests.support.cases import case as in_case
from tests.support.exchanges import caught
from tests.support.operations import OPERATIONS, described
from tests.support.samples import POSSIBLE_ACTION
from tests.support.tables import each
from tests.support.trip import booked

WAITS = ("bookings.wait", "tickets.wait_pdf")
every_wait = each(
    ("name", "early", "enough"),
    [
        ("bookings.wait", good(booking("payment_due")), good(booking("ticketed"))),
        ("tickets.wait_pdf", good({"url": None}), good({"url": "https://service.example/v.pdf"})),
    ],
)


def assert_pauses(driver, *pauses):
    """Each pause is at most a quarter of a second longer than it should be."""
    for wait, pause in zip(driver.waits, pauses, strict=True):
        assert pause <= wait <= pause + 0.25


@every_wait
def test_pauses_grow_to_the_deadline_with_what_was_seen_last(name, early, enough):
    driver = scripted_driver(*[early] * 12, enough)
    driver.raw(described(name, deadline=600))
    pauses = (0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10, 10)
    assert_pauses(driver, *pauses)
    assert len({wait - pause for wait, pause in zip(driver.waits, pauses, strict=True)}) > 6
    driver = scripted_driver(then=early)
    with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
        driver.raw(described(name, deadline=45))
    error = info.value
    assert 1044.5 < driver.now <= 1045
    assert isinstance(error.last_seen, described(name).answer.model)
    assert (error.operation, error.outcome, error.__cause__) == (name, "unknown", None)
    for deadline in (0.01, 0.2, 0.25, 0.3, 0.5):  # a short one leaves one look
        driver = scripted_driver(then=early)
        driver.latency = 0.25 if deadline == 0.5 else 0.005
        error = driver.error(RequestTimeoutError, described(name, deadline=deadline))
        assert 1 <= len(driver.requests) <= 3, deadline
        assert deadline < 0.5 or driver.waits == []
        assert error.last_seen is not None, deadline
        assert driver.now <= 1000 + deadline
    for seen in ([early], []):
        driver = scripted_driver(*seen, then=reply(503))
        error = driver.error(RequestTimeoutError, described(name, deadline=20))
        assert isinstance(error.__cause__, sdk.FerryError)
        assert (error.last_seen is not None) == bool(seen)
        assert driver.now <= 1020
    for status in (302, 400, 401, 403, 404, 410, 422):  # a failure that stays ends the wait
        error = scripted_driver(early, reply(status)).error(sdk.FerryError, name)
        assert not isinstance(error, RequestTimeoutError)
        assert error.attempts[-1].status_code == status
    for asked in ("60", "3600", "9" * 400):
        driver = scripted_driver(early, reply(429, retry_after=asked))
        error = driver.error(RequestTimeoutError, described(name, deadline=45))
        assert driver.now < 1002
        assert isinstance(error.__cause__, sdk.RateLimitError)
        assert error.__cause__.retry_after == float(asked)
    for deadline, asked in ((100, 70.0), (1.5, 1.0)):
        driver = scripted_driver(reply(429, retry_after=f"{asked}"), enough)
        driver.raw(described(name, deadline=deadline), max_retries=0)
        assert driver.waits == [asked]


def test_no_time_and_no_stage_are_refused_and_a_stage_or_a_predicate_decides():
    no_time = product(WAITS, ["deadline"], [0, -1, float("nan")])
    for name, field, value in (*no_time, *product(WAITS[:1], ["until"], [[], (), set()])):
        with in_case(name, field, value), pytest.raises(InvalidInputError) as info:
            described(name, **{field: value})
        assert info.value.field == field
    seen = []

    def has_two(known):
        seen.append(known.stage)
        if known.stage == "ticketed":
            raise ZeroDivisionError
        return len(known.tickets) == 2

    operation = described("bookings.wait", until=has_two)
    looks = [booking("voided"), booking("lapsed"), booking("x", "a", "b")]
    assert len(scripted_driver(*map(good, looks)).raw(operation).parse().tickets) == 2
    assert seen == ["voided", "lapsed", "x"]
    scripted_driver(then=good(booking("ticketed"))).error(ZeroDivisionError, operation)
    several = ({"ticketed"}, ["ticketed", "in_progress"], (Stage.REJECTED, "moored"), ["lapsed"])
    untils = (*several, "ticketed", Stage.ISSUANCE_DUE, "voided")
    for until, stage in product(untils, (*Stage, "moored")):
        wanted = {until} if isinstance(until, str) else {*until}
        driver = scripted_driver(good(booking(stage)), good(booking(min(wanted))))
        operation = described("bookings.wait", until=until)
        is_final = stage in ("voided", "lapsed") and stage not in wanted
        if is_final:
            assert driver.error(RequestTimeoutError, operation).last_seen.stage == stage
            assert driver.now < 1002
        else:
            assert driver.raw(operation).parse().stage in wanted, (until, stage)
        assert len(driver.requests) == (1 if stage in wanted or is_final else 2)


@every_wait
def test_progress_is_told_of_everything_that_is_read_by_the_deadline(name, early, enough):
    told = []
    driver = scripted_driver(early, reset(), early, enough)
    last = driver.raw(described(name, on_progress=told.append)).parse()
    assert len(told) == 3
    assert told[-1] is last
    asked = [effect.until for effect in driver.effects if isinstance(effect, CallUser)]
    assert asked == [1060.0] * 3

    def outlast(_):
        driver.now = 1060.0
        raise RequestTimeoutError("the deadline has passed")

    operation = described(name, on_progress=outlast)
    driver = scripted_driver(enough)
    assert driver.raw(operation).parse()
    driver = scripted_driver(early)
    with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
        driver.raw(operation)
    assert info.value.last_seen is not None


@every_wait
@each("moment", [1000.25, 1059.9])
@each("trouble", [ZeroDivisionError(), KeyboardInterrupt(), reset(), timed_out()])
def test_what_progress_raises_goes_to_the_caller(name, early, enough, moment, trouble):
    def told(_):
        driver.now = moment
        raise trouble

    for seen in (early, enough):
        driver = scripted_driver(seen)
        assert driver.error(type(trouble), described(name, on_progress=told)) is trouble
        assert len(driver.requests) == 1


PASSING = (
    *(refused, reset, timed_out, undecodable, reply(429), reply(429, retry_after="4"), reply(408)),
    *(reply(500), reply(500, {"code": "TICKET_VIEW_ERROR"}), reply(503, retry_after="3")),
    reply(200),
)


@each("trouble", PASSING)
@each("max_retries", [0, 2])
@every_wait
def test_failures_that_pass_are_outlived(name, early, enough, trouble, max_retries):
    driver = scripted_driver(early, *[trouble] * 8, early, enough)
    driver.raw(described(name, deadline=300), max_retries=max_retries)
    assert len(driver.requests) == 11


def poll_in_vain(driver, deadline=60, **changes):
    driver.answer = good(booking("payment_due", **changes))
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=deadline))


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
    there = driver.moment(due)
    later = (there + timedelta(days=1)).isoformat()
    action = POSSIBLE_ACTION | {"timeLimit": later if by == "expire_at" else there.isoformat()}
    poll_in_vain(
        driver,
        expire_at=later if by == "timeLimit" else there.isoformat(),
        possible_actions={"Pay": action, "Cancel": POSSIBLE_ACTION | {"timeLimit": None}},
    )
    assert is_read_at(driver, 1000 + due)


def test_a_moment_is_due_by_the_services_clock_in_whole_seconds_and_cuts_a_long_pause(monkeypatch):
    driver = scripted_driver()
    there = datetime.fromtimestamp(int(driver.calendar()) + 500, timezone.utc)
    driver.answer = lambda _: reply(404, date=format_datetime(there, usegmt=True))
    driver.error(sdk.NotFoundError, "catalogue.ports")
    driver.now, driver.requests, driver.effects = 1000.0, [], []
    skew = driver.session.skew
    assert 499 <= skew <= 500
    poll_in_vain(driver, expire_at=driver.moment(skew + 20).isoformat())
    assert is_read_at(driver, 1020)
    for year, limit in (("2020", "at noon"), ("9999", None), ("0001", None)):
        driver = scripted_driver()
        pay = {"Pay": POSSIBLE_ACTION | {"timeLimit": limit}}
        poll_in_vain(driver, expire_at=f"{year}-01-01T00:00:00Z", possible_actions=pay)
        with in_case(year, limit):
            driver.effects = [one for one in driver.effects if isinstance(one, Sleep)][:7]
            assert_pauses(driver, 0.25, 0.5, 1, 2, 4, 8, 10)
            assert driver.now <= 1060

    def answer(_):
        there = datetime.fromtimestamp(int(driver.calendar()), timezone.utc)
        return reply(200, seen, date=format_datetime(there, usegmt=True))

    for fraction in (0.0, 0.001, 0.02, 0.5, 0.999):
        driver = scripted_driver(then=answer)
        driver.latency = 0.002
        due = datetime.fromtimestamp(int(driver.calendar()) + 20 + fraction, timezone.utc)
        seen = booking("payment_due", expire_at=due.isoformat())
        driver.error(RequestTimeoutError, described("bookings.wait", deadline=60))
        assert len(driver.requests) <= 16, fraction
    monkeypatch.setattr("tenacity.wait.random.random", lambda: 0.0)
    driver = scripted_driver()
    poll_in_vain(driver, expire_at=driver.moment(9.85).isoformat())
    assert driver.waits[:6] == [0.25, 0.5, 1, 2, 4, pytest.approx(0.6, abs=1e-3)]


@dataclass(frozen=True)
class Case:
    name: str
    read: str
    before: Any
    after: Any
    subject: Any

    @property
    def call(self):
        return described(self.name, **self.subject)

    def lost(self):
        driver = scripted_driver(reset(), reply(404))
        return driver.error(OutcomeUnknownError, self.call, correlation_id="c-7", journal=Notes())


BOOKING, TICKET = {"booking_id": "b-1"}, {"ticket_id": "t-1"}
OF_A_BOOKING, OF_A_TICKET = "/api/booking/b-1", "/api/ticket/t-1"
PENDING, ISSUED = booking("issuance_due", "Pending"), booking("ticketed", "Issued")
BOTH_ISSUED = booking("in_progress", "Issued", "Issued")
PAID = booking("issuance_due", "Pending", payment_status="paid")
CANCELED = ticket("Canceled")
CONFIRM = Case("bookings.confirm", OF_A_BOOKING, PENDING, ISSUED, BOOKING)
CANCEL_BY_TOOL = Case("mcp.cancel_ticket", "/mcp", ticket("Issued"), CANCELED, TICKET)
every_case = each(
    "case",
    [
        CONFIRM,
        Case("mcp.confirm_booking", OF_A_BOOKING, PENDING, BOTH_ISSUED, BOOKING),
        Case("bookings.cancel", OF_A_BOOKING, PENDING, booking("voided", "Pending"), BOOKING),
        Case("tickets.cancel", OF_A_TICKET, ticket("Issued"), CANCELED, TICKET),
        CANCEL_BY_TOOL,
        Case("tickets.mark_paid", OF_A_TICKET, ticket("Pending"), ticket("Issued"), TICKET),
        Case("tickets.mark_paid", OF_A_BOOKING, PENDING, PAID, TICKET | BOOKING),
    ],
)
LOST = (
    *(reset, timed_out, undecodable, reply(408), reply(500, {"message": "oops"}), reply(200)),
    *(reply(503, retry_after="3600"), reply(200, {"status": 7})),
)


@each("lost", LOST)
@every_case
def test_an_effect_seen_at_once_gives_the_result(case, lost):
    driver = scripted_driver(lost, good(case.after))
    result = driver.raw(case.call).parse()
    assert result.read_back
    assert type(result) is case.call.answer.model
    assert {name: getattr(result, name, id_) for name, id_ in case.subject.items()} == case.subject
    assert (driver.paths[1:], driver.waits) == ([case.read], [])


@every_case
def test_an_effect_seen_later_gives_the_result_and_one_never_seen_is_unknown(case):
    driver = scripted_driver(reset(), *[good(case.before)] * 4, good(case.after))
    assert driver.raw(case.call).parse().read_back
    assert driver.paths[1:] == [case.read] * 5
    assert_pauses(driver, 0.25, 0.5, 1, 2)
    driver = scripted_driver(reset(), then=good(case.before))
    error = driver.error(OutcomeUnknownError, case.call)
    assert 1029 < driver.now <= 1030.25
    assert max(driver.waits) <= 10.25
    assert 6 <= len(driver.requests) <= 12
    assert (error.operation, error.subject, error.outcome) == (case.name, case.subject, "unknown")
    assert error.last_seen.status == case.before["status"]
    assert "may have happened" in str(error)
    driver = scripted_driver(reset(), then=good(case.before))
    driver.latency = 0.01
    driver.error(OutcomeUnknownError, case.call, deadline=20.0)
    assert 1019.7 < driver.now < 1020, "the last look is just before time is up"
    lost = reset()
    driver = scripted_driver(lost, reply(404))
    error = driver.error(OutcomeUnknownError, case.call)
    assert error.__cause__ is lost
    assert error.request.method == "POST"
    assert error.request.path.startswith(driver.paths[0])
    assert error.request.digest == case.lost().request.digest


@every_case
@each("number", [1, 2])
def test_a_pause_that_the_client_is_closed_in_leaves_the_write_in_doubt(case, number):
    driver = close_in_a_pause(scripted_driver(reset(), then=good(case.before)), number)
    assert driver.error(OutcomeUnknownError, case.call).last_seen is not None
    assert len(driver.waits) == number


@every_case
def test_a_look_that_fails_is_followed_by_others_and_a_refusal_stands(case):
    again = (reply(503), reply(429, retry_after="2"), reply(408), reply(200), reply(200, {"id": 7}))
    for trouble in (reset, refused, *again):
        driver = scripted_driver(reset(), *[trouble] * 4, good(case.after))
        assert driver.raw(case.call).parse().read_back
        assert len(driver.requests) == 6
    for_ever = map(reply, (302, 400, 401, 403, 404, 410, 422))
    for last in (*for_ever, reply(429, retry_after="31")):
        driver = scripted_driver(reset(), good(case.before), last)
        error = driver.error(OutcomeUnknownError, case.call)
        assert error.last_seen.status == case.before["status"]
        assert error.attempts[-1].status_code == last.status_code
        assert len(driver.requests) == 3
        assert driver.now < 1002
    for status in (401, 404):
        driver = scripted_driver(reply(500, {"message": "oops"}), reply(status))
        error = driver.error(OutcomeUnknownError, case.call)
        assert (error.last_seen, driver.waits) == ({"message": "oops"}, [])
    unseen = (good(case.before), reply(404), reply(503), reply(200), reset, timed_out)
    silent = product((401, 403, 404, 429), [()])  # these say nothing of the state
    for status, reads in (*silent, *product((400, 402, 409, 410, 422), zip(unseen, strict=True))):
        driver = scripted_driver(reply(status), *reads)
        error = driver.error(sdk.APIError, case.call, max_retries=0)
        assert (error.status_code, error.outcome) == (status, "rejected")
        assert (error.operation, error.__cause__) == (case.name, None)
        assert driver.paths[1:] == [case.read] * len(reads)


@every_case
def test_a_refused_write_may_be_done_and_a_failed_reading_keeps_what_was_seen(case):
    notes, driver = Notes(), scripted_driver(reply(409), good(case.after))
    error = driver.error(sdk.AlreadyDoneError, case.call, journal=notes)
    assert not isinstance(error, sdk.APIError)
    assert (error.outcome, error.operation) == ("rejected", case.name)
    assert error.result == scripted_driver(reset(), good(case.after)).raw(case.call).parse()
    assert isinstance(error.last_seen, sdk.Booking | sdk.Ticket)
    assert isinstance(error.__cause__, sdk.ConflictError)
    assert error.__cause__.correlation_id == error.correlation_id
    assert [attempt.status_code for attempt in error.attempts] == [409, 200]
    assert notes.states == {"entry-1": "rejected"}
    assert notes.details["entry-1"] == OutcomeDetails(status_code=409)
    assert driver.waits == []
    for deadline, end in ((None, 1025.25), (5.0, 1003.8125)):
        driver = scripted_driver(reply(409), timed_out())
        driver.error(sdk.ConflictError, case.call, deadline=deadline, max_retries=0)
        (_, read) = [effect for effect in driver.effects if isinstance(effect, Send)]
        assert read.until == end
    error, notes = case.lost(), Notes()
    error.last_seen = "what was seen"
    again = still_unknown(scripted_driver(reply(404)), error, journal=notes)
    assert again.last_seen == "what was seen"
    assert [attempt.status_code for attempt in again.attempts[-2:]] == [404, 404]
    assert again.__cause__ is not None
    assert notes.states == {}


def test_a_refusal_in_the_body_of_a_tool_is_looked_into_but_for_one_of_an_unknown_ticket():
    for code, requests in (("TICKET_CANCEL_ERROR", 2), ("BOOKED", 2), ("TICKET_NOT_FOUND", 1)):
        refusal = good({"error": True, "code": code, "message": "No"})
        driver = scripted_driver(refusal, good(CANCELED))
        kind = sdk.AlreadyDoneError if requests > 1 else sdk.TicketNotFoundError
        assert driver.error(kind, CANCEL_BY_TOOL.call).outcome == "rejected"
        assert len(driver.requests) == requests


@each("name", ["bookings.create", "mcp.create_booking", "mcp.call_tool"])
def test_what_no_read_shows_is_unknown_at_once(name):
    for lost in LOST:
        driver = scripted_driver(lost)
        error = driver.error(OutcomeUnknownError, name)
        assert error.subject == {}
        if isinstance(lost, Reply) and lost.content:
            assert error.last_seen == json.loads(lost.content)
        assert len(driver.requests) == 1
        assert driver.waits == []
    driver = scripted_driver(reply(409))
    driver.error(sdk.ConflictError, name)
    assert len(driver.requests) == 1


def test_a_read_of_an_effect_goes_first_by_the_own_token_and_is_repeated_until_the_deadline():
    driver = scripted_driver(reset(), good(booking("ticketed", "Issued")))
    driver.raw(described("tickets.mark_paid", booking_id="b-1"))
    sent = [request.headers["Authorization"] for request in driver.requests]
    assert sent == ["Bearer organisation-token", "Bearer test-token"]
    assert b"b-1" not in (driver.requests[0].content or b"")
    driver = scripted_driver(reset(), reply(503), good(booking("ticketed")), good(ISSUED))
    assert driver.raw("bookings.confirm", max_retries=0).parse().ticket_id == "t-1"
    assert len(driver.requests) == 4
    assert_pauses(driver, 0.25, 0.5)
    goes_first = []

    class Limiter:
        def acquire(self, operation):
            goes_first.append((operation, current_request.get().goes_first))

    driver = scripted_driver(reply(409), good(ISSUED))
    driver.error(sdk.AlreadyDoneError, "bookings.confirm", limiter=Limiter())
    assert goes_first == [("bookings.confirm", False), ("bookings.get", True)]
    error, notes = CONFIRM.lost(), Notes()
    error.entry_id = None
    driver = scripted_driver(reset(), reply(503), good(CONFIRM.after))
    assert recover_again(driver, error, max_retries=2, journal=notes).read_back
    assert len(driver.waits) == 2
    assert notes.states == {}, "the write has no entry"
    driver = scripted_driver(then=reset())
    still_unknown(driver, CONFIRM.lost(), max_retries=10**6, deadline=3.0)
    assert driver.now <= 1003
    told = []

    def interrupted():
        raise KeyboardInterrupt

    settings = {"token": Secret(interrupted), "hooks": Hooks({OutcomeEvent: [told.append]})}
    caught(KeyboardInterrupt, recover_again, scripted_driver(), CONFIRM.lost(), **settings)
    assert [event.outcome for event in told] == ["unknown"]


def recover_again(driver, error, **changes):
    return driver.recover_again(*_unknown_outcome(error), **changes)


def still_unknown(driver, error, **changes):
    return caught(OutcomeUnknownError, recover_again, driver, error, **changes)


@every_case
def test_an_effect_that_is_seen_gives_the_result_and_else_fresher_facts(case):
    for error in (pickle.loads(pickle.dumps(case.lost())), entry(case.name, **case.subject)):
        driver, notes = scripted_driver(good(case.after)), Notes()
        result = recover_again(driver, error, correlation_id="another", journal=notes)
        assert type(result) is case.call.answer.model
        assert result.read_back
        assert getattr(result, "refund_amount", None) is None
        assert driver.paths == [case.read]
        assert driver.requests[0].headers["x-client-correlation-id"] == "c-7"
        known = "entry-1" if isinstance(error, OutcomeUnknownError) else "entry-7"
        assert notes.states == {known: "done"}
    error, notes = case.lost(), Notes()
    before = len(error.attempts)
    fresher = still_unknown(scripted_driver(good(case.before)), error, journal=notes)
    assert fresher is not error
    assert fresher.last_seen.status == case.before["status"]
    assert (len(fresher.attempts), len(error.attempts)) == (before + 1, before)
    for name in ("operation", "correlation_id", "request", "subject", "entry_id", "outcome"):
        assert getattr(fresher, name) == getattr(error, name)
    assert str(fresher) == str(error)
    assert notes.states == {}
    of_entry = still_unknown(scripted_driver(good(case.before)), entry(case.name, **case.subject))
    assert (of_entry.operation, of_entry.subject) == (case.name, case.subject)
    assert (of_entry.correlation_id, of_entry.entry_id) == ("c-7", "entry-7")
    assert (of_entry.request.method, of_entry.request.path) == ("POST", "/api/somewhere")
    assert of_entry.last_seen is not None


def test_what_no_read_shows_is_no_write_or_lacks_the_id_cannot_be_recovered():
    shown_by_none = [name for name, row in SAFETY.items() if not (row.is_read or row.confirmed_by)]
    assert {*shown_by_none} < {*OPERATIONS}
    for name in shown_by_none:
        lost = scripted_driver(reset()).error(OutcomeUnknownError, name)
        with in_case(name), pytest.raises(OutcomeUnknownError) as info:
            _unknown_outcome(lost)
        assert info.value is lost
    no_writes = product(["bookings.paint", "bookings.get", "bookings.wait", ""], [BOOKING])
    lacking = product(["bookings.confirm"], [{}, TICKET])
    for name, subject in (*product(shown_by_none, [{}]), *no_writes, *lacking):
        with in_case(name, subject), pytest.raises(OutcomeUnknownError) as info:
            _unknown_outcome(entry(name, **subject))
        assert (info.value.operation, info.value.entry_id) == (name, "entry-7")


def test_either_client_recovers_an_error_and_an_entry(both):
    made = booked(both)
    error = CONFIRM.lost()
    error.subject = {"booking_id": made.booking_id}
    info = caught(OutcomeUnknownError, both.recover, error)
    assert info.last_seen.booking_id == made.booking_id
    both.bookings.confirm(made.booking_id)
    for known in (info, pickle.loads(pickle.dumps(error))):
        assert both.recover(known).read_back
    assert both.recover(entry("bookings.confirm", booking_id=made.booking_id)).read_back
