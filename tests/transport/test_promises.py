"""What the transport promises holds over every kind of HTTP client."""

import re
import threading
from functools import partial

import anyio
import pytest

from ferry_sdk import (
    ConnectionFailedError,
    OutcomeUnknownError,
    RequestTimeoutError,
    Timeout,
    UnexpectedResponseError,
)
from ferry_sdk._transport import default_client
from ferry_sdk._transport.http11 import client, pool
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually
from tests.support.exchanges import caught
from tests.support.http_clients import HTTP_CLIENTS
from tests.support.injected import LIBRARIES
from tests.transport import scripted as do
from tests.transport.calls import CREATE, READ, error_once_sent
from tests.transport.scripted import Service

pytestmark = pytest.mark.own_http_client(reason="they have clients of every kind themselves")

OWN = [name for name, kind in HTTP_CLIENTS.items() if kind.reader]
MADE_OF_HTTPX = [name for name, kind in HTTP_CLIENTS.items() if kind.is_proxied or kind.is_patched]
GIVEN = [name for name, kind in HTTP_CLIENTS.items() if kind.library]
ASYNC = [name for name, kind in HTTP_CLIENTS.items() if kind.loop != "sync"]


class Notes:
    """A script that notes the connection and the headers of each request.

    Attributes:
        connections: The number of the connection of each request.
        cookies: The Cookie header of each request; None if it has none.
    """

    def __init__(self, *headers):
        self.connections = []
        self.cookies = []
        self._headers = "".join(f"{header}\r\n" for header in headers).encode()
        self._numbers = {}

    def __call__(self, connection):
        number = self._numbers.setdefault(connection, len(self._numbers) + 1)
        while head := connection.socket.recv(65536, 2).partition(b"\r\n\r\n")[0]:
            line = connection.request()
            cookie = re.search(rb"^cookie: (.*?)\r?$", head, re.IGNORECASE | re.MULTILINE)
            self.cookies.append(cookie and cookie[1].decode())
            self.connections.append(number)
            body = do.answer_to(line)
            connection.socket.sendall(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                + self._headers
                + b"content-length: %d\r\n\r\n" % len(body)
                + body
            )


