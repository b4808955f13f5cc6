"""HTTP/1.1: what is on its way when a connection ends was sent, what never began to be was not."""

import threading
import time

import pytest

from tests.support import tiers
from tests.transport.calls import ABANDONED_BODY, READ, creation, is_sent_once, sent
from tests.transport.scripted import (
    Service,
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
    serve_once,
)

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


def not_http(connection):
    connection.socket.sendall(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")


LONG = creation("x" * 16_000_000)
UNREAD = {
    "at once": cut,
    "after the first byte": in_turn(read_bytes(1), cut),
    "by a reset after the first byte": in_turn(read_bytes(1), reset),
    "in the head": in_turn(read_bytes(60), cut),
}
READ_WHOLE = {
    "before the reply": cut,
    "by a reset before the reply": reset,
    "in the reply's head": in_turn(half_a_head, cut),
    "in the reply's body": in_turn(half_a_body, cut),
    "after nonsense": in_turn(not_http, cut),
}


@pytest.mark.parametrize("fault", [*UNREAD, *READ_WHOLE])
def test_a_request_that_is_cut(caller, any_call, fault):
    seen = fault in READ_WHOLE
    script = in_turn(read_request, READ_WHOLE[fault]) if seen else UNREAD[fault]
    with Service(script, serve) as service:
        is_sent_once(caller, any_call, caller.ferry(service.url), service, seen=seen)


def test_a_reply_that_never_comes(caller, call):
    with Service(in_turn(read_request, hang), serve) as service:
        is_sent_once(caller, call, caller.ferry(service.url, hangs=["read"]), service, seen=1)


@pytest.mark.parametrize("fault", UNREAD)
def test_a_request_over_tls_that_is_cut(caller, call, fault, good):
    with Service(over_tls(good, UNREAD[fault]), over_tls(good)) as service:
        is_sent_once(caller, call, caller.ferry(service.secure_url), service)


def test_a_request_to_whoever_it_is_that_is_cut(caller, call, untrusted):
    cut_off = over_tls(untrusted, in_turn(read_request, cut))
    with Service(cut_off, over_tls(untrusted)) as service:
        ferry = caller.ferry(service.secure_url, verify=False)
        is_sent_once(caller, call, ferry, service, seen=1)


@pytest.mark.parametrize("is_reset", tiers.mostly_long([False, True]))
def test_a_request_too_long_for_the_system_to_take(caller, is_reset):
    # It pauses for less than the client waits.
    then = in_turn(lambda _: time.sleep(0.02), reset) if is_reset else hang
    with Service(in_turn(read_bytes(1), then), serve) as service:
        is_sent_once(caller, LONG, caller.ferry(service.url, hangs=["write"]), service)


@pytest.mark.parametrize("end", [cut, reset])
def test_a_kept_connection_that_ends_as_the_next_request_comes(caller, any_call, end):
    with Service(in_turn(serve_once, read_bytes(1), end), serve) as service:
        ferry = caller.ferry(service.url)
        READ.make(ferry)
        service.asked.clear()
        caller.tries = 0
        is_sent_once(caller, any_call, ferry, service)


@pytest.mark.parametrize("end", [cut, reset])
def test_a_kept_connection_that_ended_before_is_not_used(caller, any_call, end):
    ended = threading.Event()
    with Service(in_turn(serve_once, end, lambda _: ended.set()), serve) as service:
        ferry = caller.ferry(service.url)
        READ.make(ferry)
        assert ended.wait(20)
        raw = any_call.make(ferry)
        assert sent(raw.attempts) == [True]
        assert service.asked == [READ.line, any_call.line]
