"""Replies in all forms of HTTP/1.1 are read correctly, by either parser."""

import asyncio
import ssl
import threading

import httpcore
import pytest

from ferry_sdk._transport.http11.async_client import AsyncConnections
from ferry_sdk._transport.http11.client import Connections
from tests.transport.scripted import Service, cut, hang, in_turn, over_tls, read_request, serve

pytestmark = pytest.mark.usefixtures("reader")


def reply_with(*parts):
    """Return a script that sends a reply in these parts."""

    def send(connection):
        for part in parts:
            connection.socket.sendall(part)

    return send


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
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\ncontent-length: 3\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        pytest.param(b"abc", [THREE + b"abc"], id="at once"),
        pytest.param(b"abc", [THREE, b"a", b"bc"], id="in parts"),
        pytest.param(b"\r\n", [OK + b"content-length: 2\r\n\r\n", b"\r\n"], id="a line end"),
        pytest.param(b"", [OK + b"content-length: 0\r\n\r\n"], id="empty"),
        pytest.param(b"", [b"HTTP/1.1 204 No Content\r\n\r\n"], id="204"),
        pytest.param(b"", [NOT_MODIFIED], id="304 with a length"),
        pytest.param(b"abc", [b"HTTP/1.0 200 OK\r\n\r\nabc"], id="HTTP/1.0 until the end"),
        pytest.param(b"abc", [OK + b"connection: close\r\n\r\nabc"], id="until the end"),
        pytest.param(b"abc", [CHUNKED, b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"], id="chunks"),
        pytest.param(
            b"abc", [SPELLED, b"3;of=x\r\nabc\r\n0\r\nx-late: 1\r\n\r\n"], id="an odd chunk"
        ),
        pytest.param(b"abc", [CONTINUE, EARLY_HINTS, THREE + b"abc"], id="after interim heads"),
    ],
)
def test_a_body_is_read(ask, parts, body):
    reply, content = exchange(ask, reply_with(*parts), cut)
    assert reply.status_code in {200, 204, 304}
    assert content == body
    assert "link" not in reply.headers
    assert "x-late" not in reply.headers


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        pytest.param(b"X-Two: a\r\nx-two: b \t", "x-two", "a, b", id="twice"),
        pytest.param(b"X-Long: %b" % (b"x" * 90_000), "x-long", "x" * 90_000, id="long"),
        pytest.param(b"x-old: caf\xe9", "x-old", "café", id="in Latin-1"),
        pytest.param("x-new: naïve".encode(), "x-new", "naïve", id="in UTF-8"),
    ],
)
def test_a_header_is_read(ask, line, name, value):
    parts = (OK + line + b"\r\nx-other: caf\xe9\r\n", b"content-length: 0\r\n\r\n")
    reply, _ = exchange(ask, reply_with(*parts))
    assert reply.headers == {name: value, "x-other": "café", "content-length": "0"}


def read_in_pieces(ask, limit):
    """Return a body that arrives with pauses, which together are longer than the limit."""
    scripts = []
    for piece in (OK, b"content-length: 3\r\n", b"\r\n", b"a", b"bc"):
        scripts.append(reply_with(piece))
        scripts.append(lambda _: threading.Event().wait(0.4 * limit))
    _, body = exchange(ask, *scripts, limit=limit)
    return body


def test_a_limit_is_that_of_each_piece(ask):
    try:
        body = read_in_pieces(ask, 0.1)
    except httpcore.ReadTimeout:  # on a busy machine
        body = read_in_pieces(ask, 1.5)
    assert body == b"abc"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([b""], id="at once"),
        pytest.param([OK + b"content-le"], id="in the head"),
        pytest.param([OK + b"content-length: 9\r\n\r\nabc"], id="in the body"),
        pytest.param([CHUNKED + b"1\r\na\r\n"], id="before the last chunk"),
    ],
)
def test_a_reply_cut_short_is_refused(ask, parts):
    with pytest.raises((httpcore.RemoteProtocolError, httpcore.ReadError)) as caught:
        exchange(ask, reply_with(*parts), cut)
    if caught.type is httpcore.RemoteProtocolError:
        assert str(caught.value) == "the service closed the connection early"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([CHUNKED + b"zz\r\n"], id="a chunk size that is none"),
        pytest.param([b"SSH-2.0-OpenSSH_9.6\r\n\r\n"], id="a greeting of SSH"),
        pytest.param([b"\r\n" + OK + b"\r\n"], id="an empty line first"),
        pytest.param([b"HTTP/1.1 101 Switching\r\n\r\n"], id="another protocol"),
        pytest.param([OK + b"x-long: ", b"x" * 200_000, b"\r\n\r\n"], id="a long head"),
        pytest.param([CHUNKED + b"0\r\nx-long: ", b"x" * 300_000], id="a long trailer"),
    ],
)
def test_a_wrong_reply_is_refused_at_once(ask, parts):
    with pytest.raises((httpcore.RemoteProtocolError, httpcore.ReadError)):
        exchange(ask, reply_with(*parts), hang)


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(b"", id="at once"),
        pytest.param(OK + b"content-length: 9\r\n\r\nabc", id="in the body"),
    ],
)
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


@pytest.mark.parametrize(
    ("is_read", "connections"),
    [
        pytest.param(True, 1, id="read"),
        pytest.param(False, 2, id="unread"),
    ],
)
def test_a_connection_is_reused_if_read(ask, is_read, connections):
    whole = reply_with(THREE + b"abc")
    twice = in_turn(read_request, whole, read_request, whole)
    with Service(twice, twice) as service:
        ask(service.url, calls=2, is_read=is_read)
        assert len(service.asked) == 2
        assert service.accepted == connections
