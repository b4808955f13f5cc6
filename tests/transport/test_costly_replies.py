"""What a reply costs is bounded, not only what it says: counts of bytes, heads and pieces."""

import gzip
import struct
import tracemalloc
from itertools import repeat

import httpcore
import pytest

from ferry_sdk import ConnectionFailedError, UnexpectedResponseError
from ferry_sdk._transport.http11 import replies
from ferry_sdk._transport.http11.replies import H11Reader, LlhttpReader
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.tiers import mostly_long
from tests.transport.scripted import Service

# Who leaves a body in the middle leaves generators of httpcore's to the collector; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")

OWN = ("llhttp", "llhttp-asyncio", "llhttp-trio", "h11", "h11-asyncio", "h11-trio")
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n"
JSON = CHUNKED + b"content-type: application/json\r\n\r\n"
PACKED = CHUNKED + b"content-encoding: gzip\r\n\r\n"
PIECE = 64 * 1024
"""Bytes that are fed at once."""
MEMORY = 8_000_000


def chunk(content):
    return b"%x\r\n%b\r\n" % (len(content), content)


def endless(first, then):
    """Send one part, then another one again and again, until the client goes."""

    def script(connection):
        connection.request()
        connection.socket.sendall(first)
        while not connection.service.stopped.is_set():
            connection.socket.sendall(then)

    return script


ENDLESS_OVERHEAD = {
    "interim heads": endless(b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 50),
    "interim heads with headers": endless(b"", b"HTTP/1.1 103 Early\r\nlink: </x>\r\n\r\n" * 50),
    "headers": endless(b"HTTP/1.1 200 OK\r\n", b"x-more: yes\r\n" * 100),
    "one header": endless(b"HTTP/1.1 200 OK\r\nx-long: ", b"x" * 5000),
    "headers of one fold": endless(b"HTTP/1.1 200 OK\r\nx-long: 1", b"\r\n 2" * 1000),
    "trailers": endless(JSON + b"0\r\n", b"x-late: yes\r\n" * 100),
    "an extension": endless(JSON + b"1;", b"x" * 5000),
    "zeros of a chunk size": endless(JSON, b"0" * 5000),
}


@pytest.mark.parametrize("ferry_over", OWN, indirect=True)
@each("name", ENDLESS_OVERHEAD)
def test_bytes_without_a_body_end(ferry_over, name):
    with Service(ENDLESS_OVERHEAD[name]) as service:
        ferry = ferry_over(service.url, max_retries=0)
        assert caught(ConnectionFailedError, ferry.catalogue.ports).outcome == "unknown"


@pytest.mark.parametrize("kind", [H11Reader, LlhttpReader])
def test_overhead_of_tiny_chunks_ends(kind, monkeypatch):
    monkeypatch.setattr(replies, "_MOST_RECEIVED", 1_000_000)
    reader = kind()
    reader.feed(JSON)
    wasteful = b"1;%b\r\nx\r\n" % (b"x" * 10_000)
    for _ in range(99):
        reader.feed(wasteful)
        reader.take()
    with pytest.raises(httpcore.RemoteProtocolError, match="the reply is too long"):
        reader.feed(wasteful)


EMPTY_BLOCK = b"\0" + struct.pack("<HH", 0, 0xFFFF)
GZIP_HEAD = gzip.compress(b"")[:10]
PACKED_LIST = gzip.compress(b"[]")
ENDLESS_NOTHING = {
    "empty blocks of gzip": endless(PACKED + chunk(GZIP_HEAD), chunk(EMPTY_BLOCK * 1000)),
    "empty members of gzip": endless(PACKED + chunk(PACKED_LIST), chunk(gzip.compress(b"") * 100)),
    "padding": endless(PACKED + chunk(PACKED_LIST), chunk(b"\0" * 5000)),
}


@each("name", ENDLESS_NOTHING)
def test_a_body_that_unpacks_to_nothing_ends(ferry_over, monkeypatch, name):
    monkeypatch.setattr("ferry_sdk._transport.exchange.LARGEST_REPLY", 200_000)
    with Service(ENDLESS_NOTHING[name]) as service:
        ferry = ferry_over(service.url, max_retries=0)
        caught(UnexpectedResponseError, ferry.catalogue.ports)


@pytest.mark.parametrize("kind", [H11Reader, LlhttpReader])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_tiny_chunks_become_one_piece(kind, size):
    reader = kind()
    body = chunk(b"x" * size) * 20_000
    reader.feed(JSON)
    taken = []
    for start in range(0, len(body), PIECE):
        reader.feed(body[start : start + PIECE])
        taken.append(reader.take())
        assert not reader.pieces
    assert b"".join(taken) == b"x" * size * 20_000


def test_bytes_kept_for_h11_end():
    reader = LlhttpReader()
    reader.feed(JSON)
    for _ in range(40):
        reader.feed(chunk(b"x" * PIECE))
        reader.take()
        assert len(reader._kept) <= replies._MOST_KEPT
    assert not reader._kept


@pytest.mark.parametrize("head", [b"content-length: 9000000\r\n\r\n", b"connection: close\r\n\r\n"])
def test_no_bytes_of_a_plain_body_are_kept(head):
    reader = LlhttpReader()
    reader.feed(b"HTTP/1.1 200 OK\r\n" + head)
    reader.feed(b"x" * PIECE)
    assert not reader._kept


def test_headers_of_one_name_take_linear_work():
    joined = replies._parse_headers(repeat((b"x-many", b"1"), 20_000))
    assert joined["x-many"] == ", ".join(["1"] * 20_000)


TWO_BYTES = 400_000
"""Chunks of two bytes each; a list of them takes more than twice `MEMORY`."""


@pytest.fixture(scope="module")
def tiny_chunks():
    """A reply whose body is no JSON, so that only the transport takes memory for it."""
    return JSON + chunk(b"xy") * TWO_BYTES + b"0\r\n\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "ferry_over", mostly_long(["llhttp", "llhttp-asyncio", "h11", "httpx"], short=2), indirect=True
)
def test_a_body_in_two_byte_chunks_takes_little(ferry_over, tiny_chunks):
    def script(connection):
        connection.request()
        connection.socket.sendall(tiny_chunks)

    with Service(script) as service:
        ferry = ferry_over(service.url, max_retries=0)
        tracemalloc.start()
        caught(UnexpectedResponseError, ferry.catalogue.ports)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < MEMORY
