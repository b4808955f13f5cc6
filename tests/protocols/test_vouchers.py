"""A voucher's file comes whole or not at all, and the token stays at home."""

import errno
import os
import pickle
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ferry_sdk as sdk
from ferry_sdk import FerryError, InvalidInputError, TicketNotFoundError, UnexpectedResponseError
from ferry_sdk.resources.tickets import TicketsGroup
from tests.support.exchanges import TOKEN, URL, caught, client_of
from tests.support.tiers import examples
from tests.support.trip import booked

PDF = b"%PDF-1.7\nof somebody's\n%%EOF\n"
CDN = "https://cdn.example/voucher.pdf"
HOME = f"{URL}/voucher/1.pdf"


def issue_ticket(ferry, **which):
    return ferry.bookings.confirm(booked(ferry, **which).booking_id).ticket_id


@pytest.fixture
def voucher(both):
    """Give the id of a ticket with a voucher, and the voucher's content."""
    ticket_id = issue_ticket(both)
    return ticket_id, both.tickets.read_pdf(ticket_id)


def test_voucher_is_read_without_a_file(both, voucher, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ticket_id, content = voucher
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    assert both.with_raw_response.tickets.read_pdf(ticket_id).parse() == content
    assert not list(tmp_path.iterdir())


def test_voucher_is_saved_under_any_kind_of_path(both, voucher, tmp_path, monkeypatch):
    class Somewhere:
        """A path of nobody's own kind."""

        def __fspath__(self):
            return str(path)

    monkeypatch.chdir(tmp_path)
    ticket_id, content = voucher
    path = tmp_path / "voucher.pdf"
    for name in (str(path), path, Somewhere(), "voucher.pdf"):
        path.write_bytes(b"old" * 100_000)
        assert both.tickets.save_pdf(ticket_id, name) == Path(name)
        assert (path.read_bytes(), list(tmp_path.iterdir())) == (content, [path])


def save_to(folder):
    return lambda ferry, ticket_id: ferry.tickets.save_pdf(ticket_id, folder / "v.pdf")


def read_from(_):
    return lambda ferry, ticket_id: ferry.tickets.read_pdf(ticket_id)


every_way = pytest.mark.parametrize("way_of", [save_to, read_from], ids=["save_pdf", "read_pdf"])


@every_way
def test_voucher_that_is_not_ready_is_not_found(both, tmp_path, way_of):
    ticket_id = both.bookings.get(booked(both).booking_id).tickets[0].id
    assert both.tickets.pdf(ticket_id).url is None
    error = caught(sdk.VoucherNotReadyError, way_of(tmp_path), both, ticket_id)
    assert isinstance(error, sdk.NotFoundError)
    assert "e-mail" in str(error)
    assert "HTTP" not in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert len(error.attempts) == 1
    assert not list(tmp_path.iterdir())


@every_way
def test_voucher_of_an_unknown_ticket_is_not_found(both, tmp_path, way_of):
    caught(TicketNotFoundError, way_of(tmp_path), both, "t-nobody")


@pytest.mark.parametrize("fault", ["truncate", "lose_reply", "cut_before", "server_error"])
def test_file_that_breaks_off_is_fetched_again(both, ferry_sandbox, tmp_path, fault):
    ticket_id = issue_ticket(both)
    ferry_sandbox.faults.add(fault, "voucher.file", times=2)
    path = both.tickets.save_pdf(ticket_id, tmp_path / "v.pdf")
    assert path.read_bytes().rstrip().endswith(b"%%EOF")
    assert ferry_sandbox.counters.requests["voucher.file"] == 3


class Web:
    """The service, which names the voucher's address, and the pages of all other addresses."""

    def __init__(self, url, pages=None):
        self._url = url
        self._pages = pages or {}
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        if str(request.url) == f"{URL}/api/ticket/t-1/pdf":
            return httpx.Response(200, json={"url": self._url})
        page = self._pages.get(str(request.url)) or httpx.Response(200, content=PDF)
        return httpx.Response(page.status_code, headers=page.headers, content=page.content)

    @property
    def places(self):
        return [str(request.url) for request in self.requests[1:]]

    def save(self, clients, folder, **settings):
        return client_of(clients, self, **settings).tickets.save_pdf("t-1", folder / "v.pdf")


def redirect(to, status=302):
    return httpx.Response(status, headers={"location": to.encode("utf-8", "replace")})


def error_of_save(clients, web, folder):
    """Return the error of a file that cannot be had; none is there."""
    error = caught(UnexpectedResponseError, web.save, clients, folder)
    assert not list(folder.iterdir())
    return error


@pytest.mark.parametrize(
    "url",
    [
        CDN,
        "https://ferry.example:8443/v.pdf",
        "https://ferry.example.evil.example/v.pdf",
        "https://ferry.example@evil.example/v.pdf",
        "https://www.ferry.example/v.pdf",
        "https://ferry.example:443@evil.example/v.pdf",
        "https://evil.example/ferry.example/v",
    ],
)
def test_foreign_address_learns_nothing_of_the_caller(clients, tmp_path, url):
    web = Web(url)
    path = web.save(clients, tmp_path, language="fr", default_headers={"x-agency": "Okonkwo"})
    assert path.read_bytes() == PDF
    sent = web.requests[1].headers
    assert TOKEN not in str(sent.raw)
    assert "Okonkwo" not in str(sent.raw)
    assert {"x-client-correlation-id", "accept-language", "cookie", "referer"}.isdisjoint(sent)


@pytest.mark.parametrize(
    "url",
    [
        "http://ferry.example/v.pdf",
        "http://cdn.example/v.pdf",
        "ftp://a/v.pdf",
        "/v.pdf",
        "file:///etc/hostname",
        "",
        "cdn.example/v.pdf",
        "https://",
        "https://[",
        "https://a:b/",
        " https://ferry.example/v.pdf",
        "\nhttps://ferry.example/v.pdf",
        "https://xn--../v.pdf",
        17,
        True,
        {"href": CDN},
        [CDN],
    ],
    ids=str,
)
def test_address_without_https_gets_no_request(clients, tmp_path, url):
    web = Web(url)
    error_of_save(clients, web, tmp_path)
    assert web.places == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("start", [CDN, HOME])
@pytest.mark.parametrize("end", ["https://store.example/v.pdf?signature=1", f"{URL}/voucher/2.pdf"])
def test_redirect_is_followed_without_the_token(clients, tmp_path, status, start, end):
    between = start.rpartition("/")[0] + "/next"
    web = Web(start, {start: redirect("next", status), between: redirect(end, status)})
    web.save(clients, tmp_path)
    assert web.places == [start, between, end]
    assert [request.method for request in web.requests] == ["GET"] * 4
    has_token = ["authorization" in request.headers for request in web.requests[1:]]
    assert has_token == [start == HOME, False, False]


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
@pytest.mark.parametrize("first", [CDN, HOME])
@pytest.mark.parametrize(
    "to", [None, "http://cdn.example/v.pdf", "ftp://cdn.example/", "https://["]
)
def test_redirect_to_no_https_is_unexpected(clients, tmp_path, status, first, to):
    web = Web(first, {first: redirect(to, status) if to else httpx.Response(status)})
    assert (error_of_save(clients, web, tmp_path).status_code, web.places) == (status, [first])


def test_redirects_end(clients, tmp_path):
    web = Web(CDN, {CDN: redirect(CDN)})
    assert error_of_save(clients, web, tmp_path).status_code == 302
    assert len(web.places) == 6


@pytest.mark.parametrize("status", [403, 404])
def test_refused_file_has_its_status(clients, tmp_path, status):
    web = Web(CDN, {CDN: httpx.Response(status, text="<Error>AccessDenied</Error>")})
    with pytest.raises(FerryError, match=f"the voucher cannot be fetched .HTTP {status}."):
        web.save(clients, tmp_path)
    assert not list(tmp_path.iterdir())


def test_services_own_address_gets_the_token(clients, tmp_path):
    web = Web(HOME)
    assert web.save(clients, tmp_path).read_bytes() == PDF
    sent = web.requests[1].headers
    assert (sent["authorization"], sent["accept"]) == (f"Bearer {TOKEN}", "application/pdf")
    assert sent["x-client-correlation-id"]


def test_foreign_reply_tells_nothing_of_calls(clients, tmp_path):
    web = Web(CDN)
    ferry = client_of(clients, web)
    earlier = ferry.with_raw_response.tickets.pdf("t-1").correlation_id
    web._pages[CDN] = httpx.Response(200, content=PDF, headers={"x-client-correlation-id": earlier})
    assert ferry.tickets.save_pdf("t-1", tmp_path / "v.pdf").read_bytes() == PDF


def test_path_is_in_no_repr():
    assert "reyes" not in repr(TicketsGroup.save_pdf(None, "t-1", "of-ada-reyes.pdf").call)


STARTS = ("https://", "HTTPS://", "http://", "https:/", "//", "https:///", " https://")
PIECES = (
    "ferry.example",
    "evil.example",
    "FERRY.EXAMPLE",
    "@",
    ":443",
    ":8443",
    ":",
    "\\",
    "/",
    "#",
    "?",
    ".",
    "%2f",
    "%40",
    "[::1]",
    " ",
    "\t",
    "\n",
    "ferry\u3002example",
    "\uff0f",
    "\u2100",
    "%00",
    "&",
    ";",
    "..",
    "user:pw@",
    "xn--",
    "[",
    "]",
    "\u017f",
)
rests = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=20)
addresses = st.builds("{}{}".format, st.sampled_from(STARTS), rests) | st.text(max_size=20)
pages = st.none() | st.builds(redirect, addresses, st.sampled_from([200, 302, 404]))


