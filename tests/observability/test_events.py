"""What hooks are told of calls that go well and of calls that do not, over real connections."""

import re
import time
from functools import partial
from urllib.parse import urlsplit

import pytest

from ferry_sdk import AsyncFerry, Ferry, correlation, errors
from ferry_sdk._protocols.rest import Rest
from tests.backend.gathering import at_once, eventually
from tests.backend.stops import by_scope
from tests.observability.conftest import NAMES, call_in_vain, shown_canaries
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.operations import OPERATIONS, described
from tests.support.tiers import mostly_long

ATTEMPT = ["request", "response"]


@pytest.fixture
def read_ports(make_client, event_log):
    """The events of a read of the ports with a correlation id: request, response, outcome."""
    ferry = make_client()
    with correlation("order-4711"):
        ferry.catalogue.ports()
    return event_log.events


def test_a_call_has_three_events(read_ports, event_log):
    assert event_log.kinds == ["request", "response", "outcome"]
    request, response, outcome = read_ports
    assert request.call is response.request.call is outcome.call
    assert response.request is request


def test_a_request_names_its_call(read_ports):
    request, _, _ = read_ports
    assert request.call.correlation_id == "order-4711"
    assert request.call.operation == request.operation == "catalogue.ports"
    assert request.attempt == 1


def test_a_request_names_its_place(read_ports, ferry_sandbox):
    request, _, _ = read_ports
    there = urlsplit(ferry_sandbox.base_url)
    assert (request.protocol, request.method, request.route) == ("REST", "GET", "/api/port")
    assert (request.host, request.port) == (there.hostname, there.port)


def test_a_response_has_a_status(read_ports):
    _, response, _ = read_ports
    assert (response.status_code, response.problem) == (200, None)


def test_a_call_takes_longer_than_its_exchange(read_ports):
    _, response, outcome = read_ports
    assert 0 < response.seconds <= outcome.seconds < 30


def test_an_outcome_has_the_attempts(read_ports):
    _, response, outcome = read_ports
    assert (outcome.outcome, outcome.problem, outcome.read_back) == ("done", None, False)
    assert [attempt.request_id for attempt in outcome.attempts] == [response.request_id]


def test_views_tell_the_same_hooks(make_client, event_log):
    ferry = make_client()
    ferry.with_options(deadline=20).catalogue.ports()
    raw = ferry.with_raw_response.catalogue.ports()
    assert event_log.kinds == ["request", "response", "outcome"] * 2
    assert event_log.events[-1].call.correlation_id == raw.correlation_id


def test_a_deadline_ends_the_exchange(make_client, event_log, ferry_sandbox):
    ferry = make_client()
    ferry.catalogue.ports()  # the first call of a process imports what calls need
    event_log.events.clear()
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=20)
    caught(errors.RequestTimeoutError, ferry.with_options(deadline=0.3).catalogue.ports)
    assert event_log.kinds == ["request", "response", "outcome"]
    assert event_log.responses[0].problem == "RequestTimeoutError"
    assert 0 < event_log.responses[0].seconds < 20
    assert event_log.outcome.outcome == "unknown"


def test_an_unsent_call_has_an_outcome(make_client, event_log):
    ferry = make_client().with_options(read_only=True)
    caught(errors.ReadOnlyError, ferry.bookings.confirm, "b-1")
    assert event_log.kinds == ["outcome"]
    assert (event_log.outcome.outcome, event_log.outcome.problem) == ("not_sent", "ReadOnlyError")


def test_no_event_shows_ids_or_travellers(make_client, event_log, ferry_sandbox):
    call_in_vain(make_client())
    assert len(event_log.events) >= 15
    assert shown_canaries(repr(event_log.events), ferry_sandbox.token) == []


def test_an_exchange_is_timed_without_hooks(event_log, ferry_sandbox):
    hooks = {**event_log.hooks, "request": [lambda _: time.sleep(0.1)]}
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, event_hooks=hooks) as ferry:
        ferry.catalogue.ports()
    assert event_log.outcome.seconds - event_log.responses[0].seconds >= 0.1


@pytest.fixture
def retried(make_client, event_log, ferry_sandbox):
    """The events of a read that is refused by the rate, then cut, and then answered."""
    ferry_sandbox.faults.add("rate_limited", "catalogue.ports", retry_after=0)
    ferry_sandbox.faults.add("cut_before", "catalogue.ports")
    make_client().catalogue.ports()
    return event_log


