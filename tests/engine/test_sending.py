"""How far a request got decides the outcome, and in case of doubt it has left."""

import pytest

from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Headers, Reply, Request, Timeout
from ferry_sdk._engine.requests import send
from tests.support.driven import SETTINGS


def test_the_outcome_of_a_request_without_a_reply_or_of_a_download_from_another_server():
    for outcome, *facts in (
        ("not_sent",),
        ("unknown", "is_handed_over"),
        ("not_sent", "is_handed_over", "is_own"),
        ("not_sent", "is_handed_over", "is_followed"),
        ("unknown", "is_handed_over", "is_own", "is_sent"),
        ("unknown", "is_handed_over", "is_followed", "is_sent"),
        ("unknown", "is_handed_over", "is_own", "is_followed", "is_sent"),
    ):
        sending = Send(Request("POST", "https://ferry.example/api/booking", {}), Timeout())
        for fact in facts:
            setattr(sending, fact, True)
        assert sending.outcome == outcome, facts
        assert sending.may_have_left is (outcome == "unknown"), facts
    sending.connections = ["a connection"]
    assert "example" not in repr(sending)
    assert "connection" not in repr(sending)
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
