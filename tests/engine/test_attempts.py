"""What a call does about each failure, how often it is made, and what its deadline ends."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import product
from typing import Any

import pytest
import time_machine

import ferry_sdk as sdk
from ferry_sdk import SAFETY, FerryError, NotFoundError, RateLimitError, RequestTimeoutError
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import CallUser, Exclusive, Send, SingleFlight
from ferry_sdk._engine.flow import run
from ferry_sdk._engine.http import Reply, Timeout
from ferry_sdk._engine.settings import Secret
from ferry_sdk.types import Attempt
from tests.engine.failures import pool_full, refused, reset, timed_out, undecodable
from tests.engine.replies import booking, close_in_a_pause, good, reply, scripted_driver
from tests.engine.writes import SHOWN
from tests.support.cases import case
from tests.support.driven import SETTINGS, Driven, replied
from tests.support.mcp_samples import TICKET as MCP_TICKET
from tests.support.operations import OPERATIONS, described
from tests.support.samples import BOOKING_CONFIRMATION, BOOKING_CREATED
from tests.support.tables import each

WAITS = ("bookings.wait", "tickets.wait_pdf")
"""They outlive failures, and have tests of their own."""
READS = [name for name in OPERATIONS if SAFETY[name].is_read]
WRITES = [name for name in OPERATIONS if not SAFETY[name].is_read]
FOR_EXAMPLE = ("catalogue.ports", "bookings.confirm", "mcp.ports", "mcp.confirm_booking")
NOT_FOUND = reply(404)
"""Ends every call at once, whatever its protocol."""
every_operation = each("name", OPERATIONS)


@dataclass(frozen=True)
class Row:
    failure: Any
    again: str
    kind: type[FerryError]
    write_kind: type[FerryError] | None = None
    wait: float | None = None

    def is_again(self, name):
        return self.again == "both" or (self.again == "reads" and SAFETY[name].is_read)

    def error_of(self, name):
        return self.kind if SAFETY[name].is_read else self.write_kind or self.kind


UNKNOWN, UNEXPECTED = sdk.OutcomeUnknownError, sdk.UnexpectedResponseError
CONNECTION, TIME_OUT = sdk.ConnectionFailedError, RequestTimeoutError
TABLE = [
    Row(refused, "both", CONNECTION),
    Row(pool_full, "both", TIME_OUT),
    Row(reply(429), "both", RateLimitError),
    Row(reply(429, retry_after="7"), "both", RateLimitError, wait=7.0),
    Row(reply(429, retry_after="0"), "both", RateLimitError, wait=0.0),
    Row(reply(429, retry_after="60"), "both", RateLimitError, wait=60.0),
    Row(reply(429, retry_after="61"), "none", RateLimitError),
    Row(reset, "reads", CONNECTION, UNKNOWN),
    Row(timed_out, "reads", TIME_OUT, UNKNOWN),
    Row(reply(408), "reads", sdk.APIError, UNKNOWN),
    Row(reply(500), "reads", sdk.ServerError, UNKNOWN),
    Row(reply(503, retry_after="3"), "reads", sdk.ServerError, UNKNOWN, 3.0),
    Row(reply(503, retry_after="61"), "none", sdk.ServerError, UNKNOWN),
    Row(reply(599), "reads", sdk.ServerError, UNKNOWN),
    Row(reply(200), "reads", UNEXPECTED, UNKNOWN),
    Row(undecodable, "reads", UNEXPECTED, UNKNOWN),
    Row(reply(302), "none", UNEXPECTED),
    Row(reply(401), "none", sdk.APIError),
    Row(NOT_FOUND, "none", NotFoundError),
    Row(reply(409), "none", sdk.ConflictError),
]
every_row = each("row", TABLE)


def attempts_of(error, name):
    return [attempt for attempt in error.attempts if attempt.operation == name]


def sends_of(driver):
    return [effect for effect in driver.effects if isinstance(effect, Send)]


@every_row
def test_a_failure_is_repeated_as_the_contract_says_and_no_more_often_than_allowed(row):
    for name in OPERATIONS:
        if name in WAITS:
            continue
        with case(name):
            driver = scripted_driver(row.failure, then=NOT_FOUND)
            error = driver.error(FerryError, name)
            assert len(attempts_of(error, name)) == (2 if row.is_again(name) else 1)
            assert len(error.attempts) == len(driver.requests)
            if row.is_again(name):
                assert type(error) is NotFoundError
                (wait,) = driver.waits
                assert wait == row.wait if row.wait is not None else 0 <= wait <= 0.5
            else:
                assert isinstance(error, row.error_of(name))
                assert driver.waits == []
            if row.write_kind is UNKNOWN and name in WRITES:  # only what a read shows is read back
                reads = [attempt.operation for attempt in error.attempts][1:]
                assert reads == [proof.read for proof in SAFETY[name].confirmed_by][-1:]
    for name, max_retries in product(FOR_EXAMPLE, [0, 1, 3]):
        with case(name, max_retries):
            count = max_retries + 1 if row.is_again(name) else 1
            driver = scripted_driver(*[row.failure] * count, then=NOT_FOUND)
            error = driver.error(FerryError, name, max_retries=max_retries, correlation_id="c-1")
            assert isinstance(error, row.error_of(name))
            assert len(attempts_of(error, name)) == count
            assert len(driver.waits) == count - 1
            assert (error.operation, error.correlation_id) == (name, "c-1")
            if isinstance(row.failure, Reply):
                status = row.failure.status_code
                is_refusal = 400 <= status < 500 and status != 408
                assert error.outcome == ("rejected" if is_refusal else "unknown")
                assert error.attempts[0].status_code == status
            else:
                assert error.outcome == row.failure().outcome
                assert error.attempts[0].sent == (error.outcome != "not_sent")


def test_different_failures_count_together_and_a_success_has_all_attempts():
    driver = scripted_driver(refused(), reply(429, retry_after="2"), timed_out())
    error = driver.error(UNKNOWN, "bookings.create")
    problems = [attempt.problem for attempt in error.attempts]
    assert problems == ["ConnectionFailedError", "RateLimitError", "RequestTimeoutError"]
    assert [attempt.sent for attempt in error.attempts] == [False, True, True]
    assert driver.waits[1] == 2.0
    driver = scripted_driver(
        reply(429, retry_after="5"),
        reply(503, retry_after="1", x_request_id="r-1"),
        reply(200, {"ports": []}, x_request_id="r-2"),
    )
    raw = driver.raw("catalogue.ports")
    assert list(raw.parse()) == []
    assert raw.attempts == (
        Attempt(True, 429, None, "RateLimitError", 5.0, "catalogue.ports"),
        Attempt(True, 503, "r-1", "ServerError", 1.0, "catalogue.ports"),
        Attempt(True, 200, "r-2", None, 0.0, "catalogue.ports"),
    )
    assert raw.elapsed == pytest.approx(3 * 0.25 + 6)
    driver = scripted_driver(then=reply(200, {"ports": 7}, x_request_id="r-1"))
    (attempt,) = driver.error(FerryError, "bookings.get", max_retries=0).attempts
    assert (attempt.status_code, attempt.request_id) == (200, "r-1")

    class Unreadable:
        def read(self, value):
            raise sdk.InvalidInputError("out of range", field="value")

    operation = replace(described("bookings.create"), answer=Unreadable())
    error = scripted_driver(good({})).error(UNKNOWN, operation)
    assert isinstance(error.__cause__, sdk.InvalidInputError)
    assert [attempt.sent for attempt in error.attempts] == [True]


@every_operation
def test_a_read_only_client_sends_no_write_and_what_is_no_failure_passes(name):
    driver = scripted_driver(NOT_FOUND)
    kind = NotFoundError if name in READS else sdk.ReadOnlyError
    error = driver.error(kind, name, read_only=True)
    assert (error.operation, len(driver.requests)) == (name, name in READS)
    if name in WRITES:
        assert (error.outcome, error.attempts, driver.effects) == ("not_sent", (), [])
    for stop in (KeyboardInterrupt(), RuntimeError()):
        assert scripted_driver(stop).error(type(stop), name) is stop
    steps = scripted_driver().steps(described(name), SETTINGS)
    next(steps)
    steps.close()
    assert list(steps) == [], "a call that is given up asks for nothing more"


SEEN = good(booking("ticketed", "Issued"))
UNSEEN = good(booking("issuance_due", "Pending"))
LOST = [reset, reply(503), UNSEEN, SEEN]
LOOKS = [*zip(["bookings.get"] * 3, [503, 200, 200], strict=True)]
WAITED = [*zip(["bookings.wait"] * 4, [None, 200, 503, 200], strict=True)]
GUARDED_LOOKS = [*product(["bookings.get", "bookings.confirm"], [None, 200])]
GUARDED = described("bookings.confirm", expect_total="148.18")
CONFIRMED = good(BOOKING_CONFIRMATION | {"booking_id": "b-1"})


@each(
    ("call", "replies", "attempts"),
    [
        ("bookings.confirm", LOST, [("bookings.confirm", None), *LOOKS]),
        ("mcp.confirm_booking", LOST, [("mcp.confirm_booking", None), *LOOKS]),
        ("bookings.wait", [reset, UNSEEN, reply(503), SEEN], WAITED),
        (GUARDED, [reset, good(booking()), refused, CONFIRMED], GUARDED_LOOKS),
    ],
)
def test_a_call_has_the_reads_it_made_as_well_and_the_time_they_took(call, replies, attempts):
    driver = scripted_driver(*replies)
    raw = driver.raw(call)
    assert [(attempt.operation, attempt.status_code) for attempt in raw.attempts] == attempts
    assert [attempt.sent for attempt in raw.attempts].count(False) == (call is GUARDED)
    waited = [attempt.waited for attempt in raw.attempts if attempt.waited]
    assert waited == [seconds for seconds in driver.waits if seconds]
    assert raw.elapsed == pytest.approx(driver.now - 1000)


def test_attempts_are_logged_and_what_is_tried_again_is_told(caplog):
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    driver = scripted_driver(refused(), reply(429, retry_after="5"), good({"ports": []}))
    raw = driver.raw("catalogue.ports")
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    attempts = [words for level, words in told if level == "DEBUG"]
    assert len(attempts) == len(raw.attempts) == 3
    assert "not sent" in attempts[0]
    assert "429" in attempts[1]
    _, again = [words for level, words in told if level == "INFO"]
    assert again.startswith(
        "catalogue.ports failed (RateLimitError, HTTP 429), next attempt in 5.00 s"
    )
    assert all(f"(correlation id {raw.correlation_id})" in words for _, words in told)
    for code, logged in (("TOO_BUSY", ", TOO_BUSY"), ("Ada Reyes sails already", "")):
        driver = scripted_driver(reply(503, {"code": code, "message": "-"}), good({"ports": []}))
        driver.raw("catalogue.ports")
        assert f"catalogue.ports failed (ServerError, HTTP 503{logged}), next" in caplog.text
    assert "Reyes" not in caplog.text, "a code that is a sentence is not logged"


def test_a_pause_that_the_client_is_closed_in_ends_the_call():
    driver = close_in_a_pause(scripted_driver(reply(429, retry_after="5")))
    assert driver.error(sdk.ConfigurationError, "bookings.create").outcome == "rejected"
    assert len(driver.requests) == 1


@each(("name", "body"), [("catalogue.ports", {"ports": []}), ("bookings.create", BOOKING_CREATED)])
def test_the_attempt_of_a_success_is_recorded_where_somebody_looks(name, body):
    for is_raw in (True, False):
        driver = scripted_driver(good(body, x_request_id="r-1"))
        context = Context.start(SETTINGS, driver.session, name, is_raw=is_raw)
        result = driver.walk(run(described(name), context))
        assert len(context.state.attempts) == is_raw
        # One who joins the call may look later.
        assert [attempt.request_id for attempt in result.raw().attempts] == ["r-1"]


@every_operation
def test_every_request_carries_what_the_settings_say_and_is_over_by_the_deadline(name):
    driver = scripted_driver(then=reply(404))
    told = {"language": "fr", "client_version": "7", "correlation_id": "c-1"}
    driver.error(FerryError, name, headers={"x-team": "harbour"}, **told)
    error = driver.error(FerryError, name)
    carried, bare = (
        {key.lower(): value for key, value in request.headers.items()}
        for request in driver.requests
    )
    assert (carried["accept-language"], carried["x-client-version"]) == ("fr", "7")
    assert (carried["x-client-correlation-id"], carried["x-team"]) == ("c-1", "harbour")
    assert carried["user-agent"] == f"ferry_sdk/{sdk.__version__}"
    assert not {"accept-language", "x-client-version"} & bare.keys()
    assert bare["x-client-correlation-id"] == error.correlation_id != "c-1"
    driver = scripted_driver(then=reply(404))
    driver.error(FerryError, name, deadline=7.0)
    driver.error(FerryError, name, timeout=Timeout(1, 2, 3, 4))
    first, second = sends_of(driver)
    assert first.until == ENDS.get(name, 1007.0)
    if name in WAITS:
        return
    assert (second.until, second.timeout) == (None, Timeout(1, 2, 3, 4))
    for failure in (refused, reset):  # for ever
        driver = scripted_driver(*[failure] * 400)
        driver.error(FerryError, name, deadline=5.0, max_retries=10_000)
        assert driver.now <= 1005.0
        assert driver.effects


def test_every_part_of_a_call_carries_the_same_and_a_failure_shows_no_headers_and_no_tokens():
    look = good(booking())
    driver = scripted_driver(reply(503), look, reply(429), reset, look, SEEN)
    raw = driver.raw(GUARDED, language="fr")
    assert len(driver.requests) == 6
    assert {request.headers["Accept-Language"] for request in driver.requests} == {"fr"}
    ids = {request.headers["x-client-correlation-id"] for request in driver.requests}
    assert ids == {raw.correlation_id}
    driver = scripted_driver(CONNECTION("the proxy does not know test-token"))
    error = driver.error(CONNECTION, "catalogue.ports", max_retries=0)
    assert "does not know [hidden]" in str(error)
    context = Context.start(replace(SETTINGS, headers={"x-team": "harbour"}), Session(), "a call")
    context.state.sent_tokens.append("a-token-that-was-sent")
    assert "harbour" not in repr(context)
    assert "a-token-that-was-sent" not in repr(context)


DATE = "Wed, 01 Mar 2028 08:00:00 GMT"
PORTS = described("catalogue.ports")


def test_waits_are_full_jitter_and_a_backoff_ends_before_the_deadline(monkeypatch):
    bounds = []

    def uniform(low, high):
        bounds.append((low, high))
        return high / 2

    monkeypatch.setattr("tenacity.wait.random.uniform", uniform)
    driver = scripted_driver(then=reply(503))
    driver.error(sdk.ServerError, PORTS, max_retries=2000)
    assert (bounds[:5], {*bounds[5:]}) == ([(0, high) for high in (0.5, 1, 2, 4, 8)], {(0, 8)})
    assert driver.waits == [0.25, 0.5, 1, 2, *[4] * 1996]
    assert len(driver.requests) == 2001
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high)
    driver = scripted_driver(then=reply(503))
    driver.error(sdk.ServerError, PORTS, max_retries=9, deadline=3.0)
    assert driver.waits == [0.5, 1]
    assert driver.now < 1003
    for failure in (refused(), reply(429, retry_after="100"), reset()):  # each is told, no deadline
        driver = scripted_driver(then=failure)
        driver.error((CONNECTION, RateLimitError), PORTS, deadline=0.26, max_retries=5)
        assert driver.now <= 1000.26
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high / 10)
    scripted_driver(reply(429), NOT_FOUND).error(NotFoundError, PORTS, deadline=0.75)


@each(
    ("asked", "date", "wait"),
    [
        *product(["0", "Wed, 01 Mar 2028 07:59:00 GMT"], [DATE], [0.0]),
        *product(["7", " 7 "], [DATE], [7.0]),
        ("1.5", DATE, 1.5),
        ("Wed, 01 Mar 2028 08:00:09 GMT", DATE, 9.0),
        ("Wed, 01 Mar 2028 09:00:09 +0100", DATE, 9.0),
        ("Wednesday, 01-Mar-28 08:00:09 GMT", DATE, 9.0),
        ("Wed Mar  1 08:00:09 2028", DATE, 9.0),
        *product(["Wed, 21 Oct 2015 07:28:00 GMT"], [None, "yesterday"], [0.0]),
    ],
)
@each("name", ["bookings.create", "catalogue.ports", "mcp.create_booking"])
def test_retry_after_is_waited_for_exactly(name, asked, date, wait):
    headers = {"retry_after": asked} | ({} if date is None else {"date": date})
    driver = scripted_driver(reply(429, **headers), NOT_FOUND)
    driver.error(NotFoundError, name)
    assert driver.waits == [wait]


def test_a_retry_after_without_a_date_goes_by_this_clock_and_no_more_than_a_minute_is_waited_for():
    with time_machine.travel(datetime(2028, 3, 1, 8, tzinfo=timezone.utc), tick=False):
        driver = scripted_driver(reply(429, retry_after="Wed, 01 Mar 2028 08:00:09 GMT"), NOT_FOUND)
        driver.error(NotFoundError, PORTS)
    assert driver.waits == [9.0]
    late = ("Wed, 01 Mar 2028 08:01:01 GMT", 61.0)
    bounds = [("60.1", 60.1), ("86400", 86400.0), late, ("9" * 400, float("inf"))]
    for status, (asked, seconds) in product([429, 503], bounds):
        driver = scripted_driver(reply(status, retry_after=asked, date=DATE))
        error = driver.error((RateLimitError, sdk.ServerError), PORTS)
        assert (status, error.retry_after, driver.waits) == (status, seconds, [])


@each(
    "asked",
    [
        *("", "soon", "-1", "٣", "1e3", "Wed,", "31 Feb", "inf", "nan", "1,5", "0x10", "Mon, 01"),
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    ],
)
def test_a_retry_after_that_cannot_be_read_leaves_the_backoff(asked):
    driver = scripted_driver(reply(429, retry_after=asked, date=DATE), NOT_FOUND)
    error = driver.error(NotFoundError, PORTS)
    (wait,) = driver.waits
    assert 0 <= wait <= 0.5
    assert error.attempts[0].waited == wait


@each(
    ("deadline", "asked", "is_waited_for"),
    [(10, "9", 1), (10, "9.75", 1), (10, "9.8", 0), (200, "180", 1), (0.5, "1", 0)],
)
@each("name", ["bookings.create", "bookings.confirm", "catalogue.ports"])
def test_with_a_deadline_what_is_left_of_it_bounds_the_wait(name, deadline, asked, is_waited_for):
    driver = scripted_driver(reply(429, retry_after=asked), NOT_FOUND)
    error = driver.error(FerryError, name, deadline=deadline)
    assert driver.waits == ([float(asked)] if is_waited_for else [])
    if not is_waited_for:
        assert isinstance(error, RateLimitError)
        assert error.retry_after == float(asked)
        assert driver.now == 1000.25


READ_BACK = ("bookings.confirm", "mcp.confirm_booking")
every_read_back = each("name", READ_BACK)
ENDS = dict.fromkeys(SHOWN, 1007 - 7 / 4) | dict.fromkeys(WAITS, 1060.0)
"""When the first exchange of 7 seconds' deadline is over, where it is not those 7 seconds."""


