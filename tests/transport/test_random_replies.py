"""Random replies: every HTTP client reads the same, but for a table of differences."""

import random
from collections import Counter

import pytest

from ferry_sdk import FerryError
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import Request, Timeout
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk._transport.http11 import replies
from ferry_sdk._transport.http11.client import Connections
from ferry_sdk._transport.send_guard import OpenConnections
from tests.support.injected import LIBRARIES
from tests.support.tiers import mostly_long
from tests.support.wire import TLS
from tests.transport import random_replies
from tests.transport.reply_differences import DIFFERENCES, documented
from tests.transport.scripted import Service

READ_HEADERS = ("content-type", "x-request-id", "retry-after", "date", "content-encoding")


class Judges:
    """Sends one request to a service with each kind of HTTP client, and compares what they read."""

    def __init__(self):
        self.reply = b""
        self._service = Service(self._answer)
        httpx = LIBRARIES["httpx"]
        self._httpx = httpx.Client(verify=TLS, limits=httpx.Limits(max_keepalive_connections=0))

    def _answer(self, connection):
        connection.request()
        connection.socket.sendall(self.reply)

    def __enter__(self):
        self._service.__enter__()
        return self

    def __exit__(self, *_):
        self._httpx.close()
        self._service.__exit__()

    def judge(self, reply):
        """Return what is read with llhttp, with h11, and with httpx."""
        self.reply = reply
        judgements = []
        for reader in (replies.LlhttpReader, replies.H11Reader):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(replies, "new_reader", reader)
                own = Connections(lambda: TLS)
                judgements.append(self._exchange(own, is_ours=True))
                own.close()
        return [*judgements, self._exchange(self._httpx)]

    def _exchange(self, client, *, is_ours=False):
        request = Request("GET", f"{self._service.url}/api/port", {})
        connections = OpenConnections(is_ours=is_ours, is_local_only=True)
        exchange = Exchange(Send(request, Timeout()), connections)
        try:
            reply = exchange.run(client)
        except FerryError as error:
            return type(error).__name__, error.outcome, getattr(error, "status_code", None)
        headers = {name: reply.headers.get(name) for name in READ_HEADERS}
        return reply.status_code, headers, reply.content


@pytest.fixture(scope="module")
def judges():
    with Judges() as judges:
        yield judges


def differs_by_the_table(reply):
    return any(difference.is_one(reply) for difference in DIFFERENCES.values())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", mostly_long([300, 10_000], ids=str))
def test_every_client_reads_the_same(judges, count, record_property):
    dice = random.Random(count)  # noqa: S311 -- no secret
    counts = Counter()
    for _ in range(count):
        reply = random_replies.reply(dice)
        with_llhttp, with_h11, with_httpx = judges.judge(reply)
        if not differs_by_the_table(reply):
            assert with_llhttp == with_h11 == with_httpx, reply
        counts["read" if isinstance(with_h11[0], int) else "refused"] += 1
    assert counts["read"] > count // 5
    assert counts["refused"] > count // 5
    record_property("random replies that three HTTP clients judged", count)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_documentation_tells_each_difference(judges, name):
    difference = DIFFERENCES[name]
    assert difference.is_one(difference.example)
    found = judges.judge(difference.example)
    assert documented()[name] == [
        "read" if isinstance(judgement[0], int) else "refused" for judgement in found
    ]


def test_the_documentation_tells_no_other_difference():
    assert documented().keys() == DIFFERENCES.keys()
