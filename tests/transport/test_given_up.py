"""An exchange whose caller has given it up."""

import httpx

from ferry_sdk import RequestTimeoutError, Timeout
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Request
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk._transport.send_guard import OpenConnections
from tests.support.exchanges import caught


class Body(httpx.SyncByteStream):
    """A body in three pieces; the exchange is given up while the first one is on its way."""

    exchange = None

    def __init__(self):
        self.sent = 0

    def __iter__(self):
        for piece in (b"[1", b",2", b"]"):
            self.sent += 1
            self.exchange.give_up()
            yield piece


def test_the_rest_of_a_body_is_not_read():
    body = Body()
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=body))
    send = Send(Request("GET", "https://ferry.example/api/port", {}), Timeout())
    body.exchange = Exchange(send, OpenConnections(is_ours=False, is_local_only=False))
    error = caught(RequestTimeoutError, body.exchange.run, httpx.Client(transport=transport))
    assert (body.sent, error.outcome) == (1, "unknown")
