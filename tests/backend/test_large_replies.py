"""A reply is read up to a bound, unpacked once, and never unpacked for the sake of its size."""

import gzip
import json
import tracemalloc
import zlib
from functools import cache
from itertools import repeat

import pytest

from ferry_sdk import FerryError, OutcomeUnknownError, UnexpectedResponseError
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually, threads_end
from tests.support.tables import each
from tests.transport.calls import CREATE
from tests.transport.scripted import Service, in_turn, serve

# Who leaves a body in the middle leaves generators of httpcore's to the collector; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")

BOUND = 200_000


@cache
def bomb():
    """Return what unpacks to a hundred times the bound; packing it takes a while."""
    return gzip.compress(b" " * 100 * BOUND)


@pytest.fixture(autouse=True)
def bound(monkeypatch):
    monkeypatch.setattr("ferry_sdk._transport.exchange.LARGEST_REPLY", BOUND)


def replied(body, *headers, status="200 OK"):
    def reply(connection):
        connection.request()
        named = [f"HTTP/1.1 {status}", JSON, f"content-length: {len(body)}", *headers, "", ""]
        connection.socket.sendall("\r\n".join(named).encode() + body)

    return reply


def chunked(pieces, *headers):
    def reply(connection):
        connection.request()
        head = ["HTTP/1.1 200 OK", "transfer-encoding: chunked", *headers, "", ""]
        connection.socket.sendall("\r\n".join(head).encode())
        for piece in pieces:
            if connection.service.stopped.is_set():
                return
            connection.socket.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))

    return reply


PACKED = "content-encoding: gzip"
JSON = "content-type: application/json"
STREAM = "content-type: text/event-stream"
TEXT = b'"' + b"a" * BOUND + b'"'
LARGE = {
    "plain": lambda: replied(TEXT),
    "packed": lambda: replied(gzip.compress(TEXT), PACKED),
    "bomb": lambda: replied(bomb(), PACKED),
    "plain without end": lambda: chunked(repeat(b" " * 5000), JSON),
    "packed without end": lambda: chunked([bomb()] * 3, JSON, PACKED),
    "refusal": lambda: replied(TEXT, status="503 No"),
    "packed refusal": lambda: replied(bomb(), PACKED, status="422 No"),
}


def client_of(clients, service):
    return clients("t", base_url=service.url, max_retries=0, deadline=20)


def peak_of_a_read(clients, script):
    with Service(script) as service:
        ferry = client_of(clients, service)
        tracemalloc.start()
        assert isinstance(UnderWay(ferry.catalogue.ports).error(), UnexpectedResponseError)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize("name", LARGE)
def test_a_reading_is_refused_a_write_unknown_and_no_memory_taken(any_clients, monkeypatch, name):
    monkeypatch.setattr("ferry_sdk._transport.http11.client.MOST_CONNECTIONS", 1)
    with Service(LARGE[name](), LARGE[name](), serve) as service:
        ferry = client_of(any_clients, service)
        error = UnderWay(ferry.catalogue.ports).error()
        assert type(error) is UnexpectedResponseError
        assert f"{BOUND}" in str(error)
        assert error.outcome == "unknown"
        assert error.status_code in {200, 422, 503}
        assert type(UnderWay(lambda: CREATE.make(ferry)).error()) is OutcomeUnknownError
        assert service.asked == ["GET /api/port", CREATE.line]
        assert list(ferry.catalogue.ports()) == []
        eventually(lambda: len(connections_to(service.url)) <= 1)
    with Service(LARGE[name](), serve) as service:
        assert client_of(any_clients, service).bookings.confirm("b-1").read_back
        assert service.asked == ["POST /api/booking/confirm", "GET /api/booking/b-1"]
    # Meanwhile, the service of an earlier test may answer.
    assert any(peak_of_a_read(any_clients, LARGE[name]()) < 10 * BOUND for _ in range(3))
    threads_end()