@given(url=addresses, page=pages)
@example(url="https://evil.example\\@ferry.example/", page=None)
@example(url="https://ferry.example\\@evil.example/", page=None)
@example(url="https://ferry.example\t@evil.example/", page=None)
@example(url=CDN, page=redirect("https://["))
@example(url=CDN, page=redirect("https://\u2100/"))
@examples(300)
def test_token_reaches_only_the_service(tmp_path_factory, url, page):
    web = Web(url, {url: page})
    folder = tmp_path_factory.getbasetemp()
    with httpx.Client(transport=httpx.MockTransport(web)) as http:
        ferry = sdk.Ferry(TOKEN, base_url=URL, http_client=http, max_retries=0)
        with suppress(FerryError):
            ferry.tickets.save_pdf("t-1", folder / "any.pdf")
    for request in web.requests:
        assert request.url.scheme == "https"
        if TOKEN in str(request.headers.raw):
            assert (request.url.host, request.url.port) == ("ferry.example", None)


def save(clients, path, content=PDF):
    web = Web(CDN, {CDN: httpx.Response(200, content=content)})
    return client_of(clients, web).tickets.save_pdf("t-1", path)


@pytest.fixture(params=[None, b"old"], ids=["no file", "old file"])
def path(request, tmp_path):
    """Give a path at which there is an old file, or none."""
    path = tmp_path / "v.pdf"
    if request.param is not None:
        path.write_bytes(request.param)
    return path


