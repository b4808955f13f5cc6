"""What is read, and what is refused, over every kind of HTTP client."""

import gzip
import json
import zlib

import pytest

from ferry_sdk import ConnectionFailedError, OutcomeUnknownError, UnexpectedResponseError
from tests.support import samples
from tests.support.exchanges import caught
from tests.support.http_clients import HTTP_CLIENTS
from tests.support.tables import each
from tests.support.tiers import mostly_long
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import Service

# Who leaves a body in the middle leaves generators of httpcore's to the collector; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")

FIRST = ("llhttp", "h11-asyncio", "httpx")
OTHERS = tuple(name for name in HTTP_CLIENTS if name not in FIRST)
mostly_three_kinds = pytest.mark.parametrize(
    "ferry_over", mostly_long([*FIRST, *OTHERS], short=len(FIRST)), indirect=True
)
"""Reads show how every kind reads; what a write makes of that is the same for all."""

BODIES = {
    READ.line: json.dumps([{"code": "ALG", "name": "Algeciras", "country": "Spain"}]).encode(),
    CREATE.line: json.dumps(samples.BOOKING_CREATED).encode(),
}


WITHOUT_AN_ID = BODIES | {CREATE.line: b'{"booking_reference": "Q25XLLFM", "stage": "payment_due"}'}
"""Bodies without the id of a booking, by which the booking would be read back."""


def serving(reply, bodies=BODIES):
    """The script that answers one request with what `reply` makes of its body, and closes."""

    def answer(connection):
        body = bodies[connection.request()]
        connection.socket.sendall(reply(body))

    return answer


def framed(*lines, version="HTTP/1.1 200 OK", end="\r\n"):
    """A reply of its length with these lines in its head."""

    def reply(body):
        head = [version, *lines, f"content-length: {len(body)}", "", ""]
        return end.join(head).encode("latin-1") + body

    return reply


def lengths(*values):
    """A reply whose headers tell these lengths; ``{}`` stands for the true one."""

    def reply(body):
        headers = [f"content-length: {value.format(len(body))}\r\n" for value in values]
        return b"HTTP/1.1 200 OK\r\n" + "".join(headers).encode() + b"\r\n" + body

    return reply


def until_the_end(*lines, version="HTTP/1.1 200 OK", end="\r\n"):
    """A reply without a length."""
    return lambda body: end.join([version, *lines, "", ""]).encode() + body


def chunked(*lines, size="{:x}\r\n", end="\r\n", last="0\r\n\r\n", encoding="chunked"):
    """A reply in two chunks; ``size`` is the line of a chunk, ``end`` follows it."""

    def reply(body):
        head = ["HTTP/1.1 200 OK", f"transfer-encoding: {encoding}", *lines, "", ""]
        pieces = [body[:5], body[5:]]
        chunks = [size.format(len(piece)).encode() + piece + end.encode() for piece in pieces]
        return "\r\n".join(head).encode() + b"".join(chunks) + last.encode()

    return reply


def packed(pack, encoding="gzip"):
    """A reply whose body is packed."""
    framed_reply = framed(f"content-encoding: {encoding}")
    return lambda body: framed_reply(pack(body))


def after(head, reply):
    """A reply behind other bytes."""
    return lambda body: head + reply(body)


def raw_deflate(body):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


