"""A deadline holds wherever on the wire a call stands still, and tells sent from not sent."""

import socket
import ssl
import threading
from contextlib import ExitStack
from itertools import product

import httpx
import pytest
import trustme

from ferry_sdk import OutcomeUnknownError
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, eventually
from tests.backend.hurry import (
    DEADLINE,
    LATE,
    confirm,
    create,
    every_call,
    in_time,
    is_right,
    read,
    threads_end,
)
from tests.support.hold import Hold
from tests.support.tiers import mostly_long
from tests.transport.scripted import Service, hang, in_turn, read_request, serve

pytestmark = pytest.mark.usefixtures("warm")


@pytest.fixture
def client_at(any_clients):
    """Makes clients with a deadline for a service elsewhere."""

    def made(url, **settings):
        given = {"deadline": DEADLINE, "timeout": 30, "allow_http": True}
        return any_clients("t", base_url=url, **given | settings)

    return made


@pytest.fixture
def overrun():
    """A service at which no connection comes about before it takes some."""
    with ExitStack() as stack:
        service = stack.enter_context(Service(serve, listening=False))
        service.listener.listen(0)
        for _ in range(3):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(service.listener.getsockname())
        yield service


def trickled(start, piece, every=0.05):
    """A reply that never comes to its end."""

    def trickle(connection):
        connection.request()
        connection.socket.sendall(start)
        while not connection.service.stopped.wait(every):
            connection.socket.sendall(piece)

    return trickle


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
REPLIES = {
    "nothing": in_turn(read_request, hang),
    "status": trickled(b"HTTP/1.1 200 ", b"O"),
    "headers": trickled(HEAD + b"x-long: ", b"a"),
    "body": trickled(HEAD + b"content-length: 100000\r\n\r\n", b" "),
    "chunks": trickled(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "size of a chunk": trickled(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"0"),
    "packed body": trickled(
        HEAD + b"content-encoding: gzip\r\ncontent-length: 100000\r\n\r\n\x1f\x8b\x08\x08", b"n"
    ),
}


@pytest.mark.parametrize(
    ("script", "call"),
    mostly_long(
        [
            pytest.param(REPLIES[name], call, id=f"{name}-{call.__name__}")
            for name, call in sorted(
                product(REPLIES, [confirm, read, create]),
                key=lambda case: case[0] != "nothing" and case != ("body", confirm),
            )
        ],
        short=4,
    ),
)
def test_a_reply_that_does_not_come_to_its_end(client_at, script, call):
    with Service(script) as service:
        ferry = client_at(service.url, max_retries=0)
        is_right(call, in_time(lambda: call(ferry), outcome="unknown"), "unknown")
        threads_end()


@pytest.mark.parametrize("script", mostly_long(REPLIES.values()))
def test_a_second_reply_that_does_not_come_to_its_end(client_at, script):
    def answered(connection):
        connection.request()
        connection.send("200 OK", b"[]")

    with Service(in_turn(answered, script)) as service:
        ferry = client_at(service.url, max_retries=0)
        read(ferry.with_options(deadline=None))
        outcome = UnderWay(lambda: confirm(ferry)).outcome()
        assert isinstance(outcome.error, OutcomeUnknownError)
        assert outcome.seconds <= DEADLINE + 10 * LATE
    threads_end()  # at the latest when the service closes: a head may trickle on unseen


@every_call
def test_a_connection_that_does_not_come_about(client_at, overrun, call):
    ferry, others = client_at(overrun.url), connections_to(overrun.url)
    is_right(call, in_time(lambda: call(ferry)), "not_sent")
    overrun.accept()  # late: what was given up must not be sent now
    threads_end()
    eventually(lambda: connections_to(overrun.url) == others)
    assert not overrun.asked
    assert not overrun.heard


@every_call
def test_a_handshake_of_tls_that_does_not_come_to_its_end(client_at, call):
    with Service(hang) as service:
        ferry = client_at(service.secure_url)
        is_right(call, in_time(lambda: call(ferry)), "not_sent")
        threads_end()


def test_a_wait_for_a_connection_of_the_pool(any_clients, ferry_sandbox, booking_id):
    kind = httpx.AsyncClient if any_clients.is_async else httpx.Client
    http_client = kind(limits=httpx.Limits(max_connections=1))
    ferry = any_clients(
        ferry_sandbox.token, base_url=ferry_sandbox.base_url, timeout=30, http_client=http_client
    )
    hold = Hold(ferry_sandbox, "catalogue.vehicle_types")
    slow = UnderWay(lambda: read(ferry))
    eventually(lambda: hold.held)
    hurried = ferry.with_options(deadline=2)
    error = in_time(lambda: hurried.bookings.confirm(booking_id), deadline=2, outcome="not_sent")
    is_right(confirm, error, "not_sent")
    hold.release()
    assert slow.value()
    threads_end()
    assert not ferry_sandbox.counters.requests["bookings.confirm"]
    if any_clients.is_async:
        any_clients.portal.call(http_client.aclose)
    else:
        http_client.close()


def test_a_late_service_with_tls_is_not_sent_what_was_given_up(any_clients):
    authority = trustme.CA()
    good = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(good)
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)

    give_up = threading.Event()

    def late(connection):
        give_up.wait(20)
        connection.secure(good)
        serve(connection)

    kind = httpx.AsyncClient if any_clients.is_async else httpx.Client
    http_client = kind(verify=trusted)
    with Service(late) as service:
        ferry = any_clients(
            "t", base_url=service.secure_url, http_client=http_client, deadline=DEADLINE
        )
        is_right(confirm, in_time(lambda: confirm(ferry), outcome="not_sent"), "not_sent")
        give_up.set()
        threads_end()
        eventually(lambda: not connections_to(service.url))
        assert not service.asked
    if any_clients.is_async:
        any_clients.portal.call(http_client.aclose)
    else:
        http_client.close()
