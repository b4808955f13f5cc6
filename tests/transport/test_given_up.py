"""An exchange whose caller has given it up."""

import httpx
import pytest

from ferry_sdk import RequestTimeoutError, Timeout
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Request
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk._transport.send_guard import OpenConnections
from tests.support.exchanges import caught


class Body(httpx.SyncByteStream):
    """A body in three pieces; the exchange is given up while the first one is on its way.

    Attributes:
        sent: How many pieces were sent.
        ends: What has ended, in order.
    """

    exchange = None

    def __init__(self):
        self.sent = 0
        self.ends = []

    def __iter__(self):
        try:
            for piece in (b"[1", b",2", b"]"):
                self.sent += 1
                self.exchange.give_up()
                yield piece
        finally:
            self.ends.append("iterator")

    def close(self):
        self.ends.append("response")


@pytest.fixture
def body():
    return Body()


@pytest.fixture
def error(body):
    """The error of an exchange that is given up."""
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=body))
    send = Send(Request("GET", "https://ferry.example/api/port", {}), Timeout())
    body.exchange = Exchange(send, OpenConnections(is_ours=False, is_local_only=False))
    return caught(RequestTimeoutError, body.exchange.run, httpx.Client(transport=transport))


def test_the_rest_of_a_body_is_not_read(body, error):
    assert (body.sent, error.outcome) == (1, "unknown")


@pytest.mark.usefixtures("error")
def test_the_iterator_of_a_body_ends_before_the_response(body):
    assert body.ends == ["iterator", "response"]