class Clock:
    """The clock of the pool, which a test sets."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(pool, "monotonic", made)
    return made


@pytest.fixture
def one_connection(ferry_over, monkeypatch):
    """Settings with which a client has one connection only."""
    monkeypatch.setattr(client, "MOST_CONNECTIONS", 1)
    monkeypatch.setattr(default_client, "MOST_CONNECTIONS", 1)
    if not ferry_over.kind.library:
        return {}
    limits = LIBRARIES[ferry_over.kind.library].Limits(max_connections=1)
    return {"http_client": ferry_over.http_client(limits=limits)}


def test_no_cookie_reaches_another_account(ferry_over):
    notes = Notes("set-cookie: session=of-a; Path=/", "set-cookie: b=2; Path=/; Max-Age=99")
    with Service(notes) as service:
        ferry = ferry_over(service.url, "token-of-a")
        READ.make(ferry)
        READ.make(ferry.with_options(token="token-of-b"))
        CREATE.make(ferry.with_options(token="token-of-c"))
    assert notes.cookies == [None] * 3


@pytest.mark.parametrize("ferry_over", GIVEN, indirect=True)
def test_cookies_of_the_caller_stay_as_set(ferry_over):
    notes = Notes("set-cookie: mine=of-the-service; Path=/")
    with Service(notes) as service:
        http_client = ferry_over.http_client(cookies={"mine": "1"})
        ferry = ferry_over(service.url, http_client=http_client)
        READ.make(ferry)
        READ.make(ferry)
    assert notes.cookies == ["mine=1"] * 2


@pytest.mark.parametrize("ferry_over", GIVEN, indirect=True)
def test_jar_of_the_caller_is_changed_once(ferry_over):
    with Service(Notes()) as service:
        http_client = ferry_over.http_client()
        ferry = ferry_over(service.url, http_client=http_client)
        READ.make(ferry)
        changed = http_client.cookies.extract_cookies
        READ.make(ferry)
    assert http_client.cookies.extract_cookies is changed


@pytest.mark.parametrize("ferry_over", ["httpx", "httpx2"], indirect=True)
def test_other_requests_of_the_caller_keep_cookies(ferry_over):
    notes = Notes("set-cookie: session=of-the-caller; Path=/")
    with Service(notes) as service:
        http_client = ferry_over.http_client()
        READ.make(ferry_over(service.url, http_client=http_client))
        http_client.get(f"{service.url}/api/port")
        http_client.get(f"{service.url}/api/port")
    assert notes.cookies == [None, None, "session=of-the-caller"]


def test_a_refused_connection_was_not_sent(ferry_over):
    with Service(do.serve, listening=False) as service:
        ferry = ferry_over(service.url, max_retries=0)
        error = caught(ConnectionFailedError, CREATE.make, ferry)
    assert error.outcome == "not_sent"
    assert f"(127.0.0.1:{service.port})" in str(error)


@pytest.mark.parametrize("end", [do.cut, do.reset])
def test_a_cut_after_the_request_is_unknown(ferry_over, end):
    with Service(do.in_turn(do.read_request, end)) as service:
        ferry = ferry_over(service.url)
        error = caught(OutcomeUnknownError, CREATE.make, ferry)
        assert [attempt.sent for attempt in error.attempts] == [True]
        assert service.asked == [CREATE.line]


def test_a_redirect_is_not_followed(ferry_over):
    def redirect(connection):
        while connection.request():
            connection.socket.sendall(
                b"HTTP/1.1 307 Away\r\nlocation: /api/booking\r\ncontent-length: 0\r\n\r\n"
            )

    with Service(redirect) as service:
        caught(UnexpectedResponseError, READ.make, ferry_over(service.url))
        assert service.asked == [READ.line]


def test_a_reply_that_never_comes_is_unknown(ferry_over):
    with Service(do.in_turn(do.read_request, do.hang)) as service:
        ferry = ferry_over(service.url, timeout=Timeout(read=0.3))
        error = caught(OutcomeUnknownError, CREATE.make, ferry)
        assert isinstance(error.__cause__, RequestTimeoutError)
        assert service.asked == [CREATE.line]


def test_a_deadline_after_the_request_is_unknown(ferry_over):
    with Service(do.in_turn(do.read_request, do.hang)) as service:

        def end(deadline):
            ferry = ferry_over(service.url, deadline=deadline)
            return UnderWay(partial(CREATE.make, ferry)).error()

        error = error_once_sent(end)
        assert type(error) is OutcomeUnknownError
        assert isinstance(error.__cause__, RequestTimeoutError)
        eventually(lambda: service.asked == [CREATE.line])


def test_a_full_pool_is_not_sent(ferry_over, one_connection):
    taken, freed = threading.Event(), threading.Event()

    def hold(connection):
        line = connection.request()
        taken.set()
        freed.wait(20)
        connection.send("200 OK", do.answer_to(line))

    with Service(hold) as service:
        ferry = ferry_over(service.url, max_retries=0, timeout=20, **one_connection)
        holder = UnderWay(partial(READ.make, ferry))
        assert taken.wait(20)
        view = ferry.with_options(timeout=Timeout(pool=0.05, read=20))
        # A write that no read proves has a pool of its own in httpx.
        error = caught(RequestTimeoutError, READ.make, view)
        assert error.outcome == "not_sent"
        freed.set()
        holder.value()
        assert service.asked == [READ.line]


@pytest.mark.parametrize("ferry_over", ASYNC, indirect=True)
def test_a_cancelled_call_gives_its_place_back(ferry_over, one_connection):
    with Service(do.in_turn(do.read_request, do.hang), do.serve) as service:
        ferry = ferry_over(service.url, **one_connection)

        async def cancel():
            async with anyio.create_task_group() as group:
                group.start_soon(ferry._target.catalogue.ports)
                while not service.asked:  # noqa: ASYNC110 -- a thread reads it
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()

        ferry_over.clients.portal.call(cancel)
        assert not ferry.catalogue.ports()


@pytest.mark.parametrize("ferry_over", OWN + MADE_OF_HTTPX, indirect=True)
def test_closing_frees_every_connection(ferry_over):
    with Service(do.serve) as service:
        ferry = ferry_over(service.url)
        READ.make(ferry)
        CREATE.make(ferry)
        assert connections_to(service.url)
        ferry.close()
        eventually(lambda: not connections_to(service.url))


@pytest.mark.parametrize("ferry_over", OWN, indirect=True)
@pytest.mark.parametrize(
    ("header", "seconds", "connections"),
    [
        pytest.param("x-none: 1", 3.9, [1, 1], id="no hint, in time"),
        pytest.param("x-none: 1", 4.1, [1, 2], id="no hint, late"),
        pytest.param("keep-alive: timeout=3", 1.9, [1, 1], id="three seconds, in time"),
        pytest.param("Keep-Alive: max=9, Timeout = 3", 2.1, [1, 2], id="three seconds, late"),
        pytest.param("keep-alive: timeout=3600", 4.1, [1, 2], id="an hour, late"),
        pytest.param("keep-alive: timeout=1", 0.1, [1, 2], id="one second"),
        pytest.param("keep-alive: timeout=0", 0.0, [1, 2], id="no second"),
        pytest.param("keep-alive: timeout=soon", 3.9, [1, 1], id="no number"),
    ],
)
def test_an_idle_connection_is_kept(ferry_over, clock, header, seconds, connections):
    notes = Notes(header)
    with Service(notes) as service:
        ferry = ferry_over(service.url)
        READ.make(ferry)
        clock.now += seconds
        READ.make(ferry)
    assert notes.connections == connections


@pytest.mark.parametrize("ferry_over", OWN, indirect=True)
@pytest.mark.parametrize(
    "write",
    [
        pytest.param(CREATE.make, id="create"),
        pytest.param(lambda ferry: ferry.request("POST", "api/booking", json={}), id="any path"),
    ],
)
@pytest.mark.parametrize(
    ("seconds", "connections"),
    [
        pytest.param(0.4, [1, 1, 1], id="in time"),
        pytest.param(0.6, [1, 2, 2], id="late"),
    ],
)
def test_an_unproven_write_takes_a_fresh_connection(ferry_over, clock, write, seconds, connections):
    notes = Notes()
    with Service(notes) as service:
        ferry = ferry_over(service.url)
        READ.make(ferry)
        clock.now += seconds
        write(ferry)
        READ.make(ferry)
    assert notes.connections == connections


@pytest.mark.parametrize("ferry_over", OWN, indirect=True)
def test_a_write_leaves_older_connections_to_reads(ferry_over, clock):
    notes = Notes("keep-alive: timeout=60")
    with Service(notes) as service:
        ferry = ferry_over(service.url)
        READ.make(ferry)
        clock.now += 1.0
        CREATE.make(ferry)
        assert len(connections_to(service.url)) == 2


@pytest.mark.parametrize("ferry_over", OWN, indirect=True)
def test_a_write_that_a_read_proves_reuses_connections(ferry_over, clock):
    notes = Notes()
    with Service(notes) as service:
        ferry = ferry_over(service.url)
        READ.make(ferry)
        clock.now += 3.0
        ferry.bookings.confirm("b-1")
    assert notes.connections == [1, 1]


@pytest.mark.parametrize("ferry_over", MADE_OF_HTTPX, indirect=True)
def test_httpx_sends_unproven_writes_apart(ferry_over, monkeypatch):
    monkeypatch.setattr(default_client, "IDLE_BEFORE_WRITE", -1.0)  # every idle time is too long
    notes = Notes()
    with Service(notes) as service:
        ferry = ferry_over(service.url)
        READ.make(ferry)
        CREATE.make(ferry)
        CREATE.make(ferry)
        READ.make(ferry)
    assert notes.connections == [1, 2, 3, 1]


@pytest.mark.parametrize("ferry_over", MADE_OF_HTTPX, indirect=True)
@pytest.mark.parametrize(
    ("kept_for", "connections"),
    [
        pytest.param(60.0, [1, 1], id="in time"),
        pytest.param(-1.0, [1, 2], id="late"),
    ],
)
def test_httpx_keeps_idle_connections_as_long(ferry_over, monkeypatch, kept_for, connections):
    monkeypatch.setattr(default_client, "KEPT_FOR", kept_for)
    notes = Notes()
    with Service(notes) as service:
        ferry = ferry_over(service.url)
        READ.make(ferry)
        READ.make(ferry)
    assert notes.connections == connections
