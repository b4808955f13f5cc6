"""A wait, and a write whose reply was lost: both read until enough is seen or time is up.

First the waits: pauses, conditions, progress, failures, due times. Then lost writes: what is read,
what is raised, and how `recover` reads it again.
"""

import json
import pickle
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
from tests.support.exchanges import caught
from tests.support.operations import OPERATIONS, described
from tests.support.samples import POSSIBLE_ACTION
from tests.support.trip import booked

every_wait = pytest.mark.parametrize(
    ("name", "early", "enough"),
    [
        pytest.param(
            "bookings.wait",
            good(booking("payment_due")),
            good(booking("ticketed")),
            id="bookings.wait",
        ),
        pytest.param(
            "tickets.wait_pdf",
            good({"url": None}),
            good({"url": "https://service.example/v.pdf"}),
            id="tickets.wait_pdf",
        ),
    ],
)


@pytest.fixture
def notes():
    """Give an empty journal."""
    return Notes()


def assert_pauses(driver, *pauses):
    """Each pause is at most a quarter of a second longer than it should be."""
    for wait, pause in zip(driver.waits, pauses, strict=True):
        assert pause <= wait <= pause + 0.25


# Pauses and the end of a wait


@every_wait
def test_pauses_grow_to_ten_seconds(name, early, enough):
    driver = scripted_driver(*[early] * 12, enough)
    driver.raw(described(name, deadline=600))
    pauses = (0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10, 10)
    assert_pauses(driver, *pauses)
    assert len({wait - pause for wait, pause in zip(driver.waits, pauses, strict=True)}) > 6


@every_wait
def test_wait_ends_at_its_deadline(name, early, enough):
    driver = scripted_driver(then=early)
    with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
        driver.raw(described(name, deadline=45))
    error = info.value
    assert 1044.5 < driver.now <= 1045
    assert isinstance(error.last_seen, described(name).answer.model)
    assert (error.operation, error.outcome, error.__cause__) == (name, "unknown", None)


@every_wait
@pytest.mark.parametrize(
    ("deadline", "latency"),
    [(0.01, 0.005), (0.2, 0.005), (0.25, 0.005), (0.3, 0.005), (0.5, 0.25)],
)
def test_short_deadline_leaves_one_look(name, early, enough, deadline, latency):
    driver = scripted_driver(then=early)
    driver.latency = latency
    error = driver.error(RequestTimeoutError, described(name, deadline=deadline))
    assert 1 <= len(driver.requests) <= 3
    assert deadline < 0.5 or driver.waits == []
    assert error.last_seen is not None
    assert driver.now <= 1000 + deadline


@every_wait
@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "never seen"])
def test_failure_at_the_deadline_is_the_cause(name, early, enough, is_seen):
    driver = scripted_driver(*[early] * is_seen, then=reply(503))
    error = driver.error(RequestTimeoutError, described(name, deadline=20))
    assert isinstance(error.__cause__, sdk.FerryError)
    assert (error.last_seen is not None) == is_seen
    assert driver.now <= 1020


@every_wait
@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 410, 422])
def test_permanent_failure_ends_the_wait(name, early, enough, status):
    error = scripted_driver(early, reply(status)).error(sdk.FerryError, name)
    assert not isinstance(error, RequestTimeoutError)
    assert error.attempts[-1].status_code == status


@every_wait
@pytest.mark.parametrize("retry_after", ["60", "3600", "9" * 400], ids=["60", "3600", "infinite"])
def test_retry_after_beyond_the_deadline_ends_it(name, early, enough, retry_after):
    driver = scripted_driver(early, reply(429, retry_after=retry_after))
    error = driver.error(RequestTimeoutError, described(name, deadline=45))
    assert driver.now < 1002
    assert isinstance(error.__cause__, sdk.RateLimitError)
    assert error.__cause__.retry_after == float(retry_after)


@every_wait
@pytest.mark.parametrize(("deadline", "retry_after"), [(100, 70.0), (1.5, 1.0)])
def test_retry_after_before_the_deadline_is_waited(name, early, enough, deadline, retry_after):
    driver = scripted_driver(reply(429, retry_after=f"{retry_after}"), enough)
    driver.raw(described(name, deadline=deadline), max_retries=0)
    assert driver.waits == [retry_after]


