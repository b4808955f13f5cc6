"""What a call does about each failure, how often it is made, and what its deadline ends."""

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
import time_machine

import ferry_sdk as sdk
from ferry_sdk import SAFETY, FerryError, NotFoundError, RateLimitError, RequestTimeoutError
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import CallUser, Exclusive, Send, SingleFlight
from ferry_sdk._engine.flow import run
from ferry_sdk._engine.headers import RESERVED
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

WAITS = ("bookings.wait", "tickets.wait_pdf")
"""They outlive failures, and have tests of their own."""
READS = [name for name in OPERATIONS if SAFETY[name].is_read]
WRITES = [name for name in OPERATIONS if not SAFETY[name].is_read]
FOR_EXAMPLE = ("catalogue.ports", "bookings.confirm", "mcp.ports", "mcp.confirm_booking")
NOT_FOUND = reply(404)
"""Ends every call at once, whatever its protocol."""
every_operation = pytest.mark.parametrize("name", OPERATIONS)


@dataclass(frozen=True)
class Row:
    """A failure, which operations are repeated after it, and the errors of reads and writes."""

    failure: Any
    again: str
    kind: type[FerryError]
    write_kind: type[FerryError] | None = None
    wait: float | None = None

    def is_again(self, name):
        return self.again == "both" or (self.again == "reads" and SAFETY[name].is_read)

    def error_of(self, name):
        return self.kind if SAFETY[name].is_read else self.write_kind or self.kind


UNKNOWN = sdk.OutcomeUnknownError
UNEXPECTED = sdk.UnexpectedResponseError
CONNECTION = sdk.ConnectionFailedError
TABLE = {
    "connection refused": Row(refused, "both", CONNECTION),
    "pool full": Row(pool_full, "both", RequestTimeoutError),
    "429": Row(reply(429), "both", RateLimitError),
    "429 for 7 s": Row(reply(429, retry_after="7"), "both", RateLimitError, wait=7.0),
    "429 for 0 s": Row(reply(429, retry_after="0"), "both", RateLimitError, wait=0.0),
    "429 for 60 s": Row(reply(429, retry_after="60"), "both", RateLimitError, wait=60.0),
    "429 for 61 s": Row(reply(429, retry_after="61"), "none", RateLimitError),
    "connection reset": Row(reset, "reads", CONNECTION, UNKNOWN),
    "timed out": Row(timed_out, "reads", RequestTimeoutError, UNKNOWN),
    "408": Row(reply(408), "reads", sdk.APIError, UNKNOWN),
    "500": Row(reply(500), "reads", sdk.ServerError, UNKNOWN),
    "503 for 3 s": Row(reply(503, retry_after="3"), "reads", sdk.ServerError, UNKNOWN, wait=3.0),
    "503 for 61 s": Row(reply(503, retry_after="61"), "none", sdk.ServerError, UNKNOWN),
    "599": Row(reply(599), "reads", sdk.ServerError, UNKNOWN),
    "200 without a body": Row(reply(200), "reads", UNEXPECTED, UNKNOWN),
    "undecodable": Row(undecodable, "reads", UNEXPECTED, UNKNOWN),
    "302": Row(reply(302), "none", UNEXPECTED),
    "401": Row(reply(401), "none", sdk.APIError),
    "404": Row(NOT_FOUND, "none", NotFoundError),
    "409": Row(reply(409), "none", sdk.ConflictError),
}
every_row = pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)


def attempts_of(error, name):
    return [attempt for attempt in error.attempts if attempt.operation == name]


def sends_of(driver):
    return [effect for effect in driver.effects if isinstance(effect, Send)]


# Which failures are repeated


@every_row
def test_every_operation_is_repeated_as_its_row_says(row):
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


