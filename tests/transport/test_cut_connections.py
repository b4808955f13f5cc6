"""HTTP/1.1: what is on its way when a connection ends was sent, what never began to be was not."""

import threading
import time

import pytest

from ferry_sdk import OutcomeUnknownError
from tests.support import tiers
from tests.support.exchanges import caught
from tests.transport import scripted as do
from tests.transport.calls import ABANDONED_BODY, READ, creation, is_sent_once, sent
from tests.transport.scripted import Service

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


def not_http(connection):
    connection.socket.sendall(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")


LONG = creation("x" * 16_000_000)
"""A request that the system does not take at once."""
UNREAD = {
    "at once": do.cut,
    "after the first byte": do.in_turn(do.read_bytes(1), do.cut),
    "by a reset after the first byte": do.in_turn(do.read_bytes(1), do.reset),
    "in the head": do.in_turn(do.read_bytes(60), do.cut),
}
"""How a connection ends before the request was read whole."""
READ_WHOLE = {
    "before the reply": do.cut,
    "by a reset before the reply": do.reset,
    "in the reply's head": do.in_turn(do.half_a_head, do.cut),
    "in the reply's body": do.in_turn(do.half_a_body, do.cut),
    "after nonsense": do.in_turn(not_http, do.cut),
}
"""How it ends afterwards."""


@pytest.mark.parametrize("fault", UNREAD)
def test_a_request_cut_while_it_is_sent(caller, any_call, fault):
    with Service(UNREAD[fault], do.serve) as service:
        is_sent_once(caller, any_call, caller.ferry(service.url), service)


@pytest.mark.parametrize("fault", READ_WHOLE)
def test_a_request_cut_before_its_reply(caller, any_call, fault):
    with Service(do.in_turn(do.read_request, READ_WHOLE[fault]), do.serve) as service:
        is_sent_once(caller, any_call, caller.ferry(service.url), service, seen=1)


def cut_after_its_request_id(connection):
    connection.socket.sendall(
        b"HTTP/1.1 200 OK\r\nx-request-id: r-7\r\ncontent-length: 99\r\n\r\n{"
    )


def test_the_request_id_of_a_cut_reply(caller):
    with Service(do.in_turn(do.read_request, cut_after_its_request_id, do.cut)) as service:
        error = caught(OutcomeUnknownError, creation().make, caller.ferry(service.url))
    assert error.request_id == error.attempts[0].request_id == "r-7"


def test_a_reply_that_never_comes(caller, call):
    with Service(do.in_turn(do.read_request, do.hang), do.serve) as service:
        is_sent_once(caller, call, caller.ferry(service.url, hangs=["read"]), service, seen=1)


@pytest.mark.parametrize("fault", UNREAD)
def test_a_request_over_tls_that_is_cut(caller, call, fault, good):
    with Service(do.over_tls(good, UNREAD[fault]), do.over_tls(good)) as service:
        is_sent_once(caller, call, caller.ferry(service.secure_url), service)


@pytest.mark.parametrize(
    "end",
    tiers.mostly_long(
        [
            pytest.param(do.hang, id="the service hangs"),
            # It pauses for less than the client waits.
            pytest.param(do.in_turn(lambda _: time.sleep(0.02), do.reset), id="a reset"),
        ]
    ),
)
def test_a_long_request_that_is_not_taken(caller, end):
    with Service(do.in_turn(do.read_bytes(1), end), do.serve) as service:
        is_sent_once(caller, LONG, caller.ferry(service.url, hangs=["write"]), service)


ENDS = pytest.mark.parametrize(
    "end",
    [
        pytest.param(do.cut, id="cut"),
        pytest.param(do.reset, id="reset"),
    ],
)


@ENDS
def test_a_kept_connection_that_ended(caller, any_call, end):
    ended = threading.Event()
    with Service(do.in_turn(do.serve_once, end, lambda _: ended.set()), do.serve) as service:
        ferry = caller.ferry(service.url)
        READ.make(ferry)
        assert ended.wait(20)
        assert sent(any_call.make(ferry).attempts) == [True]
        assert service.asked == [READ.line, any_call.line]


@ENDS
def test_a_kept_connection_that_ends_meanwhile(caller, any_call, end):
    with Service(do.in_turn(do.serve_once, do.read_bytes(1), end), do.serve) as service:
        ferry = caller.ferry(service.url)
        READ.make(ferry)
        service.asked.clear()
        caller.tries = 0
        is_sent_once(caller, any_call, ferry, service)
