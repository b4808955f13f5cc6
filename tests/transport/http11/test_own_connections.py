"""Connections on asyncio: used again only while nothing is wrong with them, with one timer each."""

import asyncio
import socket
import threading

import pytest

from ferry_sdk import AsyncFerry, RequestTimeoutError
from ferry_sdk._transport import default_client
from ferry_sdk._transport.http11 import asyncio_stream
from tests.backend.descriptors import connections_to
from tests.transport import scripted as do
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import Service

pytestmark = pytest.mark.own_http_client(reason="they are the connections of the library's own")


@pytest.fixture(autouse=True)
def _trusted(trusted, monkeypatch):
    monkeypatch.setattr(default_client, "context_of", lambda _: trusted)


@pytest.mark.parametrize("end", [do.cut, do.reset], ids=["closed", "reset"])
@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
def test_a_connection_that_ended_unseen_is_not_reused(end, is_secure, good):
    """The event loop was busy when it ended."""
    read, ended = threading.Event(), threading.Event()
    once = do.in_turn(do.serve_once, lambda _: read.wait(20), end, lambda _: ended.set())

    def wrapped(script):
        return do.over_tls(good, script) if is_secure else script

    async def calls(service):
        url = service.secure_url if is_secure else service.url
        async with AsyncFerry("t", base_url=url, max_retries=0) as ferry:
            await ferry.catalogue.ports()
            read.set()
            assert ended.wait(20)  # the event loop looks at nothing meanwhile
            await CREATE.make(ferry)

    with Service(wrapped(once), wrapped(do.serve)) as service:
        asyncio.run(calls(service))
        assert service.asked == [READ.line, CREATE.line]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(None, id="before the handshake"),
        pytest.param((), id="after the handshake"),
        pytest.param((do.half_a_head,), id="in the head"),
        pytest.param((do.half_a_body,), id="in the body"),
    ],
)
def test_a_cancelled_call_leaves_no_connection(steps, good):
    arrived = threading.Event()
    script = do.in_turn(lambda _: arrived.set(), do.hang)
    if steps is not None:
        script = do.over_tls(good, do.in_turn(do.read_request, *steps, script))

    async def calls(service):
        async with AsyncFerry("t", base_url=service.secure_url, max_retries=0) as ferry:
            task = asyncio.create_task(ferry.catalogue.ports())
            assert await asyncio.to_thread(arrived.wait, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not connections_to(service.secure_url)
            assert not await ferry.catalogue.ports()

    with Service(script, do.over_tls(good)) as service:
        asyncio.run(calls(service))


def read_late(limit):
    """Return the ports, which arrive within a limit, but are read after it.

    The loop is busy so long that data and timer are due in the same iteration.
    """
    read, sent = threading.Event(), threading.Event()

    def send_ports(connection):
        connection.send("200 OK", do.answer_to(READ.line))

    async def call(service):
        async with AsyncFerry("t", base_url=service.url, max_retries=0, timeout=limit) as ferry:
            call = asyncio.create_task(ferry.catalogue.ports())
            while not service.asked:  # noqa: ASYNC110 -- a thread reads it
                await asyncio.sleep(0.01)
            read.set()
            assert sent.wait(20)
            threading.Event().wait(1.2 * limit)
            return await call

    steps = (lambda _: read.wait(20), send_ports, lambda _: sent.set(), do.hang)
    with Service(do.in_turn(do.read_request, *steps)) as service:
        return asyncio.run(call(service))


def test_data_that_arrived_in_time_is_read():
    try:
        ports = read_late(0.2)
    except RequestTimeoutError:  # the machine was busy before the loop was
        ports = read_late(3)
    assert not ports


def look_up_as(*hosts):
    async def look_up(_, port, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in hosts]

    return look_up


def test_the_next_address_is_tried_early(monkeypatch):
    monkeypatch.setattr(asyncio_stream, "_NEXT_ADDRESS", 0.02)
    unreachable = "127.0.0.9"

    async def call(service):
        loop = asyncio.get_running_loop()
        connect = loop.sock_connect

        async def connect_or_wait(sock, address):
            if address[0] == unreachable:
                await asyncio.Event().wait()
            await connect(sock, address)

        monkeypatch.setattr(loop, "getaddrinfo", look_up_as(unreachable, "127.0.0.1"))
        monkeypatch.setattr(loop, "sock_connect", connect_or_wait)
        url = f"http://localhost:{service.port}"
        async with AsyncFerry("t", base_url=url, max_retries=0) as ferry:
            assert not await ferry.catalogue.ports()

    with Service(do.serve) as service:
        asyncio.run(call(service))


def test_a_call_cancelled_as_it_connects_leaves_nothing(monkeypatch):
    connect = asyncio_stream._connect

    async def call(service):
        async def connect_and_cancel(address):
            stream = await connect(address)
            task.cancel()
            return stream

        look_up = look_up_as("127.0.0.1", "127.0.0.2")
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
        monkeypatch.setattr(asyncio_stream, "_connect", connect_and_cancel)
        url = f"http://localhost:{service.port}"
        async with AsyncFerry("t", base_url=url, max_retries=0) as ferry:
            task = asyncio.create_task(ferry.catalogue.ports())
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)
            assert not connections_to(url)

    with Service(do.serve) as service:
        asyncio.run(call(service))


ADDRESSES = {
    "fe80::1": socket.AF_INET6,
    "fe80::2": socket.AF_INET6,
    "192.0.2.1": socket.AF_INET,
    "192.0.2.2": socket.AF_INET,
}
"""The addresses of a host with their family, as the system gives them."""


def test_the_other_family_is_tried_second(monkeypatch):
    async def look_up(_, port, **__):
        return [
            (family, socket.SOCK_STREAM, 6, "", (address, port))
            for address, family in ADDRESSES.items()
        ]

    async def addresses():
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
        return await asyncio_stream._addresses_of("ferry.example", 443)

    hosts = [host for host, _ in asyncio.run(addresses())]
    assert hosts == ["fe80::1", "192.0.2.1", "192.0.2.2", "fe80::2"]