@each(
    "script",
    [
        lambda: chunked(repeat(b": nothing\n\n" * 500), STREAM),
        lambda: chunked(repeat(b"data: " + b"a" * 5000), STREAM),
        lambda: chunked([bomb()] * 3, STREAM, PACKED),
        lambda: replied(bomb(), PACKED),
    ],
)
def test_a_reply_of_mcp_is_bounded_too(any_clients, script):
    with Service(script()) as service:
        error = UnderWay(client_of(any_clients, service).mcp.countries).error()
        assert type(error) is UnexpectedResponseError
        assert f"{BOUND}" in str(error)


def test_a_voucher_is_bounded_too_and_a_packed_reply_in_many_pieces_is_read(any_clients, tmp_path):
    with Service(serve) as service:
        url = json.dumps({"url": f"{service.url}/v.pdf"}).encode()
        service._scripts = [in_turn(replied(url), replied(bomb(), PACKED))]
        call = client_of(any_clients, service).tickets.save_pdf
        error = UnderWay(lambda: call("t-1", tmp_path / "v.pdf")).error()
        assert isinstance(error, FerryError)
        assert f"{BOUND}" in str(error)
        assert not [*tmp_path.iterdir()]
    halves = b'[{"code": "A", "name": "n",', b' "country": "c"}]'
    body = gzip.compress(b"".join(halves))
    pieces = [body[index : index + 1] for index in range(len(body))]
    with Service(chunked([*pieces, b""], JSON, PACKED)) as service:
        assert client_of(any_clients, service).catalogue.ports()[0].code == "A"
    with Service(replied(b"".join(map(gzip.compress, halves)), PACKED)) as service:
        outcome = UnderWay(client_of(any_clients, service).catalogue.ports).outcome()
        if outcome.error is None:
            assert outcome.value[0].country == "c"
        else:
            assert type(outcome.error) is UnexpectedResponseError


@pytest.mark.parametrize("deadline", [None, 20])
def test_a_reply_up_to_the_bound_is_read(any_clients, deadline):
    room = BOUND - len(json.dumps([{"code": "A", "name": "", "country": "c"}]))
    port = {"code": "A", "name": "n" * room, "country": "c"}
    body = json.dumps([port]).encode()
    assert len(body) == BOUND
    for script in (replied(body), replied(gzip.compress(body), PACKED)):
        with Service(script) as service:
            ferry = any_clients("t", base_url=service.url, deadline=deadline)
            assert ferry.catalogue.ports()[0].name == port["name"]


TWICE = gzip.compress(gzip.compress(b"[]"))
UNREADABLE = {
    "packed twice": (TWICE, "gzip, gzip"),
    "packed twice, by two headers": (TWICE, "gzip", "gzip"),
    "packed twice and not at all": (TWICE, "identity, gzip, gzip"),
    "packed twice, without a blank": (TWICE, "gzip,gzip"),
    "no gzip": (b"no gzip at all", "gzip"),
    "cut": (gzip.compress(b"[]")[:-9], "gzip"),
    "cut short": (gzip.compress(b'[{"code": "A"}]')[:12], "gzip"),
    "brotli": (b"[]", "br"),
    "zstd": (zlib.compress(b"[]"), "zstd"),
    "of nobody's": (b"\x28\xb5\x2f\xfd\x00\x00", "compress"),
}


@each("name", UNREADABLE)
def test_a_packing_that_cannot_be_undone_is_typed(any_clients, name):
    body, *packings = UNREADABLE[name]
    headers = (f"content-encoding: {packing}" for packing in packings)
    with Service(replied(body, *headers)) as service:
        ferry = client_of(any_clients, service)
        outcome = UnderWay(ferry.catalogue.ports).outcome()
        if outcome.error is None and name == "brotli":  # it is none
            assert list(outcome.value) == []
        else:
            assert type(outcome.error) is UnexpectedResponseError
            assert outcome.error.status_code == 200
        assert type(UnderWay(lambda: CREATE.make(ferry)).error()) is OutcomeUnknownError