@each(
    ("timeout", "seen"),
    [
        (Timeout(1, 2, 3, 4), Timeout(1, 2, 2.5, 2.25)),
        (Timeout(None, None, None, None), Timeout(2.5, 2.5, 2.5, 2.25)),
        (Timeout(0.5, None, 0.5, None), Timeout(0.5, 2.5, 0.5, 2.25)),
        (Timeout(0.5, 2, 0.5, 1), Timeout(0.5, 2, 0.5, 1)),
    ],
)
def test_no_time_out_lasts_longer_than_the_deadline_and_that_of_a_pool_ends_before(timeout, seen):
    driver = scripted_driver(reply(404))
    driver.error(FerryError, "catalogue.ports", deadline=2.5, timeout=timeout)
    assert [sent.timeout for sent in sends_of(driver)] == [seen]


@each("name", ["bookings.create", "mcp.create_booking", "catalogue.ports"])
def test_a_token_that_comes_too_late_ends_the_call_as_not_sent(name):
    def too_late():
        driver.now += 5
        raise RequestTimeoutError("the deadline has passed")

    driver = scripted_driver()
    error = driver.error(RequestTimeoutError, name, token=Secret(too_late), deadline=5.0)
    assert (error.outcome, driver.requests, driver.now) == ("not_sent", [], 1005.0)