UNKNOWN_ROWS = {id_: row for id_, row in TABLE.items() if row.write_kind is UNKNOWN}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("row", UNKNOWN_ROWS.values(), ids=UNKNOWN_ROWS)
def test_unknown_write_is_read_back_if_possible(row, name):
    error = scripted_driver(row.failure, then=NOT_FOUND).error(FerryError, name)
    reads = [attempt.operation for attempt in error.attempts][1:]
    assert reads == [proof.read for proof in SAFETY[name].confirmed_by][-1:]


@every_row
def test_call_is_repeated_at_most_max_retries_times(row):
    for name, max_retries in product(FOR_EXAMPLE, [0, 1, 3]):
        with case(name, max_retries):
            count = max_retries + 1 if row.is_again(name) else 1
            driver = scripted_driver(*[row.failure] * count, then=NOT_FOUND)
            error = driver.error(FerryError, name, max_retries=max_retries, correlation_id="c-1")
            assert isinstance(error, row.error_of(name))
            assert len(attempts_of(error, name)) == count
            assert len(driver.waits) == count - 1
            assert (error.operation, error.correlation_id) == (name, "c-1")


@every_row
@pytest.mark.parametrize("name", FOR_EXAMPLE)
def test_error_has_the_outcome_of_its_failure(row, name):
    driver = scripted_driver(row.failure, then=NOT_FOUND)
    error = driver.error(FerryError, name, max_retries=0)
    if isinstance(row.failure, Reply):
        status = row.failure.status_code
        is_refusal = 400 <= status < 500 and status != 408
        assert error.outcome == ("rejected" if is_refusal else "unknown")
        assert error.attempts[0].status_code == status
    else:
        assert error.outcome == row.failure().outcome
        assert error.attempts[0].sent == (error.outcome != "not_sent")


def test_different_failures_count_together():
    driver = scripted_driver(refused(), reply(429, retry_after="2"), timed_out())
    error = driver.error(UNKNOWN, "bookings.create")
    problems = [attempt.problem for attempt in error.attempts]
    assert problems == ["ConnectionFailedError", "RateLimitError", "RequestTimeoutError"]
    assert [attempt.sent for attempt in error.attempts] == [False, True, True]
    assert driver.waits[1] == 2.0


@pytest.mark.parametrize("name", READS)
def test_read_only_client_sends_reads(name):
    driver = scripted_driver(NOT_FOUND)
    error = driver.error(NotFoundError, name, read_only=True)
    assert (error.operation, len(driver.requests)) == (name, 1)


@pytest.mark.parametrize("name", WRITES)
def test_read_only_client_sends_no_write(name):
    driver = scripted_driver(NOT_FOUND)
    error = driver.error(sdk.ReadOnlyError, name, read_only=True)
    assert (error.operation, driver.requests) == (name, [])
    assert (error.outcome, error.attempts, driver.effects) == ("not_sent", (), [])


@every_operation
@pytest.mark.parametrize("stop", [KeyboardInterrupt(), RuntimeError()], ids=repr)
def test_what_is_no_failure_passes(name, stop):
    assert scripted_driver(stop).error(type(stop), name) is stop


@every_operation
def test_call_that_is_given_up_yields_no_effect(name):
    steps = scripted_driver().steps(described(name), SETTINGS)
    next(steps)
    steps.close()
    assert list(steps) == []


# What a result and an error say about their attempts


def test_success_has_all_attempts():
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


def test_unreadable_reply_keeps_status_with_request_id():
    driver = scripted_driver(then=reply(200, {"ports": 7}, x_request_id="r-1"))
    (attempt,) = driver.error(FerryError, "bookings.get", max_retries=0).attempts
    assert (attempt.status_code, attempt.request_id) == (200, "r-1")


def test_error_of_a_parser_leaves_a_write_unknown():
    class Unreadable:
        def read(self, value):
            raise sdk.InvalidInputError("out of range", field="value")

    operation = replace(described("bookings.create"), answer=Unreadable())
    error = scripted_driver(good({})).error(UNKNOWN, operation)
    assert isinstance(error.__cause__, sdk.InvalidInputError)
    assert [attempt.sent for attempt in error.attempts] == [True]