FAILURES_THAT_PASS = [
    pytest.param(refused, id="connection refused"),
    pytest.param(reset, id="connection reset"),
    pytest.param(timed_out, id="timed out"),
    pytest.param(undecodable, id="undecodable"),
    pytest.param(reply(429), id="429"),
    pytest.param(reply(429, retry_after="4"), id="429 with Retry-After"),
    pytest.param(reply(408), id="408"),
    pytest.param(reply(500), id="500"),
    pytest.param(reply(500, {"code": "TICKET_VIEW_ERROR"}), id="500 with a code"),
    pytest.param(reply(503, retry_after="3"), id="503 with Retry-After"),
    pytest.param(reply(200), id="200 without a body"),
]


@every_wait
@pytest.mark.parametrize("trouble", FAILURES_THAT_PASS)
@pytest.mark.parametrize("max_retries", [0, 2])
def test_wait_goes_on_after_a_transient_failure(name, early, enough, trouble, max_retries):
    driver = scripted_driver(early, *[trouble] * 8, early, enough)
    driver.raw(described(name, deadline=300), max_retries=max_retries)
    assert len(driver.requests) == 11


# The condition of a wait


@pytest.mark.parametrize("name", ["bookings.wait", "tickets.wait_pdf"])
@pytest.mark.parametrize("deadline", [0, -1, float("nan")])
def test_wait_needs_time(name, deadline):
    with pytest.raises(InvalidInputError) as info:
        described(name, deadline=deadline)
    assert info.value.field == "deadline"


@pytest.mark.parametrize("until", [[], (), set()], ids=str)
def test_wait_needs_a_stage(until):
    with pytest.raises(InvalidInputError) as info:
        described("bookings.wait", until=until)
    assert info.value.field == "until"


def test_predicate_decides_when_a_wait_ends():
    seen = []

    def has_two(record):
        seen.append(record.stage)
        return len(record.tickets) == 2

    looks = [booking("voided"), booking("lapsed"), booking("x", "a", "b")]
    driver = scripted_driver(*map(good, looks))
    result = driver.raw(described("bookings.wait", until=has_two)).parse()
    assert len(result.tickets) == 2
    assert seen == ["voided", "lapsed", "x"]


def test_error_of_a_predicate_goes_to_the_caller():
    def fail(_):
        raise ZeroDivisionError

    driver = scripted_driver(then=good(booking("ticketed")))
    driver.error(ZeroDivisionError, described("bookings.wait", until=fail))


STAGES = [*Stage, "moored"]
UNTILS = [
    {"ticketed"},
    ["ticketed", "in_progress"],
    (Stage.REJECTED, "moored"),
    ["lapsed"],
    "ticketed",
    Stage.ISSUANCE_DUE,
    "voided",
]


@pytest.mark.parametrize(("until", "stage"), [*product(UNTILS, STAGES)], ids=str)
def test_wait_ends_at_a_wanted_or_final_stage(until, stage):
    wanted = {until} if isinstance(until, str) else {*until}
    driver = scripted_driver(good(booking(stage)), good(booking(min(wanted))))
    operation = described("bookings.wait", until=until)
    is_final = stage in ("voided", "lapsed") and stage not in wanted
    if is_final:
        assert driver.error(RequestTimeoutError, operation).last_seen.stage == stage
        assert driver.now < 1002
    else:
        assert driver.raw(operation).parse().stage in wanted
    assert len(driver.requests) == (1 if stage in wanted or is_final else 2)


# Progress


@every_wait
def test_progress_gets_every_record_that_is_read(name, early, enough):
    records = []
    driver = scripted_driver(early, reset(), early, enough)
    last = driver.raw(described(name, on_progress=records.append)).parse()
    assert len(records) == 3
    assert records[-1] is last
    ends = [effect.until for effect in driver.effects if isinstance(effect, CallUser)]
    assert ends == [1060.0] * 3


@every_wait
@pytest.mark.parametrize("is_enough", [True, False], ids=["enough", "early"])
def test_progress_that_outlasts_the_deadline_hides_nothing(name, early, enough, is_enough):
    def outlast(_):
        driver.now = 1060.0
        raise RequestTimeoutError("the deadline has passed")

    operation = described(name, on_progress=outlast)
    driver = scripted_driver(enough if is_enough else early)
    if is_enough:
        assert driver.raw(operation).parse()
        return
    with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
        driver.raw(operation)
    assert info.value.last_seen is not None


