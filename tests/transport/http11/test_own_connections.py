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
def test_a_connection_that_ended_while_the_loop_was_busy_is_not_used_again(end, is_secure, good):
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


STEPS = {
    "before the handshake": None,
    "after the handshake": (),
    "in the head": (do.half_a_head,),
    "in the body": (do.half_a_body,),
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_cancelled_call_leaves_no_connection(steps, good):
    arrived = threading.Event()
    tell = do.in_turn(lambda _: arrived.set(), do.hang)
    first = tell if steps is None else do.over_tls(good, do.in_turn(do.read_request, *steps, tell))

    async def calls(service):
        async with AsyncFerry("t", base_url=service.secure_url, max_retries=0) as ferry:
            task = asyncio.create_task(ferry.catalogue.ports())
            assert await asyncio.to_thread(arrived.wait, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not connections_to(service.secure_url)
            assert not await ferry.catalogue.ports()

    with Service(first, do.over_tls(good)) as service:
        asyncio.run(calls(service))


def test_data_that_arrived_in_time_is_read_after_its_time():
    """The loop was busy so long that data and timer are due in the same iteration."""

    async def call(service, limit, read, sent):
        async with AsyncFerry("t", base_url=service.url, max_retries=0, timeout=limit) as ferry:
            call = asyncio.create_task(ferry.catalogue.ports())
            while not service.asked:  # noqa: ASYNC110 -- a thread reads it
                await asyncio.sleep(0.01)
            read.set()
            assert sent.wait(20)
            threading.Event().wait(1.2 * limit)
            return await call

    def send_ports(connection):
        connection.send("200 OK", do.answer_to(READ.line))

    def ports(limit):
        read, sent = threading.Event(), threading.Event()
        steps = (lambda _: read.wait(20), send_ports, lambda _: sent.set(), do.hang)
        with Service(do.in_turn(do.read_request, *steps)) as service:
            return asyncio.run(call(service, limit, read, sent))

    try:
        found = ports(0.2)
    except RequestTimeoutError:  # the machine was busy before the loop was
        found = ports(3)
    assert not found


def look_up_as(*hosts):
    async def look_up(_, port, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in hosts]

    return look_up


def test_the_next_address_is_tried_early_and_a_cancelled_call_leaves_nothing(monkeypatch):
    monkeypatch.setattr(asyncio_stream, "_NEXT_ADDRESS", 0.02)
    unreachable = "127.0.0.9"

    async def calls(service):
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
        asyncio.run(calls(service))
    connect = asyncio_stream._connect

    async def calls(service):
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
        asyncio.run(calls(service))
