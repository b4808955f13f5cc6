"""An exchange whose caller has given it up."""

import httpx
import pytest

from ferry_sdk import RequestTimeoutError, Timeout
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Request
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk._transport.send_guard import OpenConnections
from tests.backend.descriptors import connections_to
from tests.support.exchanges import caught
from tests.transport.scripted import Service, serve


def test_ended_exchange_shuts_no_connection_down():
    connections = OpenConnections(is_ours=True, is_local_only=True)
    with Service(serve) as service, httpx.Client() as client:
        kept = []
        for _ in range(2):
            send = Send(Request("GET", f"{service.url}/api/port", {}), Timeout())
            exchange = Exchange(send, connections)
            exchange.run(client)
            exchange.give_up()
            kept.append(connections_to(service.url))
        assert len(kept[0]) == 1
        assert kept[1] == kept[0], "the second exchange used the connection of the first"


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
def test_body_iterator_ends_before_the_response(body):
    assert body.ends == ["iterator", "response"]
