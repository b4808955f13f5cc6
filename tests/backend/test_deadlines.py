"""A deadline holds wherever a call waits, and tells sent from not sent."""

import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from itertools import product

import anyio
import anyio.to_thread
import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, ConfigurationError, Ferry, FerryError, OutcomeUnknownError
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually, threads_end
from tests.support.both import Clients
from tests.support.hold import Hold
from tests.support.tiers import mostly_long
from tests.transport.calls import CREATE
from tests.transport.scripted import Service, hang, in_turn, read_request, serve

pytestmark = pytest.mark.usefixtures("warm")

LATE = 0.3
DEADLINES = (0.15, 0.3, 0.6, 2.4)
"""Seconds that a call has; a busy machine needs more, where it is to come to be sent."""


@pytest.fixture(scope="session")
def warm(asyncio_portal, trio_portal):
    """What the first call of a process imports is there, so that a short deadline is enough."""
    with Service(serve) as service:
        for loop in (None, asyncio_portal, trio_portal):
            clients = Clients(loop)
            confirm(clients("t", base_url=service.url, deadline=20))
            clients.close()


def read(ferry):
    return ferry.catalogue.vehicle_types()


def confirm(ferry):
    return ferry.bookings.confirm("b-1")


every_call = pytest.mark.parametrize("call", mostly_long([confirm, read, CREATE.make]))


def ends_in_time(ferry, call, outcome):
    """Return the error of a call that ends by its deadline, with this outcome.

    A busy machine may end it late, or before it is sent, or in the pool of a caller's own client,
    which does not tell whether it is sent. Then the call is made again with a longer deadline.
    """
    for deadline in DEADLINES:
        view = ferry.with_options(deadline=deadline)
        ended = UnderWay(lambda view=view: call(view)).outcome()
        error = ended.error
        assert isinstance(error, FerryError), ended
        if ended.seconds <= deadline + LATE and error.outcome == outcome:
            is_doubt = call is not read and outcome == "unknown"
            assert type(error) is (OutcomeUnknownError if is_doubt else sdk.RequestTimeoutError), (
                error
            )
            assert error.correlation_id
            threads_end()
            return error
    raise AssertionError(f"{ended.seconds:.2f} s, {error!r}, for each of {DEADLINES}")


@pytest.fixture
def client_at(any_clients):
    def client(url, *, token="t", options=None, **settings):  # noqa: S107 -- no secret
        if options is not None:
            settings["http_client"] = any_clients.http_client(**options)
        return any_clients(
            token, base_url=url, **{"timeout": 30, "allow_http": True, "max_retries": 0} | settings
        )

    return client


