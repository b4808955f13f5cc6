"""Replies in all forms of HTTP/1.1 are read correctly."""

from __future__ import annotations

import asyncio
import gzip
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import ConnectionFailedError, DefaultAioHttpClient, RequestTimeoutError
from tests.transport.scripted import Connection, Service, cut, hang, in_turn, read_request, serve

if TYPE_CHECKING:
    from tests.transport.scripted import Script


def reply_with(*parts: bytes) -> Script:
    def reply(connection: Connection) -> None:
        for part in parts:
            connection.socket.sendall(part)

    return reply


def exchange(*scripts: Script, limit: float = 20, decompressed: bool = False) -> tuple[Any, bytes]:
    """The reply that a service gives, and its body."""

    async def call(url: str) -> tuple[Any, bytes]:
        async with DefaultAioHttpClient() as http:
            request = http.build_request("GET", f"{url}/x", timeout=(limit,) * 4)
            response = await http.send(request)
            try:
                pieces = response.aiter_bytes() if decompressed else response.aiter_raw()
                return response, b"".join([piece async for piece in pieces])
            finally:
                await response.aclose()

    with Service(in_turn(read_request, *scripts)) as service:
        return asyncio.run(call(service.url))


@pytest.mark.parametrize(
    ("parts", "body"),
    [
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc",), b"abc"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n", b"a", b"bc"), b"abc"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",), b""),
        ((b"HTTP/1.1 204 No Content\r\n\r\n",), b""),
        ((b"HTTP/1.0 200 OK\r\n\r\nabc",), b"abc"),
        ((b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc",), b"abc"),
        (
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
                b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
            ),
            b"abc",
        ),
        (
            (
                b"HTTP/1.1 100 Continue\r\n\r\n",
                b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n",
                b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc",
            ),
            b"abc",
        ),
    ],
    ids=["whole", "parts", "empty", "none", "1.0", "till the end", "chunked", "after others"],
)
def test_a_body(parts: tuple[bytes, ...], body: bytes) -> None:
    response, found = exchange(reply_with(*parts), cut)
    assert response.status_code in {200, 204}
    assert found == body


def test_headers() -> None:
    long = b"x" * 90_000
    head = b"HTTP/1.1 200 OK\r\nX-Two: a\r\nx-two: b\r\n"
    head += b"X-Long: %b\r\nx-old: caf\xe9\r\nx-new: %b\r\n"
    response, _ = exchange(
        reply_with(head % (long, "naïve".encode()), b"content-length: 0\r\n\r\n")
    )
    assert response.headers == {
        "x-two": "a, b",
        "x-long": long.decode(),
        "x-old": "café",
        "x-new": "naïve",
        "content-length": "0",
    }


def test_a_compressed_body_can_be_read_raw_or_decompressed() -> None:
    compressed = gzip.compress(b"a") + gzip.compress(b"b")
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(
        compressed
    )
    assert exchange(reply_with(head + compressed))[1] == compressed
    assert exchange(reply_with(head + compressed), decompressed=True)[1] == b"ab"


@pytest.mark.parametrize(
    "scripts",
    [
        pytest.param((cut,), id="nothing"),
        pytest.param((reply_with(b"HTTP/1.1 200 OK\r\ncontent-le"), cut), id="half a head"),
        pytest.param(
            (reply_with(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"), cut), id="half a body"
        ),
        pytest.param(
            (reply_with(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n"), cut),
            id="no last chunk",
        ),
        pytest.param(
            (reply_with(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), hang),
            id="no chunk",
        ),
        pytest.param((reply_with(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), hang), id="not HTTP"),
        pytest.param(
            (reply_with(b"HTTP/1.1 200 OK\r\nx-long: %b\r\n\r\n" % (b"x" * 200_000)), hang),
            id="a header without end",
        ),
    ],
)
def test_an_incomplete_reply_is_a_failed_connection(scripts: tuple[Script, ...]) -> None:
    with pytest.raises(ConnectionFailedError) as caught:
        exchange(*scripts)
    assert caught.value.outcome == "unknown"
    assert caught.value.__context__ is None  # which would hold the request


@pytest.mark.parametrize("part", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"])
def test_a_reply_that_stalls_times_out(part: bytes) -> None:
    with pytest.raises(RequestTimeoutError) as caught:
        exchange(reply_with(part), hang, limit=0.2)
    assert caught.value.outcome == "unknown"


def test_a_reply_that_comes_byte_by_byte_does_not_time_out() -> None:
    pause = threading.Event()

    def trickle(connection: Connection) -> None:
        for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc":
            connection.socket.sendall(bytes([byte]))
            pause.wait(0.02)

    assert exchange(trickle, limit=0.5)[1] == b"abc"


def test_a_large_body_is_written_completely() -> None:
    content = bytes(range(256)) * 40_000
    received = bytearray()

    def receive_all(connection: Connection) -> None:
        while not received.endswith(content):
            received.extend(connection.receive())
            if len(received) > 2 * len(content):
                return
        connection.send("200 OK", b"")

    async def call(url: str) -> None:
        async with DefaultAioHttpClient() as http:
            response = await http.send(http.build_request("POST", f"{url}/x", content=content))
            await response.aclose()

    with Service(receive_all, serve) as service:
        asyncio.run(call(service.url))
    assert received.partition(b"\r\n\r\n")[2] == content
    assert b"content-length: %d\r\n" % len(content) in received