SEEN = good(booking("ticketed", "Issued"))
UNSEEN = good(booking("issuance_due", "Pending"))
GUARDED = described("bookings.confirm", expect_total="148.18")
CONFIRMED = good(BOOKING_CONFIRMATION | {"booking_id": "b-1"})


@pytest.mark.parametrize(
    ("call", "replies", "attempts"),
    [
        pytest.param(
            "bookings.confirm",
            [reset, reply(503), UNSEEN, SEEN],
            [
                ("bookings.confirm", None),
                ("bookings.get", 503),
                ("bookings.get", 200),
                ("bookings.get", 200),
            ],
            id="read back",
        ),
        pytest.param(
            "mcp.confirm_booking",
            [reset, reply(503), UNSEEN, SEEN],
            [
                ("mcp.confirm_booking", None),
                ("bookings.get", 503),
                ("bookings.get", 200),
                ("bookings.get", 200),
            ],
            id="read back of a tool",
        ),
        pytest.param(
            "bookings.wait",
            [reset, UNSEEN, reply(503), SEEN],
            [
                ("bookings.wait", None),
                ("bookings.wait", 200),
                ("bookings.wait", 503),
                ("bookings.wait", 200),
            ],
            id="wait",
        ),
        pytest.param(
            GUARDED,
            [reset, good(booking()), refused, CONFIRMED],
            [
                ("bookings.get", None),
                ("bookings.get", 200),
                ("bookings.confirm", None),
                ("bookings.confirm", 200),
            ],
            id="guard",
        ),
    ],
)
def test_attempts_include_the_reads_of_a_call(call, replies, attempts):
    driver = scripted_driver(*replies)
    raw = driver.raw(call)
    assert [(attempt.operation, attempt.status_code) for attempt in raw.attempts] == attempts
    assert [attempt.sent for attempt in raw.attempts].count(False) == (call is GUARDED)
    waited = [attempt.waited for attempt in raw.attempts if attempt.waited]
    assert waited == [seconds for seconds in driver.waits if seconds]
    assert raw.elapsed == pytest.approx(driver.now - 1000)


@pytest.fixture
def debug_log(caplog):
    """Give the log of the library from the level DEBUG."""
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    return caplog


def test_attempts_are_logged(debug_log):
    driver = scripted_driver(refused(), reply(429, retry_after="5"), good({"ports": []}))
    raw = driver.raw("catalogue.ports")
    records = [(record.levelname, record.getMessage()) for record in debug_log.records]
    attempts = [message for level, message in records if level == "DEBUG"]
    assert len(attempts) == len(raw.attempts) == 3
    assert "not sent" in attempts[0]
    assert "429" in attempts[1]
    assert all(f"(correlation id {raw.correlation_id})" in message for _, message in records)


def test_each_retry_is_logged(debug_log):
    driver = scripted_driver(refused(), reply(429, retry_after="5"), good({"ports": []}))
    driver.raw("catalogue.ports")
    retries = [record.getMessage() for record in debug_log.records if record.levelname == "INFO"]
    _, second, _end = retries
    assert second.startswith(
        "catalogue.ports failed (RateLimitError, HTTP 429), next attempt in 5.00 s"
    )


@pytest.mark.parametrize(
    ("code", "logged"),
    [
        pytest.param("TOO_BUSY", ", TOO_BUSY", id="code"),
        pytest.param("Ada Reyes sails already", "", id="sentence"),
    ],
)
def test_code_is_logged_unless_it_is_a_sentence(code, logged, debug_log):
    driver = scripted_driver(reply(503, {"code": code, "message": "-"}), good({"ports": []}))
    driver.raw("catalogue.ports")
    assert f"catalogue.ports failed (ServerError, HTTP 503{logged}), next" in debug_log.text
    assert "Reyes" not in debug_log.text


