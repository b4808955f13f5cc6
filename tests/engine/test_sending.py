"""How far a request got decides the outcome, and in case of doubt it has left."""

import pytest

from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Headers, Reply, Request, Timeout
from ferry_sdk._engine.requests import send
from ferry_sdk._engine.sending import SendState
from ferry_sdk._transport.send_guard import OpenConnections, SendGuard
from tests.support.driven import SETTINGS


@pytest.fixture
def sending():
    """Give a request that nobody has begun to send."""
    return Send(Request("POST", "https://ferry.example/api/booking", {}), Timeout())


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        pytest.param("not_sent", SendState.NOT_BEGUN, id="not begun"),
        pytest.param("unknown", SendState.HANDED_OVER, id="in a client that reports nothing"),
        pytest.param("not_sent", SendState.IN_OWN_CLIENT, id="in our client"),
        pytest.param("not_sent", SendState.FOLLOWED, id="in a client that reports"),
        pytest.param("unknown", SendState.SENT, id="sent"),
    ],
)
def test_state_of_a_request_decides_its_outcome(sending, outcome, state):
    sending.state = state
    assert sending.outcome == outcome
    assert sending.may_have_left is (outcome == "unknown")


@pytest.fixture(params=[True, False], ids=["our client", "a client of the user"])
def connections(request):
    """Give the connections of an HTTP client, ours or the user's."""
    return OpenConnections(is_ours=request.param, is_local_only=False)


def test_request_without_a_step(sending, connections):
    SendGuard(sending, connections)
    assert sending.may_have_left is not connections.is_ours


def test_step_before_the_first_byte(sending, connections):
    SendGuard(sending, connections).on_event("connection.connect_tcp.started", {})
    assert sending.state is SendState.FOLLOWED


def test_steps_after_the_first_byte(sending, connections):
    guard = SendGuard(sending, connections)
    guard.on_event("http11.send_request_headers.started", {})
    guard.on_event("http11.receive_response_headers.started", {})
    assert sending.state is SendState.SENT


def test_repr_shows_no_address_or_connections(sending):
    sending.connections = ["a connection"]
    assert "example" not in repr(sending)
    assert "connection" not in repr(sending)


def test_download_tells_nothing_of_the_service():
    context = Context.start(SETTINGS, Session(), "tickets.read_pdf")
    request = Request("GET", "https://files.example/voucher.pdf", {})
    foreign = [("Date", "Thu, 01 Jan 1970 00:00:00 GMT"), ("x-client-correlation-id", "another")]
    reply = Reply(200, Headers(foreign), b"%PDF")
    steps = send(context, request, is_download=True)
    assert next(steps).request is request
    with pytest.raises(StopIteration) as end:
        steps.send(reply)
    assert end.value.value is reply
    assert context.state.sending is None
    assert context.session.skew == 0
    assert not context.session.has_foreign_ids
