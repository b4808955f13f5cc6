"""The library's own connections: kept and used again while they are whole, counted, and ended."""

import gc
import threading

import anyio
import anyio.lowlevel
import pytest

from ferry_sdk import AsyncFerry, RequestTimeoutError, Timeout
from ferry_sdk._transport.http11 import client
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually
from tests.support.tiers import mostly_long
from tests.transport import scripted as do
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import Service, answer_to, serve

pytestmark = pytest.mark.own_http_client(reason="they are the connections of the library's own")


class Held:
    """A script that holds the answer of each connection's first request until it is let go."""

    def __init__(self):
        self.connections = []
        self.let_go = threading.Event()

    def __call__(self, connection):
        line = connection.request()
        self.connections.append(connection)
        self.let_go.wait(20)
        while line:
            connection.send("200 OK", answer_to(line))
            line = connection.request()


def until_closed(connection):
    while connection.receive():
        pass


def test_connections_that_a_burst_leaves_are_closed(any_clients, monkeypatch):
    kept_for = "ferry_sdk._transport.http11.pool.KEPT_FOR"
    monkeypatch.setattr(kept_for, 60.0)  # the burst may take long
    held = Held()
    with Service(held, backlog=64) as service:
        ferry = any_clients("t", base_url=service.url)
        calls = [UnderWay(ferry.catalogue.ports) for _ in range(20)]
        eventually(lambda: len(held.connections) == 20)
        held.let_go.set()
        for call in calls:
            call.value()
        assert len(connections_to(service.url)) == 20
        monkeypatch.setattr(kept_for, 0.1)

        def is_one_left():
            ferry.catalogue.ports()
            return len(connections_to(service.url)) == 1

        eventually(is_one_left)


@pytest.mark.parametrize("most", mostly_long([3, 1]))
def test_no_more_connections_than_there_are_places(any_clients, monkeypatch, most):
    assert client.MOST_CONNECTIONS == 200
    monkeypatch.setattr(client, "MOST_CONNECTIONS", most)
    held = Held()
    with Service(held) as service:
        ferry = any_clients("t", base_url=service.url, max_retries=0)
        calls = [UnderWay(ferry.catalogue.ports) for _ in range(most)]
        eventually(lambda: len(held.connections) == most)
        view = ferry.with_options(timeout=Timeout(connect=20, read=20, write=20, pool=0.05))
        for call in (READ, CREATE):
            error = UnderWay(lambda call=call: call.make(view)).error()
            assert type(error) is RequestTimeoutError
            assert error.outcome == "not_sent"
        waiting = [UnderWay(ferry.catalogue.ports) for _ in range(5)]
        assert len(connections_to(service.url)) == most
        held.let_go.set()
        for one in (*calls, *waiting):
            assert not one.value()
        for _ in range(5):  # in turn, they share one
            ferry.catalogue.ports()
        assert len(service.asked) == most + 10
        assert len(held.connections) == most


@pytest.mark.parametrize("kind", ["a parting word", "what comes behind a reply"])
def test_what_nobody_asked_for_is_nobodys_reply(any_clients, kind):
    read, parted = threading.Event(), threading.Event()

    def impatient(connection):
        do.serve_once(connection)
        read.wait(20)
        connection.send("408 Request Timeout")
        parted.set()
        until_closed(connection)

    def talkative(connection):
        answer = answer_to(connection.request())
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer)
        stranger = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
        connection.socket.sendall(head + answer + stranger)
        parted.set()
        until_closed(connection)

    with Service(impatient if kind == "a parting word" else talkative, serve) as service:
        ferry = any_clients("t", base_url=service.url)
        READ.make(ferry)
        read.set()
        assert parted.wait(20)
        assert len(CREATE.make(ferry).attempts) == 1
        assert service.asked == [READ.line, CREATE.line]


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # anyio's, see below
@pytest.mark.parametrize("expired", mostly_long([0, 3]))
@pytest.mark.parametrize("loop", mostly_long(["asyncio", "trio"]))
def test_wherever_a_call_is_cancelled_its_place_is_free_again(loop, expired, monkeypatch):
    monkeypatch.setattr(client, "MOST_CONNECTIONS", 2)

    async def cancel(call, steps):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    async def calls(service):
        async with AsyncFerry("t", base_url=service.url, timeout=5) as ferry:
            await ferry.catalogue.ports()
            keeping = next(iter(ferry._transport.shared._resources.values())).client
            for steps in range(160 if expired else 40):
                with monkeypatch.context() as patch:
                    if steps % 4 < expired:
                        # what is kept is found to have waited too long
                        patch.setattr("ferry_sdk._transport.http11.pool.KEPT_FOR", -1.0)
                    await cancel(ferry.catalogue.ports, steps % 40)
                if len(connections_to(service.url)) > 2:
                    gc.collect()  # old versions of anyio lose what they were connecting
                assert len(connections_to(service.url)) <= 2
            assert not keeping._slots._taken
            async with anyio.create_task_group() as group:
                for _ in range(4):
                    group.start_soon(ferry.catalogue.ports)
            assert len(connections_to(service.url)) <= 2
        assert not connections_to(service.url)

    with Service(serve) as service:
        anyio.run(calls, service, backend=loop)