def test_client_closed_in_a_pause_ends_the_call():
    driver = close_in_a_pause(scripted_driver(reply(429, retry_after="5")))
    assert driver.error(sdk.ConfigurationError, "bookings.create").outcome == "rejected"
    assert len(driver.requests) == 1


@pytest.mark.parametrize("is_raw", [True, False], ids=["raw", "not raw"])
@pytest.mark.parametrize(
    ("name", "body"),
    [("catalogue.ports", {"ports": []}), ("bookings.create", BOOKING_CREATED)],
    ids=["read", "write"],
)
def test_attempt_of_a_success_is_recorded_for_raw(name, body, is_raw):
    driver = scripted_driver(good(body, x_request_id="r-1"))
    context = Context.start(SETTINGS, driver.session, name, is_raw=is_raw)
    result = driver.walk(run(described(name), context))
    assert len(context.state.attempts) == is_raw
    # A caller who joins the call may look later.
    assert [attempt.request_id for attempt in result.raw().attempts] == ["r-1"]


# Headers


def headers_of(request):
    return {name.lower(): value for name, value in request.headers.items()}


@every_operation
def test_request_carries_what_the_settings_say(name):
    driver = scripted_driver(then=NOT_FOUND)
    driver.error(
        FerryError,
        name,
        headers={"x-team": "harbour"},
        language="fr",
        client_version="7",
        correlation_id="c-1",
    )
    (request,) = driver.requests
    headers = headers_of(request)
    assert (headers["accept-language"], headers["x-client-version"]) == ("fr", "7")
    assert (headers["x-client-correlation-id"], headers["x-team"]) == ("c-1", "harbour")
    assert headers["user-agent"] == f"ferry_sdk/{sdk.__version__}"


@every_operation
def test_request_carries_nothing_that_is_not_set(name):
    driver = scripted_driver(then=NOT_FOUND)
    error = driver.error(FerryError, name)
    (request,) = driver.requests
    headers = headers_of(request)
    assert not {"accept-language", "x-client-version"} & headers.keys()
    assert headers["x-client-correlation-id"] == error.correlation_id


@pytest.mark.parametrize("name", FOR_EXAMPLE)
def test_user_may_not_set_what_the_library_sets(name):
    """The name and version of the library are the exception."""
    driver = scripted_driver(then=NOT_FOUND)
    driver.error(FerryError, name, language="fr", client_version="7")
    (request,) = driver.requests
    assert headers_of(request).keys() - RESERVED == {"user-agent"}


def test_every_request_of_a_call_carries_the_same():
    look = good(booking())
    driver = scripted_driver(reply(503), look, reply(429), reset, look, SEEN)
    raw = driver.raw(GUARDED, language="fr")
    assert len(driver.requests) == 6
    assert {request.headers["Accept-Language"] for request in driver.requests} == {"fr"}
    ids = {request.headers["x-client-correlation-id"] for request in driver.requests}
    assert ids == {raw.correlation_id}


def test_error_shows_no_token():
    driver = scripted_driver(CONNECTION("the proxy does not know test-token"))
    error = driver.error(CONNECTION, "catalogue.ports", max_retries=0)
    assert "does not know [hidden]" in str(error)


def test_context_shows_no_headers_or_tokens():
    context = Context.start(replace(SETTINGS, headers={"x-team": "harbour"}), Session(), "a call")
    context.state.sent_tokens.append("a-token-that-was-sent")
    assert "harbour" not in repr(context)
    assert "a-token-that-was-sent" not in repr(context)


# Delays

DATE = "Wed, 01 Mar 2028 08:00:00 GMT"
PORTS = described("catalogue.ports")


def test_delays_are_full_jitter(monkeypatch):
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


def test_delay_ends_before_the_deadline(monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high)
    driver = scripted_driver(then=reply(503))
    driver.error(sdk.ServerError, PORTS, max_retries=9, deadline=3.0)
    assert driver.waits == [0.5, 1]
    assert driver.now < 1003


