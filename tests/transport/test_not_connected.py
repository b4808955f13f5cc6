"""A request whose connection does not come about was not sent, and any call is tried again."""

import socket
import threading
from contextlib import ExitStack
from functools import partial

import pytest

from ferry_sdk import ConfigurationError, ConnectionFailedError, RequestTimeoutError
from tests.backend.gathering import UnderWay, eventually
from tests.transport import scripted as do
from tests.transport.calls import (
    ABANDONED_BODY,
    CREATE,
    READ,
    is_never_sent,
    is_sent_once,
    is_tried_again,
    sent,
)
from tests.transport.scripted import Service

# A server that closes during a request leaves httpx's generator of the body unfinished.
pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


def test_a_refused_connection(caller, any_call):
    with Service(do.serve, listening=False) as service:
        ferry = caller.ferry(service.url, second=service.listen)
        is_tried_again(caller, any_call, ferry, service)


def test_a_connection_that_is_refused_for_ever(caller, any_call):
    with Service(do.serve, listening=False) as service:
        is_never_sent(caller, any_call, caller.ferry(service.url), ConnectionFailedError)


def test_a_name_that_is_not_found(caller, call):
    # Asking for it may take longer than is given.
    ferry = caller.ferry("http://ferry.invalid", timeout=1)
    is_never_sent(caller, call, ferry, ConnectionFailedError, RequestTimeoutError)


def test_a_name_that_is_too_long(caller, call):
    with pytest.raises((ConfigurationError, ConnectionFailedError)) as refused:
        call.make(caller.ferry(f"http://{'a' * 64}.example"))
    assert refused.value.outcome == "not_sent"
    assert not any(sent(refused.value.attempts))


def test_a_connection_that_is_not_taken_in_time(caller, call):
    with Service(do.serve, listening=False) as service, ExitStack() as opened:
        service.listener.listen(0)
        for _ in range(4):  # where one waits to be taken, the next ones get no answer
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", service.port))

        def accept():
            service.accept()
            eventually(lambda: service.accepted)  # there is room for one more

        ferry = caller.ferry(service.url, second=accept, hangs=["connect"])
        is_tried_again(caller, call, ferry, service)


def test_missing_client_certificate_before_the_request(caller, any_call, good, demanding_at_once):
    with Service(do.over_tls(demanding_at_once), do.over_tls(good)) as service:
        is_tried_again(caller, any_call, caller.ferry(service.secure_url), service)


def test_missing_client_certificate_after_the_request(caller, any_call, good, demanding_later):
    with Service(do.over_tls(demanding_later), do.over_tls(good)) as service:
        is_sent_once(caller, any_call, caller.ferry(service.secure_url), service)


@pytest.mark.parametrize("fault", ["untrusted", "misnamed"])
def test_a_certificate_that_is_refused(caller, any_call, fault, good, request):
    bad = request.getfixturevalue(fault)
    with Service(do.over_tls(bad), do.over_tls(good)) as service:
        is_tried_again(caller, any_call, caller.ferry(service.secure_url), service)


HANDSHAKES = {
    "is cut at once": do.cut,
    "is cut after a byte": do.in_turn(do.read_bytes(1), do.cut),
    "is answered in plain text": lambda connection: connection.send("400 Bad Request"),
    "hangs": do.hang,
}


@pytest.mark.parametrize("fault", HANDSHAKES)
def test_a_handshake_that(caller, call, fault, good):
    hangs = ["connect"] if fault == "hangs" else ()
    with Service(HANDSHAKES[fault], do.over_tls(good)) as service:
        is_tried_again(caller, call, caller.ferry(service.secure_url, hangs=hangs), service)


def test_a_pool_that_is_full(caller, call):
    taken, freed = threading.Event(), threading.Event()

    def kept(connection):
        do.read_request(connection)
        taken.set()
        freed.wait(20)
        connection.send("200 OK", do.answer_to(READ.line))
        do.serve(connection)

    with Service(kept) as service:
        limits = caller.library.Limits(max_connections=1)
        ferry = caller.ferry(service.url, limits=limits, second=freed.set, hangs=["pool"])
        holder = UnderWay(partial(READ.make, ferry.with_options(timeout=20)))
        assert taken.wait(20)
        service.asked.clear()
        caller.tries = 0
        is_tried_again(caller, call, ferry, service)
        holder.value()


def test_a_pool_that_stays_full(caller):
    with Service(do.serve) as service:
        limits = caller.library.Limits(max_connections=0)
        ferry = caller.ferry(service.url, limits=limits, timeout=0.02)
        is_never_sent(caller, CREATE, ferry, RequestTimeoutError)
        assert service.heard == 0
