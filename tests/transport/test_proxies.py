"""What a proxy is asked for a tunnel is not the request; what goes through the tunnel is."""

import pytest

from tests.transport.calls import ABANDONED_BODY, is_sent_once, is_tried_again
from tests.transport.scripted import (
    Service,
    cut,
    hang,
    in_turn,
    over_tls,
    read_bytes,
    read_request,
    reset,
    serve,
)

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


def tunnel(connection):
    """Be the proxy that connects, and from now on what it connects with."""
    connection.request()
    connection.socket.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")


def refusal(status):
    return in_turn(read_request, lambda connection: connection.send(status))


def half_an_answer(connection):
    connection.socket.sendall(b"HTTP/1.1 200 Conn")


SILENT = [in_turn(read_request, hang), in_turn(tunnel, hang)]
NO_TUNNEL = [
    pytest.param(refusal("407 Proxy Authentication Required"), id="407"),
    pytest.param(refusal("502 Bad Gateway"), id="502"),
    pytest.param(cut, id="cut at once"),
    pytest.param(in_turn(read_bytes(1), cut), id="cut after the first byte"),
    pytest.param(in_turn(read_request, cut), id="cut instead of an answer"),
    pytest.param(in_turn(read_request, reset), id="reset instead of an answer"),
    pytest.param(in_turn(read_request, half_an_answer, cut), id="cut in the answer"),
    pytest.param(in_turn(tunnel, cut), id="cut once it was made"),
    pytest.param(in_turn(tunnel, read_bytes(1), cut), id="cut in the handshake"),
    pytest.param(SILENT[0], id="no answer"),
    pytest.param(SILENT[1], id="a handshake that hangs"),
]


@pytest.mark.parametrize("fault", NO_TUNNEL)
def test_no_tunnel(caller, call, fault, good):
    with Service(fault, in_turn(tunnel, over_tls(good))) as service:
        hangs = ["connect", "read"] if fault in SILENT else ()
        ferry = caller.ferry("https://localhost", proxy=service.url, hangs=hangs)
        is_tried_again(caller, call, ferry, service)
        assert set(service.tunnels) == {"CONNECT localhost:443"}


def test_a_tunnel_to_somebody_else(caller, any_call, good, untrusted):
    with Service(in_turn(tunnel, over_tls(untrusted)), in_turn(tunnel, over_tls(good))) as service:
        ferry = caller.ferry("https://localhost", proxy=service.url)
        is_tried_again(caller, any_call, ferry, service)


@pytest.mark.parametrize("kind", ["tunnel", "forward"])
def test_a_proxy_that_is_not_there(caller, any_call, kind, good):
    url, then = {
        "tunnel": ("https://localhost", in_turn(tunnel, over_tls(good))),
        "forward": ("http://ferry.example", serve),
    }[kind]
    with Service(then, listening=False) as service:
        ferry = caller.ferry(url, proxy=service.url, second=service.listen)
        is_tried_again(caller, any_call, ferry, service)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        pytest.param(in_turn(read_bytes(1), cut), 0, id="after the first byte"),
        pytest.param(in_turn(read_request, cut), 1, id="after the request"),
    ],
)
def test_a_tunnel_that_is_cut(caller, any_call, fault, seen, good):
    cut_off, whole = over_tls(good, fault), over_tls(good)
    with Service(in_turn(tunnel, cut_off), in_turn(tunnel, whole)) as service:
        ferry = caller.ferry("https://localhost", proxy=service.url)
        is_sent_once(caller, any_call, ferry, service, seen=seen)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        pytest.param(cut, 0, id="at once"),
        pytest.param(in_turn(read_bytes(1), cut), 0, id="after the first byte"),
        pytest.param(in_turn(read_request, cut), 1, id="after the request"),
        # nobody can tell whether it got any further than the proxy
        pytest.param(in_turn(refusal("502 Bad Gateway"), serve), 1, id="by the proxy's own word"),
    ],
)
def test_a_forwarded_request_that_is_cut(caller, any_call, fault, seen):
    with Service(fault, serve) as service:
        ferry = caller.ferry("http://ferry.example", proxy=service.url)
        is_sent_once(caller, any_call, ferry, service, seen=seen)