@pytest.mark.parametrize(
    "failure",
    [refused(), reply(429, retry_after="100"), reset()],
    ids=["connection refused", "429", "connection reset"],
)
def test_failure_is_raised_if_no_delay_fits(failure, monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high)
    driver = scripted_driver(then=failure)
    driver.error((CONNECTION, RateLimitError), PORTS, deadline=0.26, max_retries=5)
    assert driver.now <= 1000.26


def test_short_delay_fits_before_the_deadline(monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda _, high: high / 10)
    scripted_driver(reply(429), NOT_FOUND).error(NotFoundError, PORTS, deadline=0.75)


@pytest.mark.parametrize("name", ["bookings.create", "catalogue.ports", "mcp.create_booking"])
@pytest.mark.parametrize(
    ("retry_after", "date", "wait"),
    [
        pytest.param("0", DATE, 0.0, id="0"),
        pytest.param("7", DATE, 7.0, id="7"),
        pytest.param(" 7 ", DATE, 7.0, id="7 with spaces"),
        pytest.param("1.5", DATE, 1.5, id="1.5"),
        pytest.param("Wed, 01 Mar 2028 07:59:00 GMT", DATE, 0.0, id="past date"),
        pytest.param("Wed, 01 Mar 2028 08:00:09 GMT", DATE, 9.0, id="date"),
        pytest.param("Wed, 01 Mar 2028 09:00:09 +0100", DATE, 9.0, id="date in a zone"),
        pytest.param("Wednesday, 01-Mar-28 08:00:09 GMT", DATE, 9.0, id="date of RFC 850"),
        pytest.param("Wed Mar  1 08:00:09 2028", DATE, 9.0, id="date of asctime"),
        pytest.param("Wed, 21 Oct 2015 07:28:00 GMT", None, 0.0, id="no date to compare"),
        pytest.param("Wed, 21 Oct 2015 07:28:00 GMT", "yesterday", 0.0, id="no valid date"),
    ],
)
def test_retry_after_is_waited_for_exactly(name, retry_after, date, wait):
    headers = {"retry_after": retry_after}
    if date is not None:
        headers["date"] = date
    driver = scripted_driver(reply(429, **headers), NOT_FOUND)
    driver.error(NotFoundError, name)
    assert driver.waits == [wait]


def test_retry_after_without_date_goes_by_this_clock():
    with time_machine.travel(datetime(2028, 3, 1, 8, tzinfo=UTC), tick=False):
        driver = scripted_driver(reply(429, retry_after="Wed, 01 Mar 2028 08:00:09 GMT"), NOT_FOUND)
        driver.error(NotFoundError, PORTS)
    assert driver.waits == [9.0]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        pytest.param("60.1", 60.1, id="60.1"),
        pytest.param("86400", 86400.0, id="a day"),
        pytest.param("Wed, 01 Mar 2028 08:01:01 GMT", 61.0, id="date"),
        pytest.param("9" * 400, float("inf"), id="infinite"),
    ],
)
def test_more_than_a_minute_is_not_waited_for(status, retry_after, seconds):
    driver = scripted_driver(reply(status, retry_after=retry_after, date=DATE))
    error = driver.error((RateLimitError, sdk.ServerError), PORTS)
    assert (status, error.retry_after, driver.waits) == (status, seconds, [])


@pytest.mark.parametrize(
    "retry_after",
    [
        "",
        "soon",
        "-1",
        "٣",
        "1e3",
        "Wed,",
        "31 Feb",
        "inf",
        "nan",
        "1,5",
        "0x10",
        "Mon, 01",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    ],
)
def test_invalid_retry_after_leaves_the_backoff(retry_after):
    driver = scripted_driver(reply(429, retry_after=retry_after, date=DATE), NOT_FOUND)
    error = driver.error(NotFoundError, PORTS)
    (wait,) = driver.waits
    assert 0 <= wait <= 0.5
    assert error.attempts[0].waited == wait