INTERIM = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
READABLE = {
    "regular": framed(),
    "lines that end with LF": framed("x-request-id: r-1", end="\n"),
    "lines that end with LF, until the end": until_the_end(end="\n"),
    "an LF among CR LF": framed("x-one: 1\nx-two: 2"),
    "a folded header": framed("x-long: one\r\n two"),
    "a header folded with a tab": framed("x-long: one\r\n\t two\r\n three"),
    "one length twice": lengths("{}", "{}"),
    "one length twice in a line": lengths("{0}, {0}"),
    "HTTP/1.2": framed(version="HTTP/1.2 200 OK"),
    "HTTP/1.0": framed(version="HTTP/1.0 200 OK"),
    "HTTP/1.0 until the end": until_the_end(version="HTTP/1.0 200 OK"),
    "no reason": framed(version="HTTP/1.1 200"),
    "an empty reason": framed(version="HTTP/1.1 200 "),
    "a reason with an accent": framed(version="HTTP/1.1 200 Réussi"),
    "an empty header": framed("x-empty:"),
    "a header with a control character": framed("x-odd: a\x01b"),
    "three hundred headers": framed(*[f"x-{number}: {number}" for number in range(300)]),
    "a header of fifty kilobytes": framed(f"x-long: {'x' * 50_000}"),
    "an interim head": after(INTERIM, framed()),
    "five interim heads": after(INTERIM * 5, chunked()),
    "an interim head with LF": after(INTERIM.replace(b"\r\n", b"\n"), framed(end="\n")),
    "chunks": chunked(),
    "chunks of a large word": chunked(encoding="Chunked"),
    "spaces behind a chunk size": chunked(size="{:x}  \r\n"),
    "a tab behind a chunk size": chunked(size="{:x}\t\r\n"),
    "zeros before a chunk size": chunked(size="{:018x}\r\n"),
    "a chunk with an extension": chunked(size="{:x};a=b;c\r\n"),
    "a chunk with an odd extension": chunked(size="{:X}; =\x7f \r\n"),
    "trailers": chunked(last="0\r\nx-late: 1\r\n\r\n"),
    "trailers with LF": chunked(last="0\r\nx-late: 1\n\n"),
    "folded trailers": chunked(last="0\r\nx-late: 1\r\n 2\r\n\r\n"),
    "bytes behind the reply": lambda body: framed()(body) + b"HTTP/1.1 500 No\r\n\r\n",
    "a byte order mark": lambda body: framed()(b"\xef\xbb\xbf" + body),
    "gzip": packed(gzip.compress),
    "gzip of two members": packed(lambda body: gzip.compress(body[:9]) + gzip.compress(body[9:])),
    "gzip and padding": packed(lambda body: gzip.compress(body) + b"\0" * 20),
    "deflate": packed(zlib.compress, encoding="deflate"),
    "deflate without a header": packed(raw_deflate, encoding="deflate"),
}
REFUSED = {
    "a length and chunks": chunked("content-length: 5"),
    "the length of a chunked body": lambda body: chunked(f"content-length: {len(body)}")(body),
    "two lengths": lengths("{}", "7"),
    "two lengths in a line": lengths("{}, 7"),
    "a length with a sign": lengths("+{}"),
    "a negative length": lengths("-1"),
    "a hexadecimal length": lengths("0x50"),
    "a length that is too long": lengths("9{}"),
    "two transfer encodings": chunked("transfer-encoding: chunked"),
    "chunks of gzip": chunked(encoding="gzip, chunked"),
    "chunks of chunks": chunked(encoding="chunked, chunked"),
    "an unknown transfer encoding": chunked(encoding="identity"),
    "chunks without a last one": chunked(last=""),
    "chunks that touch": chunked(end=""),
    "a chunk size that is none": chunked(size="0x{:x}\r\n"),
    "a negative chunk size": chunked(size="-{:x}\r\n"),
    "a blank before a colon": framed("content-length : 5"),
    "a header without a colon": framed("content-length"),
    "a NUL in a header": framed("x-odd: a\0b"),
    "a CR in a header": framed("x-odd: a\rcontent-length: 5"),
    "RTSP": framed(version="RTSP/1.0 200 OK"),
    "ICE": framed(version="ICE/1.0 200 OK"),
    "RTSP after an interim head": after(INTERIM, framed(version="RTSP/1.0 200 OK")),
    "a greeting of SSH": lambda _: b"SSH-2.0-OpenSSH_9.6\r\n",
    "no version": framed(version="HTTP 200 OK"),
    "a short status": framed(version="HTTP/1.1 20 OK"),
    "a long status": framed(version="HTTP/1.1 2000 OK"),
    "another protocol": framed(version="HTTP/1.1 101 Switching Protocols"),
    "an empty line first": after(b"\r\n", framed()),
    "an empty line between heads": after(INTERIM + b"\r\n", framed()),
    "a fold in the first line": framed(version="HTTP/1.1 200 OK\r\n folded"),
    "interim heads alone": lambda _: INTERIM * 3,
}


