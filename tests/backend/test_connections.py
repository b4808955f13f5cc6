"""The library's own connections: kept and used again while they are whole, counted, and ended."""

import gc
import threading
from functools import partial

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
    """Read until the client closes the connection."""
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


class TestPlaces:
    """Every place for a connection is taken by a call that is under way."""

    @pytest.fixture(params=mostly_long([3, 1]))
    def most(self, request, monkeypatch):
        """The number of places."""
        assert client.MOST_CONNECTIONS == 200
        monkeypatch.setattr(client, "MOST_CONNECTIONS", request.param)
        return request.param

    @pytest.fixture
    def held(self):
        return Held()

    @pytest.fixture
    def service(self, held):
        with Service(held) as service:
            yield service
            held.let_go.set()

    @pytest.fixture
    def ferry(self, any_clients, service):
        return any_clients("t", base_url=service.url, max_retries=0)

    @pytest.fixture
    def calls(self, ferry, held, most):
        """The calls that have the places."""
        calls = [UnderWay(ferry.catalogue.ports) for _ in range(most)]
        eventually(lambda: len(held.connections) == most)
        return calls

    @pytest.fixture
    def impatient(self, ferry):
        """A view that soon gives up to wait for a place."""
        return ferry.with_options(timeout=Timeout(connect=20, read=20, write=20, pool=0.05))

    @pytest.mark.usefixtures("calls")
    @pytest.mark.parametrize("call", [READ, CREATE], ids=["read", "write"])
    def test_no_place_in_time_sends_nothing(self, impatient, service, most, call):
        error = UnderWay(lambda: call.make(impatient)).error()
        assert type(error) is RequestTimeoutError
        assert error.outcome == "not_sent"
        assert len(service.asked) == most

    def test_a_call_that_gave_up_takes_no_place(self, ferry, impatient, held, most, calls):
        assert UnderWay(impatient.catalogue.ports).error()
        waiting = [UnderWay(ferry.catalogue.ports) for _ in range(5)]
        held.let_go.set()
        for call in (*calls, *waiting):
            assert not call.value()
        assert len(held.connections) == most

    def test_waiting_calls_open_no_connection(self, ferry, service, held, most, calls):
        waiting = [UnderWay(ferry.catalogue.ports) for _ in range(5)]
        assert len(connections_to(service.url)) == most
        held.let_go.set()
        for call in (*calls, *waiting):
            assert not call.value()
        for _ in range(5):  # in turn, they share one connection
            ferry.catalogue.ports()
        assert len(service.asked) == most + 10
        assert len(held.connections) == most


class Parting:
    """A script that sends a reply of its own accord, after that to the first request."""

    def __init__(self):
        self.may_part = threading.Event()
        self.has_parted = threading.Event()

    def time_out(self, connection):
        """Send status 408, as a service does that closes an idle connection."""
        do.serve_once(connection)
        self.may_part.wait(20)
        connection.send("408 Request Timeout")
        self.has_parted.set()
        until_closed(connection)

    def add_reply(self, connection):
        """Send a second reply in one piece with the first."""
        answer = answer_to(connection.request())
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer)
        stranger = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
        connection.socket.sendall(head + answer + stranger)
        self.has_parted.set()
        until_closed(connection)


@pytest.mark.parametrize("script", [Parting.time_out, Parting.add_reply])
def test_a_reply_without_request_is_nobodys(any_clients, script):
    parting = Parting()
    with Service(partial(script, parting), serve) as service:
        ferry = any_clients("t", base_url=service.url)
        READ.make(ferry)
        parting.may_part.set()
        assert parting.has_parted.wait(20)
        assert len(CREATE.make(ferry).attempts) == 1
        assert service.asked == [READ.line, CREATE.line]


async def cancel_after(steps, call):
    """Begin a call and cancel it after so many turns of the event loop."""
    async with anyio.create_task_group() as group:
        group.start_soon(call)
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # anyio's, see below
@pytest.mark.parametrize("expired", mostly_long([0, 3]))
@pytest.mark.parametrize("loop", mostly_long(["asyncio", "trio"]))
def test_a_cancelled_call_frees_its_place(loop, expired, monkeypatch):
    monkeypatch.setattr(client, "MOST_CONNECTIONS", 2)

    async def calls(service):
        async with AsyncFerry("t", base_url=service.url, timeout=5) as ferry:
            await ferry.catalogue.ports()
            keeping = next(iter(ferry._transport.shared._resources.values())).client
            for steps in range(160 if expired else 40):
                with monkeypatch.context() as patch:
                    if steps % 4 < expired:
                        # The connection that is kept has waited too long.
                        patch.setattr("ferry_sdk._transport.http11.pool.KEPT_FOR", -1.0)
                    await cancel_after(steps % 40, ferry.catalogue.ports)
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