@pytest.mark.parametrize("name", ["bookings.create", "bookings.confirm", "catalogue.ports"])
@pytest.mark.parametrize(
    ("deadline", "retry_after"), [(10, "9"), (10, "9.75"), (200, "180")], ids=str
)
def test_retry_after_before_the_deadline_is_waited_for(name, deadline, retry_after):
    driver = scripted_driver(reply(429, retry_after=retry_after), NOT_FOUND)
    driver.error(FerryError, name, deadline=deadline)
    assert driver.waits == [float(retry_after)]


@pytest.mark.parametrize("name", ["bookings.create", "bookings.confirm", "catalogue.ports"])
@pytest.mark.parametrize(("deadline", "retry_after"), [(10, "9.8"), (0.5, "1")], ids=str)
def test_retry_after_beyond_the_deadline_is_raised(name, deadline, retry_after):
    driver = scripted_driver(reply(429, retry_after=retry_after), NOT_FOUND)
    error = driver.error(FerryError, name, deadline=deadline)
    assert driver.waits == []
    assert isinstance(error, RateLimitError)
    assert error.retry_after == float(retry_after)
    assert driver.now == 1000.25


# The deadline

READ_BACK = ("bookings.confirm", "mcp.confirm_booking")
every_read_back = pytest.mark.parametrize("name", READ_BACK)
ENDS = dict.fromkeys(SHOWN, 1007 - 7 / 4) | dict.fromkeys(WAITS, 1060.0)
"""When the first exchange of 7 seconds' deadline is over, where it is not those 7 seconds."""


@every_operation
def test_request_ends_by_the_deadline(name):
    driver = scripted_driver(then=NOT_FOUND)
    driver.error(FerryError, name, deadline=7.0)
    (request,) = sends_of(driver)
    assert request.until == ENDS.get(name, 1007.0)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in WAITS])
def test_request_has_the_timeout_of_the_settings(name):
    driver = scripted_driver(then=NOT_FOUND)
    driver.error(FerryError, name, timeout=Timeout(1, 2, 3, 4))
    (request,) = sends_of(driver)
    assert (request.until, request.timeout) == (None, Timeout(1, 2, 3, 4))


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in WAITS])
@pytest.mark.parametrize("failure", [refused, reset], ids=["refused", "reset"])
def test_endless_retries_end_by_the_deadline(name, failure):
    driver = scripted_driver(*[failure] * 400)
    driver.error(FerryError, name, deadline=5.0, max_retries=10_000)
    assert driver.now <= 1005.0
    assert driver.effects


@pytest.mark.parametrize(
    ("timeout", "expected"),
    [
        pytest.param(Timeout(1, 2, 3, 4), Timeout(1, 2, 2.5, 2.25), id="some are longer"),
        pytest.param(Timeout(None, None, None, None), Timeout(2.5, 2.5, 2.5, 2.25), id="no limits"),
        pytest.param(Timeout(0.5, None, 0.5, None), Timeout(0.5, 2.5, 0.5, 2.25), id="some limits"),
        pytest.param(Timeout(0.5, 2, 0.5, 1), Timeout(0.5, 2, 0.5, 1), id="all are shorter"),
    ],
)
def test_no_timeout_is_later_than_the_deadline(timeout, expected):
    """The wait for a connection ends before, so that its error tells that nothing was sent."""
    driver = scripted_driver(NOT_FOUND)
    driver.error(FerryError, "catalogue.ports", deadline=2.5, timeout=timeout)
    assert [sent.timeout for sent in sends_of(driver)] == [expected]


@pytest.mark.parametrize("name", ["bookings.create", "mcp.create_booking", "catalogue.ports"])
def test_late_token_ends_the_call_as_not_sent(name):
    def too_late():
        driver.now += 5
        raise RequestTimeoutError("the deadline has passed")

    driver = scripted_driver()
    error = driver.error(RequestTimeoutError, name, token=Secret(too_late), deadline=5.0)
    assert (error.outcome, driver.requests, driver.now) == ("not_sent", [], 1005.0)


