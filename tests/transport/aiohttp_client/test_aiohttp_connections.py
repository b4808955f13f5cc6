"""Connections are reused only while nothing is wrong with them."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import AsyncFerry, ConnectionFailedError, DefaultAioHttpClient, OutcomeUnknownError
from tests.backend.descriptors import connections_to
from tests.support.trip import PASSENGERS
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import (
    Connection,
    Service,
    answer_to,
    cut,
    hang,
    in_turn,
    over_tls,
    read_request,
    reset,
    serve,
)

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from ferry_sdk.sandbox import Sandbox
    from tests.transport.scripted import Script

CHOICE = [{"availability_id": "a-1", "tariff_id": "t-1", "place_id": "p-1"}]


def ferry_at(url: str, http: DefaultAioHttpClient, **options: Any) -> AsyncFerry:
    return AsyncFerry("t", base_url=url, http_client=http, **{"max_retries": 0} | options)


def create(ferry: AsyncFerry) -> Any:
    return ferry.bookings.create(availabilities=CHOICE, passengers=[PASSENGERS[0]])


async def wait_for_end(url: str) -> None:
    """Wait until no connection to a service is open."""
    until = time.monotonic() + 20
    while connections_to(url):
        assert time.monotonic() < until, "a connection stays"
        await asyncio.sleep(0.01)


def test_successive_calls_share_a_connection(ferry_sandbox: Sandbox) -> None:
    async def calls() -> None:
        async with DefaultAioHttpClient() as http:
            ferry = AsyncFerry(
                ferry_sandbox.token, base_url=ferry_sandbox.base_url, http_client=http
            )
            for _ in range(5):
                await ferry.catalogue.vehicle_types()
                await ferry.mcp.countries()

    before = ferry_sandbox.counters.connections
    asyncio.run(calls())
    assert ferry_sandbox.counters.connections == before + 1


def test_no_more_connections_than_are_allowed(ferry_sandbox: Sandbox) -> None:
    async def calls() -> None:
        async with DefaultAioHttpClient(max_connections=3) as http:
            ferry = AsyncFerry(
                ferry_sandbox.token, base_url=ferry_sandbox.base_url, http_client=http
            )
            counts = await asyncio.gather(*[ferry.catalogue.vehicle_types() for _ in range(30)])
            assert len({len(one) for one in counts}) == 1
            assert len(connections_to(ferry_sandbox.base_url)) <= 3

    before = ferry_sandbox.counters.connections
    asyncio.run(calls())
    assert ferry_sandbox.counters.connections <= before + 3


@pytest.mark.parametrize(("pause", "connections"), [(0.0, 1), (0.2, 2)])
def test_an_expired_connection_is_not_reused(pause: float, connections: int) -> None:
    accepted: list[None] = []

    def counted(connection: Connection) -> None:
        accepted.append(None)
        serve(connection)

    async def calls(url: str) -> None:
        async with DefaultAioHttpClient(keepalive_expiry=0.1) as http:
            ferry = ferry_at(url, http)
            await ferry.catalogue.ports()
            await asyncio.sleep(pause)
            await ferry.catalogue.ports()

    with Service(counted) as service:
        asyncio.run(calls(service.url))
    assert len(accepted) == connections


def test_expired_connections_are_closed_when_another_is_given_back() -> None:
    async def calls(url: str) -> None:
        async with DefaultAioHttpClient(keepalive_expiry=0.1) as http:
            ferry = ferry_at(url, http)
            await asyncio.gather(*[ferry.catalogue.ports() for _ in range(5)])
            await asyncio.sleep(0.2)
            await ferry.catalogue.ports()
            await ferry.catalogue.ports()
            await asyncio.sleep(0)
            assert len(connections_to(url)) == 1

    with Service(serve) as service:
        asyncio.run(calls(service.url))


@pytest.mark.parametrize("end", [cut, reset], ids=["closed", "reset"])
@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
def test_a_connection_that_ended_while_the_loop_was_busy_is_not_reused(
    end: Script, is_secure: bool, good: ssl.SSLContext, trusted: ssl.SSLContext
) -> None:
    read, ended = threading.Event(), threading.Event()

    def once(connection: Connection) -> None:
        connection.send("200 OK", answer_to(connection.request() or ""))
        read.wait(20)
        end(connection)
        ended.set()

    def with_tls(script: Script) -> Script:
        return over_tls(good, script) if is_secure else script

    async def calls(service: Service) -> None:
        async with DefaultAioHttpClient(verify=trusted) as http:
            ferry = ferry_at(service.secure_url if is_secure else service.url, http)
            await ferry.catalogue.ports()
            read.set()
            assert ended.wait(20)  # the event loop looks at nothing meanwhile
            await create(ferry)

    with Service(with_tls(once), with_tls(serve)) as service:
        asyncio.run(calls(service))
        assert service.asked == [READ.line, CREATE.line]


def test_an_unrequested_reply_is_not_the_reply_of_the_next_call() -> None:
    stray = threading.Event()

    def two_for_one(connection: Connection) -> None:
        connection.request()
        connection.send("200 OK", b'{"ports": []}')
        stray.wait(20)
        connection.send("200 OK", b'{"ports": [{"code": "STRAY"}]}')
        serve(connection)

    async def calls(url: str) -> None:
        async with DefaultAioHttpClient() as http:
            ferry = ferry_at(url, http)
            assert not await ferry.catalogue.ports()
            stray.set()
            await asyncio.sleep(0.1)
            assert not await ferry.catalogue.ports()

    with Service(two_for_one, serve) as service:
        asyncio.run(calls(service.url))
        assert service.asked == [READ.line] * 2


def half_a_head(connection: Connection) -> None:
    connection.socket.sendall(b"HTTP/1.1 200 OK\r\ncontent-le")


def half_a_body(connection: Connection) -> None:
    connection.send("200 OK", b'{"po', length=100)


@pytest.mark.parametrize(
    "until",
    [
        pytest.param(hang, id="before the handshake"),
        pytest.param("tls", id="after the handshake"),
        pytest.param(half_a_head, id="in the head"),
        pytest.param(half_a_body, id="in the body"),
    ],
)
def test_a_cancelled_call_leaves_no_connection(
    until: Any, good: ssl.SSLContext, trusted: ssl.SSLContext
) -> None:
    arrived = threading.Event()

    def signal_arrival(connection: Connection) -> None:
        arrived.set()
        hang(connection)

    if until is hang:
        first: Script = signal_arrival
    elif until == "tls":
        first = over_tls(good, in_turn(read_request, signal_arrival))
    else:
        first = over_tls(good, in_turn(read_request, until, signal_arrival))

    async def calls(service: Service) -> None:
        async with DefaultAioHttpClient(verify=trusted, max_connections=1) as http:
            ferry = ferry_at(service.secure_url, http)
            task = asyncio.create_task(ferry.catalogue.ports())
            assert await asyncio.to_thread(arrived.wait, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await wait_for_end(service.secure_url)
            assert not await ferry.catalogue.ports()  # the permit is free

    with Service(first, over_tls(good)) as service:
        asyncio.run(calls(service))


def test_a_call_that_is_cancelled_while_it_waits_for_a_connection_keeps_no_permit() -> None:
    freed = threading.Event()

    def slow(connection: Connection) -> None:
        connection.request()
        freed.wait(20)
        connection.send("200 OK", b'{"ports": []}')
        serve(connection)

    async def calls(url: str) -> None:
        async with DefaultAioHttpClient(max_connections=1) as http:
            ferry = ferry_at(url, http)
            first, second, third = [asyncio.create_task(ferry.catalogue.ports()) for _ in range(3)]
            await asyncio.sleep(0.1)
            second.cancel()
            freed.set()
            assert not await first
            assert not await third
            assert second.cancelled()

    with Service(slow) as service:
        asyncio.run(calls(service.url))
        assert service.asked == [READ.line] * 2


@pytest.mark.parametrize("call", ["read", "write"])
def test_closing_a_client_ends_its_calls(call: str) -> None:
    arrived = threading.Event()

    async def calls(url: str) -> None:
        http = DefaultAioHttpClient(max_connections=1)
        ferry = ferry_at(url, http)
        make: Callable[[], Any] = ferry.catalogue.ports if call == "read" else lambda: create(ferry)
        sent = asyncio.create_task(make())
        waiting = asyncio.create_task(make())
        assert await asyncio.to_thread(arrived.wait, 20)
        await http.aclose()
        errors = await asyncio.gather(sent, waiting, return_exceptions=True)
        kind = ConnectionFailedError if call == "read" else OutcomeUnknownError
        assert [type(error) for error in errors] == [kind, ConnectionFailedError]
        outcomes = [getattr(error, "outcome", None) for error in errors]
        assert outcomes == ["unknown", "not_sent"]
        await wait_for_end(url)

    with Service(in_turn(read_request, lambda _: arrived.set(), hang)) as service:
        asyncio.run(calls(service.url))
        assert len(service.asked) == 1


def test_a_partly_read_body_ends_the_connection() -> None:
    def endless(connection: Connection) -> None:
        connection.request()
        connection.send("200 OK", b"{", length=1_000_000)
        hang(connection)

    async def calls(url: str) -> None:
        async with DefaultAioHttpClient() as http:
            response = await http.send(http.build_request("GET", f"{url}/api/port"))
            async for piece in response.aiter_raw():
                assert piece == b"{"
                break
            await response.aclose()
            await response.aclose()
            await wait_for_end(url)

    with Service(endless) as service:
        asyncio.run(calls(service.url))
