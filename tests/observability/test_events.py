"""What hooks are told of calls that go well and of calls that do not, over real connections."""

import re
import time
from functools import partial
from urllib.parse import urlsplit

import pytest

from ferry_sdk import AsyncFerry, Ferry, correlation, errors
from ferry_sdk._protocols.rest import Rest
from tests.backend.gathering import at_once, eventually
from tests.backend.test_cancellation import by_scope
from tests.observability.conftest import CANARIES, NAMES, call_in_vain
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.operations import OPERATIONS, described
from tests.support.tables import each
from tests.support.tiers import mostly_long


def test_a_call_is_a_request_a_response_and_an_outcome(make_client, event_log, ferry_sandbox):
    ferry = make_client()
    with correlation("order-4711"):
        ferry.catalogue.ports()
    request, response, outcome = event_log.events
    assert request.call is response.request.call is outcome.call
    assert request.call.correlation_id == "order-4711"
    assert request.call.operation == request.operation == "catalogue.ports"
    assert request.attempt == 1
    assert (request.protocol, request.method, request.route) == ("REST", "GET", "/api/port")
    there = urlsplit(ferry_sandbox.base_url)
    assert (request.host, request.port) == (there.hostname, there.port)
    assert response.request is request
    assert (response.status_code, response.problem) == (200, None)
    assert 0 < response.seconds <= outcome.seconds < 30
    assert (outcome.outcome, outcome.problem, outcome.read_back) == ("done", None, False)
    assert [attempt.request_id for attempt in outcome.attempts] == [response.request_id]
    ferry.with_options(deadline=20).catalogue.ports()
    raw = ferry.with_raw_response.catalogue.ports()
    assert event_log.kinds == ["request", "response", "outcome"] * 3
    assert event_log.events[-1].call.correlation_id == raw.correlation_id
    ferry = make_client()
    ferry.catalogue.ports()  # the first call of a process imports what calls need
    event_log.events.clear()
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=20)
    caught(errors.RequestTimeoutError, ferry.with_options(deadline=0.3).catalogue.ports)
    assert event_log.kinds == ["request", "response", "outcome"]
    assert event_log.responses[0].problem == "RequestTimeoutError"
    assert 0 < event_log.responses[0].seconds < 20
    assert event_log.outcome.outcome == "unknown"
    event_log.events.clear()
    caught(errors.ReadOnlyError, ferry.with_options(read_only=True).bookings.confirm, "b-1")
    assert event_log.kinds == ["outcome"]
    assert (event_log.outcome.outcome, event_log.outcome.problem) == ("not_sent", "ReadOnlyError")
    call_in_vain(make_client())
    text = repr(event_log.events)
    assert len(event_log.events) >= 15
    for canary in (*CANARIES, ferry_sandbox.token):
        assert canary not in text


def test_the_seconds_of_an_exchange_leave_out_those_of_the_hooks(event_log, ferry_sandbox):
    hooks = {**event_log.hooks, "request": [lambda _: time.sleep(0.1)]}
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, event_hooks=hooks) as ferry:
        ferry.catalogue.ports()
    assert event_log.outcome.seconds - event_log.responses[0].seconds >= 0.1


def test_a_retry_is_told_between_the_attempts(make_client, event_log, ferry_sandbox):
    ferry_sandbox.faults.add("rate_limited", "catalogue.ports", retry_after=0)
    ferry_sandbox.faults.add("cut_before", "catalogue.ports")
    make_client().catalogue.ports()
    both = ["request", "response"]
    assert event_log.kinds == [*both, "retry", *both, "retry", *both, "outcome"]
    assert [request.attempt for request in event_log.requests] == [1, 2, 3]
    assert [retry.attempt for retry in event_log.retries] == [1, 2]
    statuses = [response.status_code for response in event_log.responses]
    assert {*statuses} == {200, 429, None}
    problems = {retry.problem for retry in event_log.retries}
    assert problems == {"RateLimitError", "ConnectionFailedError"}
    assert [retry.status_code for retry in event_log.retries] == statuses[:2]
    waited = [attempt.waited for attempt in event_log.outcome.attempts[:2]]
    assert waited == [retry.wait for retry in event_log.retries]


def test_a_lost_reply_and_its_reading_back_are_one_call(
    make_client, event_log, ferry_sandbox, booking_id
):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get")
    assert make_client().bookings.confirm(booking_id).read_back
    assert [(one.operation, one.attempt, one.route) for one in event_log.requests] == [
        ("bookings.confirm", 1, "/api/booking/confirm"),
        ("bookings.get", 1, "/api/booking/{id}"),
        ("bookings.get", 2, "/api/booking/{id}"),
    ]
    assert event_log.responses[0].problem == "ConnectionFailedError"
    assert event_log.responses[0].status_code is None
    assert {event.call for event in event_log.requests} == {event_log.outcome.call}
    assert (event_log.outcome.outcome, event_log.outcome.read_back) == ("done", True)