@every_read_back
def test_a_write_is_read_back_until_the_deadline_for_which_a_part_of_what_is_left_is_kept(name):
    driver = scripted_driver(reset(), then=good(booking("payment_due", "Pending")))
    driver.error(UNKNOWN, name, deadline=100.0)
    assert 1099 < driver.now <= 1100
    ends = [effect.until for effect in sends_of(driver)]
    assert ends == [1095.0] + [1100.0] * (len(ends) - 1)
    driver = scripted_driver(timed_out(), then=SEEN)
    driver.latency = 2.0
    driver.error(UNKNOWN, name, deadline=3.0)
    assert (driver.now, len(driver.requests)) == (1003.0, 2), "the deadline cuts a look"

    def too_late(_):
        driver.now = 1002.0
        raise timed_out()

    driver = scripted_driver(too_late)
    error = driver.error(UNKNOWN, name, deadline=2.0)
    assert len(driver.requests) == len(error.attempts) == 1
    driver = scripted_driver(reply(429, retry_after="5.75"), reply(404))
    driver.error(NotFoundError, name, deadline=10.0)
    first, second = sends_of(driver)
    assert (first.until, second.until, second.timeout.read) == (1007.5, 1009.0, 3.0)


@each(("deadline", "reserve"), [(100.0, 5.0), (20.0, 5.0), (8.0, 2.0), (1.0, 0.25)])
@each("name", SHOWN)
def test_a_reply_that_does_not_come_is_given_up_in_time_to_read_back(name, deadline, reserve):
    def too_late(_):
        driver.now = 1000 + deadline - reserve
        raise timed_out()

    driver = scripted_driver(too_late, good(SHOWN[name]))
    driver.latency = 0.01
    assert driver.raw(name, deadline=deadline).parse().read_back
    first, _ = sends_of(driver)
    assert first.until == 1000 + deadline - reserve