@every_wait
@pytest.mark.parametrize("is_enough", [True, False], ids=["enough", "early"])
@pytest.mark.parametrize("moment", [1000.25, 1059.9])
@pytest.mark.parametrize(
    "trouble",
    [ZeroDivisionError(), KeyboardInterrupt(), reset(), timed_out()],
    ids=["exception", "interruption", "connection reset", "timed out"],
)
def test_error_of_progress_goes_to_the_caller(name, early, enough, is_enough, moment, trouble):
    def fail(_):
        driver.now = moment
        raise trouble

    driver = scripted_driver(enough if is_enough else early)
    assert driver.error(type(trouble), described(name, on_progress=fail)) is trouble
    assert len(driver.requests) == 1


# Due times


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


@pytest.mark.parametrize("due", [3.0, 17.3, 29.9, 41.41])
@pytest.mark.parametrize("by", ["expire_at", "timeLimit", "both"])
def test_booking_is_read_when_it_is_due(due, by):
    driver = scripted_driver()
    due_at = driver.moment(due)
    later = (due_at + timedelta(days=1)).isoformat()
    action = POSSIBLE_ACTION | {"timeLimit": later if by == "expire_at" else due_at.isoformat()}
    poll_in_vain(
        driver,
        expire_at=later if by == "timeLimit" else due_at.isoformat(),
        possible_actions={"Pay": action, "Cancel": POSSIBLE_ACTION | {"timeLimit": None}},
    )
    assert is_read_at(driver, 1000 + due)


def test_due_time_is_by_the_services_clock():
    driver = scripted_driver()
    service_time = datetime.fromtimestamp(int(driver.calendar()) + 500, UTC)
    driver.answer = lambda _: reply(404, date=format_datetime(service_time, usegmt=True))
    driver.error(sdk.NotFoundError, "catalogue.ports")
    driver.now, driver.requests, driver.effects = 1000.0, [], []
    skew = driver.session.skew
    assert 499 <= skew <= 500
    poll_in_vain(driver, expire_at=driver.moment(skew + 20).isoformat())
    assert is_read_at(driver, 1020)


@pytest.mark.parametrize(
    ("year", "limit"),
    [
        pytest.param("2020", "at noon", id="past, and no time"),
        pytest.param("9999", None, id="last year"),
        pytest.param("0001", None, id="first year"),
    ],
)
def test_due_time_outside_the_wait_changes_no_pause(year, limit):
    driver = scripted_driver()
    pay = {"Pay": POSSIBLE_ACTION | {"timeLimit": limit}}
    poll_in_vain(driver, expire_at=f"{year}-01-01T00:00:00Z", possible_actions=pay)
    driver.effects = [effect for effect in driver.effects if isinstance(effect, Sleep)][:7]
    assert_pauses(driver, 0.25, 0.5, 1, 2, 4, 8, 10)
    assert driver.now <= 1060


@pytest.mark.parametrize("fraction", [0.0, 0.001, 0.02, 0.5, 0.999])
def test_due_time_adds_few_reads(fraction):
    """The service's clock is in whole seconds, so a due time may seem to be ahead."""

    def answer(_):
        service_time = datetime.fromtimestamp(int(driver.calendar()), UTC)
        return reply(200, seen, date=format_datetime(service_time, usegmt=True))

    driver = scripted_driver(then=answer)
    driver.latency = 0.002
    due_at = datetime.fromtimestamp(int(driver.calendar()) + 20 + fraction, UTC)
    seen = booking("payment_due", expire_at=due_at.isoformat())
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60))
    assert len(driver.requests) <= 16