def test_a_retry_is_told_between_attempts(retried):
    assert retried.kinds == [*ATTEMPT, "retry", *ATTEMPT, "retry", *ATTEMPT, "outcome"]
    assert [request.attempt for request in retried.requests] == [1, 2, 3]
    assert [retry.attempt for retry in retried.retries] == [1, 2]


def test_a_retry_names_its_problem(retried):
    statuses = [response.status_code for response in retried.responses]
    assert {*statuses} == {200, 429, None}
    assert [retry.status_code for retry in retried.retries] == statuses[:2]
    problems = {retry.problem for retry in retried.retries}
    assert problems == {"RateLimitError", "ConnectionFailedError"}


def test_a_retry_names_its_wait(retried):
    waits = [attempt.waited for attempt in retried.outcome.attempts[:2]]
    assert waits == [retry.wait for retry in retried.retries]


@pytest.fixture
def read_back(make_client, event_log, ferry_sandbox, booking_id):
    """The events of a confirmation whose reply is lost, and that the second read proves."""
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get")
    assert make_client().bookings.confirm(booking_id).read_back
    return event_log


def test_a_read_back_is_of_the_same_call(read_back):
    requests = read_back.requests
    assert [(request.operation, request.attempt, request.route) for request in requests] == [
        ("bookings.confirm", 1, "/api/booking/confirm"),
        ("bookings.get", 1, "/api/booking/{id}"),
        ("bookings.get", 2, "/api/booking/{id}"),
    ]
    assert {request.call for request in requests} == {read_back.outcome.call}


def test_a_lost_reply_has_no_status(read_back):
    assert read_back.responses[0].problem == "ConnectionFailedError"
    assert read_back.responses[0].status_code is None


def test_an_outcome_says_that_it_was_read_back(read_back):
    assert (read_back.outcome.outcome, read_back.outcome.read_back) == ("done", True)


@pytest.fixture
def unknown(make_client, event_log, ferry_sandbox, booking_id, look_once):
    """A client, and the error of its confirmation, of which neither reply nor read arrived."""
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    ferry = make_client()
    error = caught(errors.OutcomeUnknownError, ferry.bookings.confirm, booking_id)
    ferry_sandbox.faults.clear()
    return ferry, error


def test_an_unknown_outcome_is_told(unknown, event_log):
    _, error = unknown
    outcome = event_log.outcome
    assert (outcome.outcome, outcome.problem) == ("unknown", "OutcomeUnknownError")
    assert outcome.attempts == error.attempts
    assert len(event_log.retries) == len(event_log.requests) - 2 > 0


def test_a_recovery_is_a_call_of_its_own(unknown, event_log):
    ferry, error = unknown
    event_log.events.clear()
    ferry.recover(error)
    assert event_log.kinds == ["request", "response", "outcome"]
    assert event_log.requests[0].operation == "bookings.get"
    assert event_log.outcome.call.operation == "recover"
    assert event_log.outcome.call.correlation_id == error.correlation_id
    assert (event_log.outcome.outcome, event_log.outcome.read_back) == ("done", True)


@pytest.fixture
def renewing(make_client, ferry_sandbox):
    """A client whose first token is refused."""
    tokens = iter(["stale", ferry_sandbox.token])
    return make_client(lambda: next(tokens))


@pytest.mark.parametrize(
    "read",
    mostly_long(
        [
            pytest.param(lambda ferry: ferry.mcp.countries(), id="mcp"),
            pytest.param(lambda ferry: ferry.catalogue.ports(), id="rest"),
        ]
    ),
)
def test_a_renewed_token_makes_a_retry(renewing, event_log, read):
    assert read(renewing)
    (retry,) = event_log.retries
    assert (retry.problem, retry.status_code, retry.wait) == ("AuthenticationError", 401, 0.0)
    assert event_log.requests[-1].attempt == 2
    assert event_log.outcome.outcome == "done"


def test_a_renewed_token_makes_a_new_handshake(renewing, event_log):
    renewing.mcp.countries()
    assert {(one.protocol, one.route) for one in event_log.requests} == {("MCP", "/mcp")}
    methods = [(request.attempt, request.rpc_method) for request in event_log.requests]
    assert methods[0] == (1, "initialize")
    handshake = [(2, "initialize"), (2, "notifications/initialized")]
    assert methods[-3:] == [*handshake, (2, "resources/read")]
    assert event_log.outcome.call.operation == "mcp.countries"