@pytest.mark.parametrize("content", [b"", b"<html>", b"%PDF", b"x" * 2000 + PDF, b"pdf"])
def test_no_other_content_changes_a_file(clients, path, content):
    before = [item.read_bytes() for item in path.parent.iterdir()]
    error = caught(UnexpectedResponseError, save, clients, path, content)
    assert error.operation == "tickets.save_pdf"
    assert [item.read_bytes() for item in path.parent.iterdir()] == before


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_full_disk_changes_no_file(clients, path, monkeypatch, step):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = [item.read_bytes() for item in path.parent.iterdir()]
    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="No space left"):
        save(clients, path)
    assert [item.read_bytes() for item in path.parent.iterdir()] == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
@pytest.mark.parametrize("kind", ["folder", "FIFO", "socket", "device"])
def test_what_is_no_file_is_refused(clients, tmp_path, kind, monkeypatch):
    there = tmp_path / "v.pdf"
    ends = os.openpty() if kind == "device" else ()  # of the test's own
    if kind == "folder":
        there.mkdir()
    elif kind == "FIFO":
        os.mkfifo(there)
    elif kind == "socket":
        monkeypatch.chdir(tmp_path)  # a socket's whole path must be short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("v.pdf")
    else:
        there = Path(os.ttyname(ends[1]))
    link = tmp_path / "link.pdf"
    link.symlink_to(there)
    before = (there.stat().st_ino, there.stat().st_mode)
    for path in (there, link):
        assert caught(InvalidInputError, save, clients, path).field == "path"
        assert (there.stat().st_ino, there.stat().st_mode) == before
        assert not list(tmp_path.glob(".*"))
    for end in ends:
        os.close(end)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
@pytest.mark.parametrize("length", [1, 200, 240, 251])
@pytest.mark.parametrize("before", [None, 0o644, 0o666], ids=["no file", "644", "666"])
@pytest.mark.parametrize(
    "prefix",
    [b"", b"\n", b"\xef\xbb\xbf", b" " * 1000],
    ids=["nothing", "line feed", "byte order mark", "spaces"],
)
def test_voucher_is_for_its_owner_only(clients, tmp_path, length, before, prefix):
    """Its name is as long as the system allows, and its content begins a little late."""
    path = tmp_path / f"{'n' * length}.pdf"
    if before is not None:
        path.write_bytes(b"old")
        path.chmod(before)
    umask = os.umask(0)
    try:
        assert save(clients, path, prefix + PDF).read_bytes() == prefix + PDF
    finally:
        os.umask(umask)
    assert ([*tmp_path.iterdir()], stat.S_IMODE(path.stat().st_mode)) == ([path], 0o600)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("n" * 256, id="long name"),
        pytest.param("n" * 5000, id="very long name"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("\ud800.pdf", id="lone surrogate"),
        pytest.param("", id="empty"),
        pytest.param(".", id="this folder"),
        pytest.param("..", id="folder above"),
        pytest.param("a/..", id="folder by way of another"),
        pytest.param("/", id="root"),
        pytest.param("none/v.pdf", id="no folder"),
        pytest.param("file/v.pdf", id="file as a folder"),
    ],
)
def test_path_that_can_be_no_file_is_refused(clients, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"old")
    assert caught(InvalidInputError, save, clients, name).field == "path"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_reader_sees_the_old_file_or_the_new(clients, tmp_path, monkeypatch):
    path = tmp_path / "v.pdf"
    path.write_bytes(b"old")
    seen = []
    fsync = os.fsync

    def looking(descriptor):
        seen.append(path.read_bytes())
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", looking)
    save(clients, path)
    assert (seen[0], path.read_bytes()) == (b"old", PDF)