def test_due_time_cuts_a_long_pause(monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.random", lambda: 0.0)
    driver = scripted_driver()
    poll_in_vain(driver, expire_at=driver.moment(9.85).isoformat())
    assert driver.waits[:6] == [0.25, 0.5, 1, 2, 4, pytest.approx(0.6, abs=1e-3)]


# A write whose reply was lost


@dataclass(frozen=True)
class Case:
    """A write, the path that is read back, and a record without and with the effect."""

    name: str
    read: str
    before: Any
    after: Any
    subject: Any

    @property
    def call(self):
        return described(self.name, **self.subject)

    def lost(self):
        """Return the error of a write whose effect nobody has seen."""
        driver = scripted_driver(reset(), reply(404))
        return driver.error(OutcomeUnknownError, self.call, correlation_id="c-7", journal=Notes())


BOOKING = {"booking_id": "b-1"}
TICKET = {"ticket_id": "t-1"}
BOOKING_PATH = "/api/booking/b-1"
TICKET_PATH = "/api/ticket/t-1"
PENDING = booking("issuance_due", "Pending")
ISSUED = booking("ticketed", "Issued")
VOIDED = booking("voided", "Pending")
PAID = booking("issuance_due", "Pending", payment_status="paid")
BOTH_ISSUED = booking("in_progress", "Issued", "Issued")
CANCELED = ticket("Canceled")
CONFIRM = Case("bookings.confirm", BOOKING_PATH, PENDING, ISSUED, BOOKING)
CANCEL_BY_TOOL = Case("mcp.cancel_ticket", "/mcp", ticket("Issued"), CANCELED, TICKET)
CASES = {
    "bookings.confirm": CONFIRM,
    "mcp.confirm_booking": Case(
        "mcp.confirm_booking", BOOKING_PATH, PENDING, after=BOTH_ISSUED, subject=BOOKING
    ),
    "bookings.cancel": Case(
        "bookings.cancel", BOOKING_PATH, PENDING, after=VOIDED, subject=BOOKING
    ),
    "tickets.cancel": Case(
        "tickets.cancel", TICKET_PATH, ticket("Issued"), after=CANCELED, subject=TICKET
    ),
    "mcp.cancel_ticket": CANCEL_BY_TOOL,
    "tickets.mark_paid": Case(
        "tickets.mark_paid", TICKET_PATH, ticket("Pending"), after=ticket("Issued"), subject=TICKET
    ),
    "tickets.mark_paid of a booking": Case(
        "tickets.mark_paid", BOOKING_PATH, PENDING, after=PAID, subject=TICKET | BOOKING
    ),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
LOST = [
    pytest.param(reset, id="connection reset"),
    pytest.param(timed_out, id="timed out"),
    pytest.param(undecodable, id="undecodable"),
    pytest.param(reply(408), id="408"),
    pytest.param(reply(500, {"message": "oops"}), id="500"),
    pytest.param(reply(200), id="200 without a body"),
    pytest.param(reply(503, retry_after="3600"), id="503 with Retry-After"),
    pytest.param(reply(200, {"status": 7}), id="200 with another body"),
]


@every_case
@pytest.mark.parametrize("lost", LOST)
def test_effect_seen_at_once_gives_the_result(case, lost):
    driver = scripted_driver(lost, good(case.after))
    result = driver.raw(case.call).parse()
    assert result.read_back
    assert type(result) is case.call.answer.model
    assert {name: getattr(result, name, id_) for name, id_ in case.subject.items()} == case.subject
    assert (driver.paths[1:], driver.waits) == ([case.read], [])


@every_case
def test_effect_seen_later_gives_the_result(case):
    driver = scripted_driver(reset(), *[good(case.before)] * 4, good(case.after))
    assert driver.raw(case.call).parse().read_back
    assert driver.paths[1:] == [case.read] * 5
    assert_pauses(driver, 0.25, 0.5, 1, 2)


@every_case
def test_effect_never_seen_is_unknown(case):
    driver = scripted_driver(reset(), then=good(case.before))
    error = driver.error(OutcomeUnknownError, case.call)
    assert 1029 < driver.now <= 1030.25
    assert max(driver.waits) <= 10.25
    assert 6 <= len(driver.requests) <= 12
    assert (error.operation, error.subject, error.outcome) == (case.name, case.subject, "unknown")
    assert error.last_seen.status == case.before["status"]
    assert "may have happened" in str(error)


@every_case
def test_last_look_is_just_before_the_deadline(case):
    driver = scripted_driver(reset(), then=good(case.before))
    driver.latency = 0.01
    driver.error(OutcomeUnknownError, case.call, deadline=20.0)
    assert 1019.7 < driver.now < 1020


@every_case
def test_unknown_outcome_has_its_cause(case):
    lost = reset()
    driver = scripted_driver(lost, reply(404))
    assert driver.error(OutcomeUnknownError, case.call).__cause__ is lost


@every_case
def test_unknown_outcome_identifies_its_request(case):
    driver = scripted_driver(reset(), reply(404))
    error = driver.error(OutcomeUnknownError, case.call)
    assert error.request.method == "POST"
    assert error.request.path.startswith(driver.paths[0])
    assert error.request.digest == case.lost().request.digest


@every_case
@pytest.mark.parametrize("number", [1, 2])
def test_client_closed_in_a_pause_leaves_doubt(case, number):
    driver = close_in_a_pause(scripted_driver(reset(), then=good(case.before)), number)
    assert driver.error(OutcomeUnknownError, case.call).last_seen is not None
    assert len(driver.waits) == number


@every_case
@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(reset, id="connection reset"),
        pytest.param(refused, id="connection refused"),
        pytest.param(reply(503), id="503"),
        pytest.param(reply(429, retry_after="2"), id="429"),
        pytest.param(reply(408), id="408"),
        pytest.param(reply(200), id="200 without a body"),
        pytest.param(reply(200, {"id": 7}), id="200 with another body"),
    ],
)
def test_read_back_goes_on_after_a_transient_failure(case, trouble):
    driver = scripted_driver(reset(), *[trouble] * 4, good(case.after))
    assert driver.raw(case.call).parse().read_back
    assert len(driver.requests) == 6