@pytest.mark.usefixtures("look_once")
def test_what_cannot_be_known_is_unknown_and_recovering_is_a_call_of_its_own(
    make_client, event_log, ferry_sandbox, booking_id
):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    ferry = make_client()
    error = caught(errors.OutcomeUnknownError, ferry.bookings.confirm, booking_id)
    told = event_log.outcome
    assert (told.outcome, told.problem) == ("unknown", "OutcomeUnknownError")
    assert told.attempts == error.attempts
    assert len(event_log.retries) == len(event_log.requests) - 2 > 0
    ferry_sandbox.faults.clear()
    event_log.events.clear()
    ferry.recover(error)
    assert event_log.kinds == ["request", "response", "outcome"]
    assert event_log.requests[0].operation == "bookings.get"
    assert event_log.outcome.call.operation == "recover"
    assert event_log.outcome.call.correlation_id == error.correlation_id
    assert (event_log.outcome.outcome, event_log.outcome.read_back) == ("done", True)


@pytest.mark.parametrize("protocol", mostly_long(["mcp", "rest"]))
def test_a_token_that_is_renewed_makes_a_retry(make_client, event_log, ferry_sandbox, protocol):
    tokens = iter(["stale", ferry_sandbox.token])
    ferry = make_client(lambda: next(tokens))
    assert ferry.catalogue.ports() if protocol == "rest" else ferry.mcp.countries()
    (retry,) = event_log.retries
    assert (retry.problem, retry.status_code, retry.wait) == ("AuthenticationError", 401, 0.0)
    assert event_log.outcome.outcome == "done"
    if protocol == "rest":
        assert event_log.requests[-1].attempt == 2
        return
    assert {(one.protocol, one.route) for one in event_log.requests} == {("MCP", "/mcp")}
    told = [(one.attempt, one.rpc_method) for one in event_log.requests]
    assert told[0] == (1, "initialize")
    handshake = [(2, "initialize"), (2, "notifications/initialized")]
    assert told[-3:] == [*handshake, (2, "resources/read")]
    assert event_log.outcome.call.operation == "mcp.countries"


def test_a_wait_is_one_call_and_a_voucher_no_address(make_client, event_log, booking_id, tmp_path):
    ferry = make_client()
    with pytest.raises(errors.RequestTimeoutError):
        ferry.bookings.wait(booking_id, until="ticketed", deadline=0.6)
    assert len(event_log.requests) > 1
    assert not event_log.retries
    assert event_log.outcome.call.operation == "bookings.wait"
    ticket_id = ferry.bookings.confirm(booking_id).ticket_id
    event_log.events.clear()
    ferry.tickets.save_pdf(ticket_id, tmp_path / "voucher.pdf")
    assert [one.route for one in event_log.requests] == ["/api/ticket/{id}/pdf", "/{voucher}"]


def test_two_who_ask_the_same_have_an_outcome_each(event_log, ferry_sandbox, booking_id, joined):
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=True)
    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": event_log.hooks}
    with Ferry(ferry_sandbox.token, **settings) as one:
        both = at_once(*[lambda: one.bookings.confirm(booking_id)] * 2)
        eventually(lambda: hold.held and joined)
        hold.release()
        assert both[0].value() == both[1].value()
    assert sorted(event_log.kinds) == ["outcome", "outcome", "request", "response"]
    outcomes = event_log.events[-2:]
    assert {event.outcome for event in outcomes} == {"done"}
    assert len({event.call.correlation_id for event in outcomes}) == 2


@pytest.mark.parametrize(
    ("done", "call", "outcome"),
    [(False, "confirm", "unknown"), (True, "confirm", "unknown"), (False, "guard", "not_sent")],
)
def test_a_cancelled_call_ends_its_exchange_and_tells_its_outcome(
    portal, event_log, ferry_sandbox, booking_id, done, call, outcome
):
    name = "bookings.confirm" if call == "confirm" else "bookings.get"
    hold = Hold(ferry_sandbox, name, replies=done)
    expected = {} if call == "confirm" else {"expect_total": 1}

    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": event_log.ahooks}

    async def main():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            confirm = partial(ferry.bookings.confirm, booking_id, **expected)
            await by_scope(confirm, lambda: hold.held)

    portal.call(main)
    assert event_log.kinds == ["request", "response", "outcome"]
    assert event_log.responses[0].problem in {"CancelledError", "Cancelled"}
    assert event_log.outcome.outcome == outcome
    assert event_log.outcome.problem == event_log.responses[0].problem


@each("name", OPERATIONS)
def test_no_route_shows_an_id(name):
    call = described(name).call
    if isinstance(call, Rest):
        assert not re.search(r"\b[a-z]-1\b", call.route)
        assert call.route == re.sub(r"\b[a-z]-1\b", "{id}", f"/api/{call.path}")


def test_hooks_that_cannot_work_are_refused_and_none_are_none():
    async def async_hook(_): ...

    known = {"base_url": "https://ferry.example"}
    for hooks, named in [
        *[({"ask": [print]}, "ask"), ({"request": ["f"]}, "request"), ({"retry": print}, "retry")],
        *[({name: [async_hook]}, "AsyncFerry") for name in NAMES],
    ]:
        for client in (Ferry, AsyncFerry):
            if client.__name__ == named:
                client("t", **known, event_hooks=hooks)
                continue
            with pytest.raises(errors.ConfigurationError, match=named):
                client("t", **known, event_hooks=hooks)
    for hooks in (None, {}, {"request": []}):
        assert Ferry("t", **known, event_hooks=hooks)._transport.settings.hooks is None
