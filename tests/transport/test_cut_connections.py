"""HTTP/1.1: what is on its way when a connection ends was sent, what never began to be was not."""

import threading
import time

import pytest

from tests.support import tiers
from tests.transport.calls import ABANDONED_BODY, READ, creation, is_sent_once, sent
from tests.transport.scripted import (
    Service,
    answer_to,
    cut,
    half_a_body,
    half_a_head,
    hang,
    in_turn,
    over_tls,
    read_bytes,
    read_request,
    reset,
    serve,
)

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


def not_http(connection):
    connection.socket.sendall(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")


def pause(_):
    time.sleep(0.02)  # less than the client waits


LONG = creation("x" * 16_000_000)
UNREAD = [
    pytest.param(cut, id="at once"),
    pytest.param(in_turn(read_bytes(1), cut), id="after the first byte"),
    pytest.param(in_turn(read_bytes(1), reset), id="by a reset after the first byte"),
    pytest.param(in_turn(read_bytes(60), cut), id="in the head"),
]
READ_WHOLE = [
    pytest.param(cut, id="before the reply"),
    pytest.param(reset, id="by a reset before the reply"),
    pytest.param(in_turn(half_a_head, cut), id="in the reply's head"),
    pytest.param(in_turn(half_a_body, cut), id="in the reply's body"),
    pytest.param(in_turn(not_http, cut), id="after nonsense"),
]


@pytest.mark.parametrize("fault", UNREAD)
def test_a_request_that_is_cut(caller, any_call, fault):
    with Service(fault, serve) as service:
        is_sent_once(caller, any_call, caller.ferry(service.url), service)


@pytest.mark.parametrize("fault", READ_WHOLE)
def test_a_reply_that_is_cut(caller, any_call, fault):
    with Service(in_turn(read_request, fault), serve) as service:
        is_sent_once(caller, any_call, caller.ferry(service.url), service, seen=1)


def test_a_reply_that_never_comes(caller, call):
    with Service(in_turn(read_request, hang), serve) as service:
        is_sent_once(caller, call, caller.ferry(service.url, hangs=["read"]), service, seen=1)


@pytest.mark.parametrize("fault", UNREAD)
def test_a_request_over_tls_that_is_cut(caller, call, fault, good):
    with Service(over_tls(good, fault), over_tls(good)) as service:
        is_sent_once(caller, call, caller.ferry(service.secure_url), service)


def test_a_request_to_whoever_it_is_that_is_cut(caller, call, untrusted):
    cut_off = over_tls(untrusted, in_turn(read_request, cut))
    with Service(cut_off, over_tls(untrusted)) as service:
        ferry = caller.ferry(service.secure_url, verify=False)
        is_sent_once(caller, call, ferry, service, seen=1)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(in_turn(read_bytes(1), hang), id="not taken"),
        pytest.param(in_turn(read_bytes(1), pause, reset), id="reset", marks=tiers.LONG),
    ],
)
def test_a_request_too_long_for_the_system_to_take_that_is(caller, fault):
    with Service(fault, serve) as service:
        is_sent_once(caller, LONG, caller.ferry(service.url, hangs=["write"]), service)


# ---- kept-alive connections -------------------------------------------------------------------


def once(then):
    """Answer one request, then do that."""

    def served(connection):
        connection.send("200 OK", answer_to(connection.request() or ""))
        then(connection)

    return served


@pytest.mark.parametrize("end", [cut, reset])
def test_a_kept_connection_that_ends_as_the_next_request_comes(caller, any_call, end):
    with Service(once(in_turn(read_bytes(1), end)), serve) as service:
        ferry = caller.ferry(service.url)
        READ.make(ferry)
        service.asked.clear()
        caller.tries = 0
        is_sent_once(caller, any_call, ferry, service)


@pytest.mark.parametrize("end", [cut, reset])
def test_a_kept_connection_that_ended_before_is_not_used(caller, any_call, end):
    ended = threading.Event()
    with Service(once(in_turn(end, lambda _: ended.set())), serve) as service:
        ferry = caller.ferry(service.url)
        READ.make(ferry)
        assert ended.wait(20)
        raw = any_call.make(ferry)
        assert sent(raw.attempts) == [True]
        assert service.asked == [READ.line, any_call.line]