@every_case
@pytest.mark.parametrize(
    "last",
    [
        pytest.param(reply(302), id="302"),
        pytest.param(reply(400), id="400"),
        pytest.param(reply(401), id="401"),
        pytest.param(reply(403), id="403"),
        pytest.param(reply(404), id="404"),
        pytest.param(reply(410), id="410"),
        pytest.param(reply(422), id="422"),
        pytest.param(reply(429, retry_after="31"), id="429 for too long"),
    ],
)
def test_permanent_failure_ends_the_read_back(case, last):
    driver = scripted_driver(reset(), good(case.before), last)
    error = driver.error(OutcomeUnknownError, case.call)
    assert error.last_seen.status == case.before["status"]
    assert error.attempts[-1].status_code == last.status_code
    assert len(driver.requests) == 3
    assert driver.now < 1002


@every_case
@pytest.mark.parametrize("status", [401, 404])
def test_body_of_the_failed_reply_is_kept(case, status):
    driver = scripted_driver(reply(500, {"message": "oops"}), reply(status))
    error = driver.error(OutcomeUnknownError, case.call)
    assert (error.last_seen, driver.waits) == ({"message": "oops"}, [])


# A write that the service refuses


def assert_refused(case, driver, status, reads):
    error = driver.error(sdk.APIError, case.call, max_retries=0)
    assert (error.status_code, error.outcome) == (status, "rejected")
    assert (error.operation, error.__cause__) == (case.name, None)
    assert driver.paths[1:] == [case.read] * reads


@every_case
@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_refusal_that_says_nothing_of_the_state_stands(case, status):
    assert_refused(case, scripted_driver(reply(status)), status, reads=0)


@every_case
@pytest.mark.parametrize("status", [400, 402, 409, 410, 422])
@pytest.mark.parametrize(
    "look",
    [
        pytest.param(lambda case: good(case.before), id="no effect"),
        pytest.param(lambda _: reply(404), id="404"),
        pytest.param(lambda _: reply(503), id="503"),
        pytest.param(lambda _: reply(200), id="200 without a body"),
        pytest.param(lambda _: reset, id="connection reset"),
        pytest.param(lambda _: timed_out, id="timed out"),
    ],
)
def test_refusal_stands_if_no_effect_is_seen(case, status, look):
    assert_refused(case, scripted_driver(reply(status), look(case)), status, reads=1)


def done_already(case, **changes):
    """Return the error of a write that is refused because its effect was there before."""
    driver = scripted_driver(reply(409), good(case.after))
    error = driver.error(sdk.AlreadyDoneError, case.call, **changes)
    assert driver.waits == []
    return error


@every_case
def test_refused_write_may_be_done_already(case):
    error = done_already(case)
    assert not isinstance(error, sdk.APIError)
    assert (error.outcome, error.operation) == ("rejected", case.name)
    assert [attempt.status_code for attempt in error.attempts] == [409, 200]


@every_case
def test_write_done_already_has_its_result(case):
    error = done_already(case)
    assert error.result == scripted_driver(reset(), good(case.after)).raw(case.call).parse()
    assert isinstance(error.last_seen, sdk.Booking | sdk.Ticket)


@every_case
def test_write_done_already_keeps_the_refusal(case):
    error = done_already(case)
    assert isinstance(error.__cause__, sdk.ConflictError)
    assert error.__cause__.correlation_id == error.correlation_id


