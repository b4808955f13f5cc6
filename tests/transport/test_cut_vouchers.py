"""A voucher that arrives cut off is not taken for a whole one, over every kind of HTTP client."""

import gzip
import json
import random

import pytest

from ferry_sdk import FerryError, UnexpectedResponseError
from tests.support.exchanges import caught
from tests.support.http_clients import HTTP_CLIENTS
from tests.support.tables import each
from tests.support.tiers import mostly_long
from tests.transport.scripted import Service

# Who leaves a body in the middle leaves generators of httpcore's to the collector; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")

NOISE = random.Random(1).randbytes(60_000)  # noqa: S311 -- no secret
PDF = b"%PDF-1.7\n" + NOISE + b"\nstartxref\n9\n%%EOF\n"
PACKED = gzip.compress(PDF)


def reply(body, *lines, status="200 OK"):
    head = [f"HTTP/1.1 {status}", "content-type: application/pdf", *lines, "", ""]
    return "\r\n".join(head).encode() + body


def with_length(body, *lines, length=None, **options):
    size = len(body) if length is None else length
    return reply(body, f"content-length: {size}", *lines, **options)


def chunked(body, *lines, last=b"0\r\n\r\n"):
    return reply(b"%x\r\n%b\r\n" % (len(body), body) + last, "transfer-encoding: chunked", *lines)


GZIP = "content-encoding: gzip"
WHOLE = {
    "a length": with_length(PDF),
    "chunks": chunked(PDF),
    "until the end": reply(PDF, "connection: close"),
    "gzip, a length": with_length(PACKED, GZIP),
    "gzip, chunks": chunked(PACKED, GZIP),
    "gzip, until the end": reply(PACKED, GZIP),
    "line ends behind its end": with_length(PDF + b"\r\n" * 100),
    "another success": with_length(PDF, status="203 Non-Authoritative"),
}
CUT = {
    "gzip, the length of the part": with_length(PACKED[:30_000], GZIP),
    "gzip, chunks": chunked(PACKED[:30_000], GZIP),
    "gzip, until the end": reply(PACKED[:30_000], GZIP),
    "gzip without its checksum": with_length(PACKED[:-8], GZIP),
    "until the end": reply(PDF[:30_000], "connection: close"),
    "the length of the part": with_length(PDF[:30_000]),
    "chunks of a part": chunked(PDF[:30_000]),
    "within its last line": with_length(PDF[:-3]),
    "a status of a part": with_length(PDF[:30_000], status="206 Partial Content"),
    "a status of a part for the whole": with_length(
        PDF, f"content-range: bytes 0-{len(PDF) - 1}/{len(PDF)}", status="206 Partial Content"
    ),
}
BROKEN_OFF = {
    "the length of the whole": with_length(PDF[:30_000], length=len(PDF)),
    "no last chunk": chunked(PDF, last=b""),
    "gzip, the length of the whole": with_length(PACKED[:30_000], GZIP, length=len(PACKED)),
}


class Vouchers(Service):
    """Names the address of a voucher to one request, and replies to the next with its file."""

    def __init__(self, file):
        super().__init__(self.serve)
        self.file = file

    def serve(self, connection):
        while line := connection.request():
            if line == "GET /api/ticket/t-1/pdf":
                connection.send("200 OK", json.dumps({"url": f"{self.url}/v.pdf"}).encode())
            else:
                connection.socket.sendall(self.file)
                return


@each("name", WHOLE)
def test_a_whole_voucher_is_saved(ferry_over, tmp_path, name):
    with Vouchers(WHOLE[name]) as service:
        path = ferry_over(service.url).tickets.save_pdf("t-1", tmp_path / "v.pdf")
        assert path.read_bytes().rstrip() == PDF.rstrip()


@each("name", CUT)
def test_a_cut_voucher_is_not_saved(ferry_over, tmp_path, name):
    with Vouchers(CUT[name]) as service:
        save = ferry_over(service.url, max_retries=0).tickets.save_pdf
        error = caught(UnexpectedResponseError, save, "t-1", tmp_path / "v.pdf")
        assert error.status_code in {200, 206}
        assert not [*tmp_path.iterdir()]


@each("name", BROKEN_OFF)
def test_a_voucher_broken_off_is_not_saved(ferry_over, tmp_path, name):
    with Vouchers(BROKEN_OFF[name]) as service:
        save = ferry_over(service.url, max_retries=0).tickets.save_pdf
        with pytest.raises(FerryError):
            save("t-1", tmp_path / "v.pdf")
        assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("ferry_over", mostly_long(HTTP_CLIENTS, short=2), indirect=True)
@each("name", CUT)
def test_a_cut_voucher_leaves_an_older_one(ferry_over, tmp_path, name):
    path = tmp_path / "v.pdf"
    path.write_bytes(b"old")
    with Vouchers(CUT[name]) as service:
        ferry = ferry_over(service.url, max_retries=0)
        caught(UnexpectedResponseError, ferry.tickets.save_pdf, "t-1", path)
    assert [item.read_bytes() for item in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("ferry_over", mostly_long(HTTP_CLIENTS, short=2), indirect=True)
@each("name", CUT)
def test_a_cut_voucher_is_not_returned(ferry_over, name):
    with Vouchers(CUT[name]) as service:
        ferry = ferry_over(service.url, max_retries=0)
        caught(UnexpectedResponseError, ferry.tickets.read_pdf, "t-1")
