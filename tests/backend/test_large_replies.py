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
from tests.transport.calls import CREATE
from tests.transport.scripted import Service, in_turn, serve

# Who leaves a body in the middle leaves generators of httpcore's to the collector; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")

BOUND = 200_000


@cache
def bomb():
    """Return what unpacks to a hundred times the bound; it is made once, as that takes a while."""
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


@pytest.fixture(params=LARGE)
def large(request):
    """A script that replies with more than the bound."""
    return LARGE[request.param]()


def client_of(clients, service):
    return clients("t", base_url=service.url, max_retries=0, deadline=20)


def read_error(clients, script):
    """Return the error of a read that the script replies to."""
    with Service(script) as service:
        error = UnderWay(client_of(clients, service).catalogue.ports).error()
        assert service.asked == ["GET /api/port"]
    return error


def write_error(clients, script):
    """Return the error of a creation that the script replies to."""
    with Service(script) as service:
        ferry = client_of(clients, service)
        error = UnderWay(lambda: CREATE.make(ferry)).error()
        assert service.asked == [CREATE.line]
    return error


def test_a_large_reply_fails_a_read(any_clients, large):
    error = read_error(any_clients, large)
    assert type(error) is UnexpectedResponseError
    assert f"{BOUND}" in str(error)
    assert error.outcome == "unknown"
    assert error.status_code in {200, 422, 503}


def test_a_large_reply_leaves_a_write_unknown(any_clients, large):
    assert type(write_error(any_clients, large)) is OutcomeUnknownError


def test_a_large_reply_gives_up_its_place(any_clients, monkeypatch, large):
    monkeypatch.setattr("ferry_sdk._transport.http11.client.MOST_CONNECTIONS", 1)
    with Service(large, large, serve) as service:
        ferry = client_of(any_clients, service)
        assert UnderWay(ferry.catalogue.ports).error()
        assert UnderWay(lambda: CREATE.make(ferry)).error()
        assert service.asked == ["GET /api/port", CREATE.line]
        assert list(ferry.catalogue.ports()) == []
        eventually(lambda: len(connections_to(service.url)) <= 1)
    threads_end()


def test_a_large_confirmation_is_read_back(any_clients, large):
    with Service(large, serve) as service:
        assert client_of(any_clients, service).bookings.confirm("b-1").read_back
        assert service.asked == ["POST /api/booking/confirm", "GET /api/booking/b-1"]


def peak_of_a_read(clients, script):
    """Return the most bytes in use during a read that the script replies to."""
    with Service(script) as service:
        ferry = client_of(clients, service)
        tracemalloc.start()
        assert isinstance(UnderWay(ferry.catalogue.ports).error(), UnexpectedResponseError)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def test_a_large_reply_takes_little_memory(any_clients, large):
    # Three tries, because the service of an earlier test may answer meanwhile.
    assert any(peak_of_a_read(any_clients, large) < 10 * BOUND for _ in range(3))


@pytest.mark.parametrize(
    "make_script",
    [
        pytest.param(
            lambda: chunked(repeat(b": nothing\n\n" * 500), STREAM), id="comments without end"
        ),
        pytest.param(
            lambda: chunked(repeat(b"data: " + b"a" * 5000), STREAM), id="data without end"
        ),
        pytest.param(lambda: chunked([bomb()] * 3, STREAM, PACKED), id="packed without end"),
        pytest.param(lambda: replied(bomb(), PACKED), id="bomb"),
    ],
)
def test_a_reply_of_mcp_is_bounded(any_clients, make_script):
    with Service(make_script()) as service:
        error = UnderWay(client_of(any_clients, service).mcp.countries).error()
    assert type(error) is UnexpectedResponseError
    assert f"{BOUND}" in str(error)


def test_a_large_voucher_is_not_saved(any_clients, tmp_path):
    with Service(serve) as service:
        url = json.dumps({"url": f"{service.url}/v.pdf"}).encode()
        service._scripts = [in_turn(replied(url), replied(bomb(), PACKED))]
        call = client_of(any_clients, service).tickets.save_pdf
        error = UnderWay(lambda: call("t-1", tmp_path / "v.pdf")).error()
    assert isinstance(error, FerryError)
    assert f"{BOUND}" in str(error)
    assert not [*tmp_path.iterdir()]


HALVES = b'[{"code": "A", "name": "n",', b' "country": "c"}]'
"""A list of one port, in two parts."""


def test_a_packed_reply_may_come_in_bytes(any_clients):
    body = gzip.compress(b"".join(HALVES))
    pieces = [body[index : index + 1] for index in range(len(body))]
    with Service(chunked([*pieces, b""], JSON, PACKED)) as service:
        assert client_of(any_clients, service).catalogue.ports()[0].code == "A"


def test_a_reply_packed_in_parts_is_never_cut(any_clients):
    """Each decoder either reads both parts or fails; none returns the first part alone."""
    body = b"".join(gzip.compress(half) for half in HALVES)
    with Service(replied(body, PACKED)) as service:
        outcome = UnderWay(client_of(any_clients, service).catalogue.ports).outcome()
    if outcome.error is None:
        assert outcome.value[0].country == "c"
    else:
        assert type(outcome.error) is UnexpectedResponseError


@pytest.mark.parametrize("deadline", [None, 20])
@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "packed"])
def test_a_reply_up_to_the_bound_is_read(any_clients, deadline, is_packed):
    room = BOUND - len(json.dumps([{"code": "A", "name": "", "country": "c"}]))
    port = {"code": "A", "name": "n" * room, "country": "c"}
    body = json.dumps([port]).encode()
    assert len(body) == BOUND

    script = replied(gzip.compress(body), PACKED) if is_packed else replied(body)
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
    "zstd": (zlib.compress(b"[]"), "zstd"),
    "of nobody's": (b"\x28\xb5\x2f\xfd\x00\x00", "compress"),
}
NO_BROTLI = {"brotli": (b"[]", "br")}


def packed_as(body, *packings):
    return replied(body, *[f"content-encoding: {packing}" for packing in packings])


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_packing_fails_a_read(any_clients, reply):
    error = read_error(any_clients, packed_as(*reply))
    assert type(error) is UnexpectedResponseError
    assert error.status_code == 200


@pytest.mark.parametrize(
    "reply", [*UNREADABLE.values(), *NO_BROTLI.values()], ids=[*UNREADABLE, *NO_BROTLI]
)
def test_an_unreadable_packing_leaves_a_write_unknown(any_clients, reply):
    assert type(write_error(any_clients, packed_as(*reply))) is OutcomeUnknownError


def test_a_body_without_brotli_may_be_read(any_clients):
    """Where no decoder of brotli is installed, the body is read as it is."""
    with Service(packed_as(*NO_BROTLI["brotli"])) as service:
        outcome = UnderWay(client_of(any_clients, service).catalogue.ports).outcome()
    if outcome.error is None:
        assert list(outcome.value) == []
    else:
        assert type(outcome.error) is UnexpectedResponseError
        assert outcome.error.status_code == 200