def test_a_deadline_ends_turns_and_questions_and_what_it_ends_before_the_write_is_not_sent():
    driver = Driven(
        replied(result={"protocolVersion": "2025-11-25"}),
        replied(result={"structuredContent": MCP_TICKET | {"id": "t-1"}}),
    )
    driver.raw("mcp.view_ticket", token=Secret(lambda: "t"), deadline=9.0)
    confirming = scripted_driver(reply(404))
    confirming.error(FerryError, "bookings.confirm", deadline=9.0)
    effects = driver.effects + confirming.effects
    assert {type(effect) for effect in effects} == {CallUser, Exclusive, Send, SingleFlight}
    assert {effect.until for effect in effects} == {1009.0, 1009 - 9 / 4}
    driver = scripted_driver(then=good(booking("payment_due")))
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60), deadline=1.0)
    assert 1059 < driver.now <= 1060
    driver = scripted_driver(reply(429, retry_after="0.75"))
    with pytest.raises(RequestTimeoutError, match="deadline") as info:
        driver.raw("bookings.create", deadline=1.0)
    assert info.value.outcome == "not_sent"
    assert [attempt.sent for attempt in info.value.attempts] == [True, False]
    assert len(driver.requests) == 1
    for latency, deadline in ((1.0, 1.0), (0.25, 0.2)):  # used up by a guard
        driver = scripted_driver(good(booking()))
        driver.latency = latency
        assert driver.error(RequestTimeoutError, GUARDED, deadline=deadline).outcome == "not_sent"
        assert driver.paths == ["/api/booking/b-1"]
