"""How far a request got decides the outcome, and in case of doubt it has left."""

import pytest

from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Headers, Reply, Request, Timeout
from ferry_sdk._engine.requests import send
from tests.support.driven import SETTINGS


@pytest.fixture
def sending():
    """Give a request that nobody has begun to send."""
    return Send(Request("POST", "https://ferry.example/api/booking", {}), Timeout())


@pytest.mark.parametrize(
    ("outcome", "steps"),
    [
        pytest.param("not_sent", [], id="not begun"),
        pytest.param("unknown", ["is_handed_over"], id="in a library that reports nothing"),
        pytest.param("not_sent", ["is_handed_over", "is_own"], id="in our client"),
        pytest.param("not_sent", ["is_handed_over", "is_followed"], id="in one that reports"),
        pytest.param("unknown", ["is_handed_over", "is_own", "is_sent"], id="sent by ours"),
        pytest.param(
            "unknown", ["is_handed_over", "is_followed", "is_sent"], id="reported as sent"
        ),
        pytest.param(
            "unknown",
            ["is_handed_over", "is_own", "is_followed", "is_sent"],
            id="reported as sent by ours",
        ),
    ],
)
def test_steps_of_a_request_decide_its_outcome(sending, outcome, steps):
    for step in steps:
        setattr(sending, step, True)
    assert sending.outcome == outcome
    assert sending.may_have_left is (outcome == "unknown")


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