def trickled(start, piece):
    def trickle(connection):
        connection.request()
        connection.socket.sendall(start)
        while not connection.service.stopped.wait(0.05):
            connection.socket.sendall(piece)

    return trickle


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
REPLIES = {
    "nothing": in_turn(read_request, hang),
    "body": trickled(HEAD + b"content-length: 100000\r\n\r\n", b" "),
    "status": trickled(b"HTTP/1.1 200 ", b"O"),
    "headers": trickled(HEAD + b"x-long: ", b"a"),
    "chunks": trickled(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "size of a chunk": trickled(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"0"),
    "packed body": trickled(
        HEAD + b"content-encoding: gzip\r\ncontent-length: 100000\r\n\r\n\x1f\x8b\x08\x08", b"n"
    ),
}


QUICK = [("nothing", confirm), ("nothing", CREATE.make), ("body", read)]
CASES = sorted(product(REPLIES, (confirm, read, CREATE.make)), key=lambda case: case not in QUICK)


@pytest.mark.parametrize(("name", "call"), mostly_long(CASES, short=len(QUICK)))
def test_a_reply_that_does_not_end(client_at, name, call):
    with Service(REPLIES[name]) as service:
        ends_in_time(client_at(service.url), call, "unknown")


@pytest.mark.parametrize("name", mostly_long(REPLIES))
def test_a_second_reply_that_does_not_end(client_at, name):
    def answered(connection):
        connection.request()
        connection.send("200 OK", b"[]")

    with Service(in_turn(answered, REPLIES[name])) as service:
        ferry = client_at(service.url)
        for deadline in DEADLINES:
            read(ferry)
            view = ferry.with_options(deadline=deadline)
            outcome = UnderWay(lambda view=view: confirm(view)).outcome()
            assert outcome.seconds <= deadline + 10 * LATE
            if outcome.error.outcome == "unknown":
                break
        assert isinstance(outcome.error, OutcomeUnknownError)
    threads_end()  # at the latest when the service closes: a head may trickle on unseen


@every_call
def test_a_connection_that_is_not_made(client_at, call):
    with ExitStack() as stack:
        service = stack.enter_context(Service(serve, listening=False))
        service.listener.listen(0)
        for _ in range(3):  # no other connection comes about before the service takes some
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(service.listener.getsockname())
        ferry, others = client_at(service.url), connections_to(service.url)
        ends_in_time(ferry, call, "not_sent")
        service.accept()  # late: what was given up must not be sent now
        eventually(lambda: connections_to(service.url) == others)
        assert not service.asked
        assert not service.heard


@every_call
def test_a_tls_handshake_that_does_not_end(client_at, call):
    with Service(hang) as service:
        ends_in_time(client_at(service.secure_url), call, "not_sent")


@every_call
def test_a_late_tls_handshake_sends_nothing(client_at, call, good, trusted):
    give_up = threading.Event()

    def late(connection):
        give_up.wait(20)
        connection.secure(good)
        serve(connection)

    with Service(late) as service:
        ferry = client_at(service.secure_url, options={"verify": trusted})
        ends_in_time(ferry, call, "not_sent")
        give_up.set()
        eventually(lambda: not connections_to(service.url))
        assert not service.asked


def test_a_wait_for_a_connection_of_the_pool(client_at, ferry_sandbox, booking_id):
    ferry = client_at(
        ferry_sandbox.base_url,
        token=ferry_sandbox.token,
        options={"limits": httpx.Limits(max_connections=1)},
    )
    hold = Hold(ferry_sandbox, "catalogue.vehicle_types")
    slow = UnderWay(lambda: read(ferry))
    eventually(lambda: hold.held)
    ends_in_time(ferry, lambda view: view.bookings.confirm(booking_id), "not_sent")
    hold.release()
    assert slow.value()
    threads_end()
    assert not ferry_sandbox.counters.requests["bookings.confirm"]


def test_deadline_ends_the_wait_for_an_mcp_handshake(new_client, ferry_sandbox, booking_id):
    ferry = new_client()
    hold = Hold(ferry_sandbox, "mcp.initialize")
    slow = UnderWay(ferry.mcp.countries)
    eventually(lambda: hold.held)
    ends_in_time(ferry, lambda view: view.mcp.confirm_booking(booking_id), "not_sent")
    assert not slow.is_over
    hold.release()
    assert slow.value()
    assert not ferry_sandbox.counters.requests["mcp.confirm_booking"]


def test_an_mcp_handshake_that_takes_too_long(new_client, ferry_sandbox, booking_id):
    ferry_sandbox.faults.add("delay_before", "mcp.initialize", seconds=20, times=None)
    ends_in_time(new_client(), lambda view: view.mcp.confirm_booking(booking_id), "not_sent")
    assert not ferry_sandbox.counters.requests["mcp.confirm_booking"]


@pytest.mark.parametrize("call", [read, confirm])
def test_a_token_that_does_not_come(ferry_sandbox, portal, call):
    ferry = AsyncFerry(lambda: anyio.sleep(30), base_url=ferry_sandbox.base_url)
    ends_in_time(ferry, lambda view: portal.call(call, view), "not_sent")
    portal.call(ferry.aclose)


def test_async_write_without_a_thread_is_on_record(
    ferry_sandbox, portal, booking_id, journal, monkeypatch
):
    start = threading.Thread.start

    def refuse(thread):
        if thread.name == "ferry_sdk call":
            raise RuntimeError("can't create new thread at interpreter shutdown")
        start(thread)

    async def confirm_it():
        async with AsyncFerry(
            ferry_sandbox.token, base_url=ferry_sandbox.base_url, deadline=20, journal=journal
        ) as ferry:
            return (await ferry.bookings.confirm(booking_id)).booking_id

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert portal.call(confirm_it) == booking_id
    assert not journal.unresolved()


def test_calls_in_time_share_a_connection(new_client, ferry_sandbox, booking_id):
    ferry = new_client(deadline=20)
    assert read(ferry)
    assert ferry.bookings.confirm(booking_id).booking_id == booking_id
    connections = ferry_sandbox.counters.connections
    for _ in range(5):
        assert read(ferry)
    assert ferry_sandbox.counters.connections == connections
    threads_end()


def test_a_read_back_that_takes_too_long(new_client, ferry_sandbox, new_booking):
    def confirm_new(ferry):
        ferry_sandbox.faults.clear()
        booking_id = new_booking()
        ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
        ferry_sandbox.faults.add("delay_before", "bookings.get", times=None, seconds=20)
        return ferry.bookings.confirm(booking_id)

    ends_in_time(new_client(), confirm_new, "unknown")
    assert len(ferry_sandbox.counters.effects) == 1


@pytest.fixture
def no_new_thread():
    """Return a context in which no thread can be started."""

    @contextmanager
    def limited():
        threading.stack_size(2**46)  # no thread has so much memory
        try:
            yield
        finally:
            threading.stack_size(0)

    return limited


@pytest.mark.parametrize("with_journal", [False, True])
@pytest.mark.parametrize("http_client", [None, httpx.Client])
def test_without_a_thread_a_call_is_not_sent(
    ferry_sandbox, booking_id, journal, http_client, with_journal, no_new_thread
):
    with ExitStack() as stack:
        ferry = stack.enter_context(
            Ferry(
                ferry_sandbox.token,
                base_url=ferry_sandbox.base_url,
                deadline=20,
                http_client=http_client and stack.enter_context(http_client()),
                journal=journal if with_journal else None,
            )
        )
        for call in (lambda: read(ferry), lambda: ferry.bookings.confirm(booking_id)):
            with no_new_thread(), pytest.raises(ConfigurationError, match=r"^deadline: ") as caught:
                call()
            assert caught.value.outcome == "not_sent"
        assert not ferry_sandbox.counters.requests["bookings.confirm"]
        assert not journal.unresolved()
        assert ferry.bookings.confirm(booking_id).booking_id == booking_id


AT_THE_END = """
import atexit
from ferry_sdk import Ferry, FerryError

ferry = Ferry({token!r}, base_url={base_url!r}, deadline=20)
assert ferry.catalogue.vehicle_types()

@atexit.register
def late():
    for call in (ferry.catalogue.vehicle_types, lambda: ferry.bookings.confirm({booking_id!r})):
        try:
            call()
            print("done")
        except FerryError as error:
            print(error.outcome)
"""


@pytest.mark.slow
def test_a_call_at_the_end_of_the_interpreter(ferry_sandbox, booking_id):
    program = AT_THE_END.format(
        token=ferry_sandbox.token, base_url=ferry_sandbox.base_url, booking_id=booking_id
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=50
    )
    assert not ended.stderr
    confirmed = "done" if ferry_sandbox.counters.requests["bookings.confirm"] else "not_sent"
    assert ended.stdout.split() in (["done", confirmed], ["not_sent", confirmed])