@each("name", READABLE)
def test_an_odd_reply_is_read(ferry_over, name):
    with Service(serving(READABLE[name])) as service:
        (port,) = ferry_over(service.url, max_retries=0).catalogue.ports()
        assert port.code == "ALG"


@mostly_three_kinds
@each("name", READABLE)
def test_an_odd_reply_creates_a_booking(ferry_over, name):
    with Service(serving(READABLE[name])) as service:
        raw = CREATE.make(ferry_over(service.url))
        assert raw.parse().booking_id == samples.BOOKING_CREATED["booking_id"]
        assert service.asked == [CREATE.line]


@each("name", REFUSED)
def test_a_dangerous_reply_is_refused(ferry_over, name):
    with Service(serving(REFUSED[name])) as service:
        ferry = ferry_over(service.url, max_retries=0)
        error = caught(ConnectionFailedError, ferry.catalogue.ports)
        assert error.outcome == "unknown"


@mostly_three_kinds
@each("name", REFUSED)
def test_a_write_with_a_dangerous_reply_is_unknown(ferry_over, name):
    with Service(serving(REFUSED[name], WITHOUT_AN_ID)) as service:
        caught(OutcomeUnknownError, CREATE.make, ferry_over(service.url))
        assert service.asked == [CREATE.line]


CUT = {
    "gzip, a length": packed(lambda body: gzip.compress(body)[:-30]),
    "gzip without its checksum": packed(lambda body: gzip.compress(body)[:-8]),
    "gzip, chunks": lambda body: chunked("content-encoding: gzip")(gzip.compress(body)[:-30]),
    "gzip, until the end": lambda body: until_the_end("content-encoding: gzip")(
        gzip.compress(body)[:-30]
    ),
    "gzip, in the second member": packed(lambda body: gzip.compress(body) + gzip.compress(b"")[:9]),
    "deflate": packed(lambda body: zlib.compress(body)[:-5], encoding="deflate"),
    "deflate without a header": packed(lambda body: raw_deflate(body)[:-5], encoding="deflate"),
    "JSON, until the end": lambda body: until_the_end()(body[:-9]),
}


@each("name", CUT)
def test_a_reply_that_is_cut_is_unexpected(ferry_over, name):
    with Service(serving(CUT[name])) as service:
        ferry = ferry_over(service.url, max_retries=0)
        error = caught(UnexpectedResponseError, ferry.catalogue.ports)
        assert error.status_code == 200


@mostly_three_kinds
@each("name", CUT)
def test_a_write_with_a_cut_reply_is_unknown(ferry_over, name):
    with Service(serving(CUT[name], WITHOUT_AN_ID)) as service:
        caught(OutcomeUnknownError, CREATE.make, ferry_over(service.url))


def of_members(count):
    """A reply that is packed by gzip in so many members, all but the first empty."""
    return packed(lambda body: gzip.compress(body) + gzip.compress(b"") * (count - 1))


def test_a_thousand_members_of_gzip_are_read(ferry_over):
    with Service(serving(of_members(1000))) as service:
        (port,) = ferry_over(service.url, max_retries=0).catalogue.ports()
        assert port.code == "ALG"


def test_more_members_of_gzip_are_refused(ferry_over):
    with Service(serving(of_members(1001))) as service:
        ferry = ferry_over(service.url, max_retries=0)
        caught(UnexpectedResponseError, ferry.catalogue.ports)


@mostly_three_kinds
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"no gzip", id="no gzip"),
        pytest.param(gzip.compress(b"[]")[:-8] + b"\0" * 8, id="another checksum"),
    ],
)
def test_damaged_gzip_is_called_so(ferry_over, content):
    with Service(serving(packed(lambda _: content))) as service:
        ferry = ferry_over(service.url, max_retries=0)
        error = caught(UnexpectedResponseError, ferry.catalogue.ports)
        assert "cannot be decompressed: Error" in str(error)
