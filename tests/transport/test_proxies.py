"""What a proxy is asked for a tunnel is not the request; what goes through the tunnel is."""

import pytest

from tests.transport import scripted as do
from tests.transport.calls import ABANDONED_BODY, is_sent_once, is_tried_again
from tests.transport.scripted import Service

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


def tunnel(connection):
    """Be the proxy that connects, and from now on what it connects with."""
    connection.request()
    connection.socket.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")


def refusal(status):
    return do.in_turn(do.read_request, lambda connection: connection.send(status))


def half_an_answer(connection):
    connection.socket.sendall(b"HTTP/1.1 200 Conn")


SILENT = {
    "no answer": do.in_turn(do.read_request, do.hang),
    "a handshake that hangs": do.in_turn(tunnel, do.hang),
}
NO_TUNNEL = {
    "407": refusal("407 Proxy Authentication Required"),
    "502": refusal("502 Bad Gateway"),
    "cut at once": do.cut,
    "cut after the first byte": do.in_turn(do.read_bytes(1), do.cut),
    "cut instead of an answer": do.in_turn(do.read_request, do.cut),
    "reset instead of an answer": do.in_turn(do.read_request, do.reset),
    "cut in the answer": do.in_turn(do.read_request, half_an_answer, do.cut),
    "cut once it was made": do.in_turn(tunnel, do.cut),
    "cut in the handshake": do.in_turn(tunnel, do.read_bytes(1), do.cut),
    **SILENT,
}


@pytest.mark.parametrize("fault", NO_TUNNEL)
def test_no_tunnel(caller, call, fault, good):
    with Service(NO_TUNNEL[fault], do.in_turn(tunnel, do.over_tls(good))) as service:
        hangs = ["connect", "read"] if fault in SILENT else ()
        ferry = caller.ferry("https://localhost", proxy=service.url, hangs=hangs)
        is_tried_again(caller, call, ferry, service)
        assert set(service.tunnels) == {"CONNECT localhost:443"}


def test_a_tunnel_to_somebody_else(caller, any_call, good, untrusted):
    with Service(
        do.in_turn(tunnel, do.over_tls(untrusted)), do.in_turn(tunnel, do.over_tls(good))
    ) as service:
        ferry = caller.ferry("https://localhost", proxy=service.url)
        is_tried_again(caller, any_call, ferry, service)


@pytest.mark.parametrize("url", ["https://localhost", "http://ferry.example"])
def test_a_proxy_that_is_not_there(caller, any_call, url, good):
    then = do.in_turn(tunnel, do.over_tls(good)) if url == "https://localhost" else do.serve
    with Service(then, listening=False) as service:
        ferry = caller.ferry(url, proxy=service.url, second=service.listen)
        is_tried_again(caller, any_call, ferry, service)


AFTER_A_BYTE = do.in_turn(do.read_bytes(1), do.cut)
AFTER_THE_REQUEST = do.in_turn(do.read_request, do.cut)
# Nobody can tell whether a request got any further than a proxy that answers itself.
REFUSED = do.in_turn(refusal("502 Bad Gateway"), do.serve)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        pytest.param(AFTER_A_BYTE, 0, id="after a byte"),
        pytest.param(AFTER_THE_REQUEST, 1, id="after the request"),
    ],
)
def test_a_tunnel_that_is_cut(caller, any_call, fault, seen, good):
    cut_off, whole = do.over_tls(good, fault), do.over_tls(good)
    with Service(do.in_turn(tunnel, cut_off), do.in_turn(tunnel, whole)) as service:
        ferry = caller.ferry("https://localhost", proxy=service.url)
        is_sent_once(caller, any_call, ferry, service, seen=seen)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        pytest.param(do.cut, 0, id="cut at once"),
        pytest.param(AFTER_A_BYTE, 0, id="cut after a byte"),
        pytest.param(AFTER_THE_REQUEST, 1, id="cut after the request"),
        pytest.param(REFUSED, 1, id="refused by the proxy"),
    ],
)
def test_a_forwarded_request_that_fails(caller, any_call, fault, seen):
    with Service(fault, do.serve) as service:
        ferry = caller.ferry("http://ferry.example", proxy=service.url)
        is_sent_once(caller, any_call, ferry, service, seen=seen)