@every_read_back
def test_write_is_read_back_until_the_deadline(name):
    driver = scripted_driver(reset(), then=good(booking("payment_due", "Pending")))
    driver.error(UNKNOWN, name, deadline=100.0)
    assert 1099 < driver.now <= 1100
    ends = [effect.until for effect in sends_of(driver)]
    assert ends == [1095.0] + [1100.0] * (len(ends) - 1)


@every_read_back
def test_deadline_cuts_a_look(name):
    driver = scripted_driver(timed_out(), then=SEEN)
    driver.latency = 2.0
    driver.error(UNKNOWN, name, deadline=3.0)
    assert (driver.now, len(driver.requests)) == (1003.0, 2)


@every_read_back
def test_nothing_is_read_after_the_deadline(name):
    def too_late(_):
        driver.now = 1002.0
        raise timed_out()

    driver = scripted_driver(too_late)
    error = driver.error(UNKNOWN, name, deadline=2.0)
    assert len(driver.requests) == len(error.attempts) == 1


@every_read_back
def test_each_attempt_keeps_a_reserve_for_reading(name):
    driver = scripted_driver(reply(429, retry_after="5.75"), NOT_FOUND)
    driver.error(NotFoundError, name, deadline=10.0)
    first, second = sends_of(driver)
    assert (first.until, second.until, second.timeout.read) == (1007.5, 1009.0, 3.0)


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize(
    ("deadline", "reserve"), [(100.0, 5.0), (20.0, 5.0), (8.0, 2.0), (1.0, 0.25)]
)
def test_missing_reply_leaves_time_to_read_back(name, deadline, reserve):
    def too_late(_):
        driver.now = 1000 + deadline - reserve
        raise timed_out()

    driver = scripted_driver(too_late, good(SHOWN[name]))
    driver.latency = 0.01
    assert driver.raw(name, deadline=deadline).parse().read_back
    first, _ = sends_of(driver)
    assert first.until == 1000 + deadline - reserve


def test_every_effect_ends_by_the_deadline():
    driver = Driven(
        replied(result={"protocolVersion": "2025-11-25"}),
        replied(result={"structuredContent": MCP_TICKET | {"id": "t-1"}}),
    )
    driver.raw("mcp.view_ticket", token=Secret(lambda: "t"), deadline=9.0)
    confirming = scripted_driver(NOT_FOUND)
    confirming.error(FerryError, "bookings.confirm", deadline=9.0)
    effects = driver.effects + confirming.effects
    assert {type(effect) for effect in effects} == {CallUser, Exclusive, Send, SingleFlight}
    assert {effect.until for effect in effects} == {1009.0, 1009 - 9 / 4}


def test_wait_has_its_own_deadline():
    driver = scripted_driver(then=good(booking("payment_due")))
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60), deadline=1.0)
    assert 1059 < driver.now <= 1060


def test_deadline_that_a_delay_uses_up_sends_nothing():
    driver = scripted_driver(reply(429, retry_after="0.75"))
    with pytest.raises(RequestTimeoutError, match="deadline") as info:
        driver.raw("bookings.create", deadline=1.0)
    assert info.value.outcome == "not_sent"
    assert [attempt.sent for attempt in info.value.attempts] == [True, False]
    assert len(driver.requests) == 1


@pytest.mark.parametrize(("latency", "deadline"), [(1.0, 1.0), (0.25, 0.2)])
def test_deadline_that_a_guard_uses_up_sends_nothing(latency, deadline):
    driver = scripted_driver(good(booking()))
    driver.latency = latency
    assert driver.error(RequestTimeoutError, GUARDED, deadline=deadline).outcome == "not_sent"
    assert driver.paths == ["/api/booking/b-1"]