@every_case
def test_write_done_already_is_on_record_as_rejected(case, notes):
    done_already(case, journal=notes)
    assert notes.states == {"entry-1": "rejected"}
    assert notes.details["entry-1"] == OutcomeDetails(status_code=409)


@every_case
@pytest.mark.parametrize(("deadline", "end"), [(None, 1025.25), (5.0, 1003.8125)])
def test_look_after_a_refusal_ends_in_time(case, deadline, end):
    driver = scripted_driver(reply(409), timed_out())
    driver.error(sdk.ConflictError, case.call, deadline=deadline, max_retries=0)
    (_, look) = [effect for effect in driver.effects if isinstance(effect, Send)]
    assert look.until == end


@pytest.mark.parametrize(
    ("code", "kind", "requests"),
    [
        ("TICKET_CANCEL_ERROR", sdk.AlreadyDoneError, 2),
        ("BOOKED", sdk.AlreadyDoneError, 2),
        ("TICKET_NOT_FOUND", sdk.TicketNotFoundError, 1),
    ],
)
def test_effect_is_read_after_a_tool_refuses(code, kind, requests):
    refusal = good({"error": True, "code": code, "message": "No"})
    driver = scripted_driver(refusal, good(CANCELED))
    assert driver.error(kind, CANCEL_BY_TOOL.call).outcome == "rejected"
    assert len(driver.requests) == requests


# A write that no read shows

every_unshown = pytest.mark.parametrize(
    "name", ["bookings.create", "mcp.create_booking", "mcp.call_tool"]
)


@every_unshown
@pytest.mark.parametrize("lost", LOST)
def test_write_that_no_read_shows_is_unknown(name, lost):
    driver = scripted_driver(lost)
    error = driver.error(OutcomeUnknownError, name)
    assert error.subject == {}
    if isinstance(lost, Reply) and lost.content:
        assert error.last_seen == json.loads(lost.content)
    assert len(driver.requests) == 1
    assert driver.waits == []


@every_unshown
def test_refusal_of_what_no_read_shows_stands(name):
    driver = scripted_driver(reply(409))
    driver.error(sdk.ConflictError, name)
    assert len(driver.requests) == 1


# How the effect is read


def test_effect_is_read_with_the_clients_token():
    driver = scripted_driver(reset(), good(booking("ticketed", "Issued")))
    driver.raw(described("tickets.mark_paid", booking_id="b-1"))
    sent = [request.headers["Authorization"] for request in driver.requests]
    assert sent == ["Bearer organisation-token", "Bearer test-token"]
    assert b"b-1" not in (driver.requests[0].content or b"")


def test_booking_without_tickets_shows_no_confirmation():
    driver = scripted_driver(reset(), reply(503), good(booking("ticketed")), good(ISSUED))
    assert driver.raw("bookings.confirm", max_retries=0).parse().ticket_id == "t-1"
    assert len(driver.requests) == 4
    assert_pauses(driver, 0.25, 0.5)


def test_read_of_an_effect_goes_first():
    goes_first = []

    class Limiter:
        def acquire(self, operation):
            goes_first.append((operation, current_request.get().goes_first))

    driver = scripted_driver(reply(409), good(ISSUED))
    driver.error(sdk.AlreadyDoneError, "bookings.confirm", limiter=Limiter())
    assert goes_first == [("bookings.confirm", False), ("bookings.get", True)]


# Recovery


def recover_again(driver, error, **changes):
    return driver.recover_again(*_unknown_outcome(error), **changes)


def still_unknown(driver, error, **changes):
    return caught(OutcomeUnknownError, recover_again, driver, error, **changes)


@every_case
@pytest.mark.parametrize("is_entry", [False, True], ids=["error", "entry"])
def test_recovery_gives_the_result(case, is_entry, notes):
    driver = scripted_driver(good(case.after))
    lost = pickle.loads(pickle.dumps(case.lost()))
    if is_entry:
        lost = entry(case.name, **case.subject)
    result = recover_again(driver, lost, correlation_id="another", journal=notes)
    assert type(result) is case.call.answer.model
    assert result.read_back
    assert getattr(result, "refund_amount", None) is None
    assert driver.paths == [case.read]
    assert driver.requests[0].headers["x-client-correlation-id"] == "c-7"
    assert notes.states == {"entry-7" if is_entry else "entry-1": "done"}


