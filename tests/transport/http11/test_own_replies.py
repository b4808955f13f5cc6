"""Replies in all forms of HTTP/1.1 are read correctly, by either parser."""

import asyncio
import ssl
import threading
from contextlib import suppress
from functools import partial

import httpcore
import pytest

from ferry_sdk._transport.http11.async_client import AsyncConnections
from ferry_sdk._transport.http11.client import Connections
from tests.support.tables import each
from tests.transport.scripted import Service, cut, hang, in_turn, over_tls, read_request, serve

pytestmark = pytest.mark.usefixtures("reader")


def reply_with(*parts):
    return in_turn(*(lambda to, part=part: to.socket.sendall(part) for part in parts))


def options_of(limit, content, trace):
    return {"content": content, "timeout": (20, limit, 20, 20), "extensions": {"trace": trace}}


def of_threads(url, limit=20, content=None, *, calls=1, is_read=True):
    options = options_of(limit, content, lambda *_: None)
    client = Connections(ssl.create_default_context)
    try:
        for _ in range(calls):
            reply = client.send(client.build_request("POST", f"{url}/x", **options))
            try:
                body = b"".join(reply.iter_raw()) if is_read else b""
            finally:
                reply.close()
    finally:
        client.close()
    return reply, body


def of_tasks(url, limit=20, content=None, *, calls=1, is_read=True):
    async def trace(*_):
        """Ignore a step."""

    options = options_of(limit, content, trace)

    async def make_calls():
        client = AsyncConnections(ssl.create_default_context)
        try:
            for _ in range(calls):
                reply = await client.send(client.build_request("POST", f"{url}/x", **options))
                try:
                    pieces = [piece async for piece in reply.aiter_raw()] if is_read else []
                finally:
                    await reply.aclose()
        finally:
            await client.aclose()
        return reply, b"".join(pieces)

    return asyncio.run(make_calls())


@pytest.fixture(params=[of_threads, of_tasks])
def ask(request):
    return request.param


def exchange(ask, *scripts, limit=20.0):
    with Service(in_turn(read_request, *scripts)) as service:
        return ask(service.url, limit)


OK = b"HTTP/1.1 200 OK\r\n"
THREE = OK + b"content-length: 3\r\n\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
SPELLED = CHUNKED.replace(b"chunked", b"Chunked")
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"


@each(
    ("body", "parts"),
    [
        (b"abc", [THREE + b"abc"]),
        (b"abc", [THREE, b"a", b"bc"]),
        (b"\r\n", [OK + b"content-length: 2\r\n\r\n", b"\r\n"]),
        (b"", [OK + b"content-length: 0\r\n\r\n"]),
        (b"", [b"HTTP/1.1 204 No Content\r\n\r\n"]),
        (b"", [b"HTTP/1.1 304 Not Modified\r\ncontent-length: 3\r\n\r\n"]),
        (b"abc", [b"HTTP/1.0 200 OK\r\n\r\nabc"]),
        (b"abc", [OK + b"connection: close\r\n\r\nabc"]),
        (b"abc", [CHUNKED, b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"]),
        (b"abc", [SPELLED, b"3;of=x\r\nabc\r\n0\r\nx-late: 1\r\n\r\n"]),
        (b"abc", [*INTERIM, THREE + b"abc"]),
    ],
)
def test_a_body(ask, parts, body):
    reply, found = exchange(ask, reply_with(*parts), cut)
    assert reply.status_code in {200, 204, 304}
    assert found == body
    assert "link" not in reply.headers
    assert "x-late" not in reply.headers


def test_headers_and_a_reply_that_comes_in_parts(ask):
    long = b"x" * 90_000
    head = OK + b"X-Two: a\r\nx-two: b \t\r\nX-Long: %b\r\nx-old: caf\xe9\r\nx-new: %b\r\n"
    parts = head % (long, "naïve".encode()), b"content-length: 0\r\n\r\n"
    headers = {"x-two": "a, b", "x-long": long.decode(), "x-old": "café", "x-new": "naïve"}
    assert exchange(ask, reply_with(*parts))[0].headers == headers | {"content-length": "0"}
    for limit in (0.1, 1.5):  # a longer one on a busy machine
        pause = partial(threading.Event().wait, 0.4 * limit)
        pieces = (OK, b"content-length: 3\r\n", b"\r\n", b"a", b"bc")
        scripts = [in_turn(reply_with(piece), lambda _, pause=pause: pause()) for piece in pieces]
        with suppress(httpcore.ReadTimeout):
            assert exchange(ask, *scripts, limit=limit)[1] == b"abc"
            return
    pytest.fail("it timed out")


@each(
    ("end", "parts"),
    [
        (cut, [b""]),
        (cut, [OK + b"content-le"]),
        (cut, [OK + b"content-length: 9\r\n\r\nabc"]),
        (cut, [CHUNKED + b"1\r\na\r\n"]),
        (hang, [CHUNKED + b"zz\r\n"]),
        (hang, [b"SSH-2.0-OpenSSH_9.6\r\n\r\n"]),
        (hang, [b"\r\n" + OK + b"\r\n"]),
        (hang, [b"HTTP/1.1 101 Switching\r\n\r\n"]),
        (hang, [OK + b"x-long: ", b"x" * 200_000, b"\r\n\r\n"]),
        (hang, [CHUNKED + b"0\r\nx-long: ", b"x" * 300_000]),
    ],
)
def test_an_incomplete_reply_is_refused(ask, end, parts):
    with pytest.raises((httpcore.RemoteProtocolError, httpcore.ReadError)) as caught:
        exchange(ask, reply_with(*parts), end)
    if end is cut and caught.type is httpcore.RemoteProtocolError:
        assert str(caught.value) == "the service closed the connection early"


@pytest.mark.parametrize("part", [b"", OK + b"content-length: 9\r\n\r\nabc"])
def test_a_reply_that_stalls_times_out(ask, part):
    with pytest.raises(httpcore.ReadTimeout):
        exchange(ask, reply_with(part), hang, limit=0.05)


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
def test_a_large_body_is_written_completely(ask, is_secure, good, trusted, monkeypatch):
    monkeypatch.setattr(ssl, "create_default_context", lambda: trusted)
    content = bytes(range(256)) * 40_000
    received = bytearray()

    def receive_all(connection):
        while not received.endswith(content):
            received.extend(connection.socket.recv(65536))
            if len(received) > 2 * len(content):
                return
        connection.send("200 OK", b"{}")

    with Service(over_tls(good, receive_all) if is_secure else receive_all, serve) as service:
        url = service.secure_url if is_secure else service.url
        assert ask(url, content=content)[1] == b"{}"
    assert received.partition(b"\r\n\r\n")[2] == content
    assert b"Content-Length: %d\r\n" % len(content) in received


@pytest.mark.parametrize(("is_read", "connections"), [(True, 1), (False, 2)])
def test_a_connection_is_used_again_only_after_its_reply_was_read(ask, is_read, connections):
    whole = reply_with(THREE + b"abc")
    twice = in_turn(read_request, whole, read_request, whole)
    with Service(twice, twice) as service:
        ask(service.url, calls=2, is_read=is_read)
        assert len(service.asked) == 2
        assert service.accepted == connections