def test_a_wait_is_one_call(make_client, event_log, booking_id):
    with pytest.raises(errors.RequestTimeoutError):
        make_client().bookings.wait(booking_id, until="ticketed", deadline=0.6)
    assert len(event_log.requests) > 1
    assert not event_log.retries
    assert event_log.outcome.call.operation == "bookings.wait"


def test_a_voucher_shows_no_address(make_client, event_log, booking_id, tmp_path):
    ferry = make_client()
    ticket_id = ferry.bookings.confirm(booking_id).ticket_id
    event_log.events.clear()
    ferry.tickets.save_pdf(ticket_id, tmp_path / "voucher.pdf")
    routes = [request.route for request in event_log.requests]
    assert routes == ["/api/ticket/{id}/pdf", "/{voucher}"]


def test_joined_calls_have_an_outcome_each(event_log, ferry_sandbox, booking_id, joined):
    hold = Hold(ferry_sandbox, "bookings.confirm", replies=True)
    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": event_log.hooks}
    with Ferry(ferry_sandbox.token, **settings) as ferry:
        confirm = partial(ferry.bookings.confirm, booking_id)
        first, second = at_once(confirm, confirm)
        eventually(lambda: hold.held and joined)
        hold.release()
        assert first.value() == second.value()
    assert sorted(event_log.kinds) == ["outcome", "outcome", "request", "response"]
    outcomes = event_log.events[-2:]
    assert {event.outcome for event in outcomes} == {"done"}
    assert len({event.call.correlation_id for event in outcomes}) == 2


@pytest.mark.parametrize(
    ("held", "is_done", "guards", "outcome"),
    [
        pytest.param("bookings.confirm", False, {}, "unknown", id="before the effect"),
        pytest.param("bookings.confirm", True, {}, "unknown", id="after the effect"),
        pytest.param("bookings.get", False, {"expect_total": 1}, "not_sent", id="in the guard"),
    ],
)
def test_a_cancelled_call_tells_its_outcome(
    portal, event_log, ferry_sandbox, booking_id, held, is_done, guards, outcome
):
    hold = Hold(ferry_sandbox, held, replies=is_done)
    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": event_log.ahooks}

    async def main():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            confirm = partial(ferry.bookings.confirm, booking_id, **guards)
            await by_scope(confirm, lambda: hold.held)

    portal.call(main)
    assert event_log.kinds == ["request", "response", "outcome"]
    assert event_log.responses[0].problem in {"CancelledError", "Cancelled"}
    assert event_log.outcome.outcome == outcome
    assert event_log.outcome.problem == event_log.responses[0].problem


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_route_shows_an_id(name):
    call = described(name).call
    if isinstance(call, Rest):
        assert not re.search(r"\b[a-z]-1\b", call.route)
        assert call.route == re.sub(r"\b[a-z]-1\b", "{id}", f"/api/{call.path}")


async def async_hook(_): ...


@pytest.mark.parametrize("client", [Ferry, AsyncFerry])
@pytest.mark.parametrize(
    ("hooks", "named"),
    [
        pytest.param({"ask": [print]}, "ask", id="an unknown event"),
        pytest.param({"request": ["f"]}, "request", id="a text in the place of a hook"),
        pytest.param({"retry": print}, "retry", id="a hook without a list"),
    ],
)
def test_unusable_hooks_are_refused(client, hooks, named):
    with pytest.raises(errors.ConfigurationError, match=named):
        client("t", base_url="https://ferry.example", event_hooks=hooks)


@pytest.mark.parametrize("name", NAMES)
def test_an_async_hook_needs_an_async_client(name):
    settings = {"base_url": "https://ferry.example", "event_hooks": {name: [async_hook]}}
    AsyncFerry("t", **settings)
    with pytest.raises(errors.ConfigurationError, match="AsyncFerry"):
        Ferry("t", **settings)


@pytest.mark.parametrize(
    "hooks",
    [
        pytest.param(None, id="None"),
        pytest.param({}, id="no event"),
        pytest.param({"request": []}, id="an event without hooks"),
    ],
)
def test_no_hooks_are_none(hooks):
    ferry = Ferry("t", base_url="https://ferry.example", event_hooks=hooks)
    assert ferry._transport.settings.hooks is None