@every_case
def test_recovery_without_the_effect_updates_the_error(case, notes):
    error = case.lost()
    before = len(error.attempts)
    updated = still_unknown(scripted_driver(good(case.before)), error, journal=notes)
    assert updated is not error
    assert updated.last_seen.status == case.before["status"]
    assert (len(updated.attempts), len(error.attempts)) == (before + 1, before)
    for name in ("operation", "correlation_id", "request", "subject", "entry_id", "outcome"):
        assert getattr(updated, name) == getattr(error, name)
    assert str(updated) == str(error)
    assert notes.states == {}


@every_case
def test_recovery_of_an_entry_raises_its_error(case):
    lost = entry(case.name, **case.subject)
    error = still_unknown(scripted_driver(good(case.before)), lost)
    assert (error.operation, error.subject) == (case.name, case.subject)
    assert (error.correlation_id, error.entry_id) == ("c-7", "entry-7")
    assert (error.request.method, error.request.path) == ("POST", "/api/somewhere")
    assert error.last_seen is not None


@every_case
def test_failed_recovery_keeps_what_was_seen(case, notes):
    error = case.lost()
    error.last_seen = "what was seen"
    again = still_unknown(scripted_driver(reply(404)), error, journal=notes)
    assert again.last_seen == "what was seen"
    assert [attempt.status_code for attempt in again.attempts[-2:]] == [404, 404]
    assert again.__cause__ is not None
    assert notes.states == {}


def test_recovery_without_an_entry_records_nothing(notes):
    error = CONFIRM.lost()
    error.entry_id = None
    driver = scripted_driver(reset(), reply(503), good(CONFIRM.after))
    assert recover_again(driver, error, max_retries=2, journal=notes).read_back
    assert len(driver.waits) == 2
    assert notes.states == {}


def test_recovery_ends_at_the_deadline():
    driver = scripted_driver(then=reset())
    still_unknown(driver, CONFIRM.lost(), max_retries=10**6, deadline=3.0)
    assert driver.now <= 1003


def test_interrupted_recovery_is_unknown_to_hooks():
    events = []

    def interrupt():
        raise KeyboardInterrupt

    settings = {"token": Secret(interrupt), "hooks": Hooks({OutcomeEvent: [events.append]})}
    caught(KeyboardInterrupt, recover_again, scripted_driver(), CONFIRM.lost(), **settings)
    assert [event.outcome for event in events] == ["unknown"]


SHOWN_BY_NO_READ = [name for name, row in SAFETY.items() if not (row.is_read or row.confirmed_by)]


def test_writes_that_no_read_shows_are_operations():
    assert {*SHOWN_BY_NO_READ} < {*OPERATIONS}


@pytest.mark.parametrize("name", [name for name in SHOWN_BY_NO_READ if name in OPERATIONS])
def test_error_that_no_read_shows_is_raised_again(name):
    lost = scripted_driver(reset()).error(OutcomeUnknownError, name)
    with pytest.raises(OutcomeUnknownError) as info:
        _unknown_outcome(lost)
    assert info.value is lost


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        *[pytest.param(name, {}, id=f"no read shows {name}") for name in SHOWN_BY_NO_READ],
        pytest.param("bookings.paint", BOOKING, id="no operation"),
        pytest.param("bookings.get", BOOKING, id="a read"),
        pytest.param("bookings.wait", BOOKING, id="a wait"),
        pytest.param("", BOOKING, id="no name"),
        pytest.param("bookings.confirm", {}, id="without an id"),
        pytest.param("bookings.confirm", TICKET, id="with another id"),
    ],
)
def test_entry_that_cannot_be_recovered_is_raised(name, subject):
    with pytest.raises(OutcomeUnknownError) as info:
        _unknown_outcome(entry(name, **subject))
    assert (info.value.operation, info.value.entry_id) == (name, "entry-7")


def test_both_clients_recover_errors_or_entries(both):
    made = booked(both)
    error = CONFIRM.lost()
    error.subject = {"booking_id": made.booking_id}
    unknown = caught(OutcomeUnknownError, both.recover, error)
    assert unknown.last_seen.booking_id == made.booking_id

    both.bookings.confirm(made.booking_id)
    assert both.recover(unknown).read_back
    assert both.recover(pickle.loads(pickle.dumps(error))).read_back
    assert both.recover(entry("bookings.confirm", booking_id=made.booking_id)).read_back
