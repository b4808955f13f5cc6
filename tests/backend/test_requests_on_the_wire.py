"""What the library's own HTTP clients write: the target, Host and the other headers."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpcore
import pytest

from ferry_sdk import ConfigurationError, UnexpectedResponseError
from ferry_sdk._transport.http11.client import Connections, prepare_request
from tests.support.tables import each

pytestmark = pytest.mark.own_http_client(reason="they are requests of the library's own clients")

LIMITS = (20.0, 20.0, 20.0, 20.0)
TRACED = {"trace": lambda *_: None}


class Notes(ThreadingHTTPServer):
    """A service that notes targets and headers, and gives a cookie with every reply."""

    daemon_threads = True

    def __init__(self, host):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), Noting)
        self.targets: list[str] = []
        self.headers: list[list[tuple[str, str]]] = []

    def values(self, name):
        """The values of a header in the last request."""
        return [value for key, value in self.headers[-1] if key.lower() == name]


class Noting(BaseHTTPRequestHandler):
    """Answers with no ports, whatever is asked."""

    protocol_version = "HTTP/1.1"
    server: Notes

    def do_GET(self):
        self.server.targets.append(self.path)
        self.server.headers.append(self.headers.items())
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = b'{"ports": []}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("set-cookie", "session=mine; Path=/")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def noting(host="127.0.0.1"):
    with Notes(host) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def names_of_this_machine(monkeypatch):
    """Every name leads to this machine."""
    ask = socket.getaddrinfo

    def here(host, *args, **options):
        return ask("127.0.0.1" if b"example" in host.encode() else host, *args, **options)

    def here_too(host, *args, **options):
        return here(host.decode() if isinstance(host, bytes) else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here_too)


def head(url):
    """The lines of the head of a request."""
    request = prepare_request("GET", url, timeout=LIMITS, extensions=TRACED)
    return request.encode().split(b"\r\n")


@pytest.mark.parametrize("prefix", ["", "/v2/ferries", "/caf%C3%A9/a%2Fb", "/café au lait"])
def test_a_path_of_the_address_comes_first(any_clients, prefix):
    with noting() as server:
        url = f"http://127.0.0.1:{server.server_port}{prefix.replace(' ', '%20')}"
        any_clients("t", base_url=url).catalogue.ports()
        sent = {"/café au lait": "/caf%C3%A9%20au%20lait"}.get(prefix, prefix)
        assert server.targets == [f"{sent}/api/port"]
        assert server.values("host") == [f"127.0.0.1:{server.server_port}"]


def test_an_id_stays_one_segment(any_clients):
    with noting() as server:
        ferry = any_clients("t", base_url=f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(UnexpectedResponseError):
            ferry.tickets.get("a/b?c=%2F#é d")
        (target,) = set(server.targets)
        assert target.endswith("/a%2Fb%3Fc%3D%252F%23%C3%A9%20d")


@pytest.mark.usefixtures("names_of_this_machine")
@pytest.mark.parametrize("host", ["bücher.example", "BÜCHER.Example", "xn--bcher-kva.example"])
def test_a_host_of_any_letters_is_reached(any_clients, host):
    with noting() as server:
        url = f"http://{host}:{server.server_port}"
        any_clients("t", base_url=url, allow_http=True).catalogue.ports()
        assert server.values("host") == [f"xn--bcher-kva.example:{server.server_port}"]


def test_an_address_of_ipv6_is_reached(any_clients):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    with noting("::1") as server:
        url = f"http://[::1]:{server.server_port}"
        any_clients("t", base_url=url).catalogue.ports()
        assert server.values("host") == [f"[::1]:{server.server_port}"]


def test_every_header_comes_once_and_a_cookie_is_not_kept(any_clients):
    with noting() as server:
        url = f"http://127.0.0.1:{server.server_port}"
        ferry = any_clients("t", base_url=url, default_headers={"X-Team": "a"}, language="fr")
        for _ in range(3):
            ferry.catalogue.ports()
            names = [name.lower() for name, _ in server.headers[-1]]
            assert len(set(names)) == len(names)
            assert {"host", "authorization", "x-team", "accept-language", "user-agent"} < {*names}
            assert not {"content-length", "cookie"} & {*names}


def test_a_post_without_a_body_says_so():
    with noting() as server:
        client = Connections(ssl.create_default_context)
        url = f"http://127.0.0.1:{server.server_port}/a?b=c%20d&e=/"
        for content, length in ((None, "0"), (b"", "0"), (b"four", "4")):
            request = client.build_request(
                "POST", url, content=content, timeout=LIMITS, extensions=TRACED
            )
            reply = client.send(request, stream=True, auth=None, follow_redirects=False)
            assert b"".join(reply.iter_raw()) == b'{"ports": []}'
            reply.close()
            assert server.values("content-length") == [length]
        client.close()
        assert server.targets == ["/a?b=c%20d&e=/"] * 3


@each(
    ("url", "host"),
    [
        ("https://ferry.example:443/", b"ferry.example"),
        ("http://ferry.example:80/", b"ferry.example"),
        ("https://ferry.example:80/", b"ferry.example:80"),
        ("http://ferry.example:443/", b"ferry.example:443"),
        ("https://FERRY.example", b"ferry.example"),
        ("https://[2001:db8::1]:443/", b"[2001:db8::1]"),
        ("https://faß.example/", b"xn--fa-hia.example"),
    ],
)
def test_a_host_is_named_without_its_default_port(url, host):
    assert head(url)[1] == b"Host: " + host


@each(
    ("rest", "target"),
    [
        ("", b"/"),
        ("?a=1", b"/?a=1"),
        ("/a%20b?c=%26&d=%C3%A9", b"/a%20b?c=%26&d=%C3%A9"),
        ("/é?ü=ß", b"/%C3%A9?%C3%BC=%C3%9F"),
        ("/a//b/../c;d=e", b"/a//b/../c;d=e"),
        ("/a#part", b"/a"),
    ],
)
def test_what_is_encoded_is_not_encoded_again(rest, target):
    assert head(f"https://ferry.example{rest}")[0] == b"GET %b HTTP/1.1" % target


@each("url", ["ftp://ferry.example/", "//ferry.example/", "/api", "https:///a"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(httpcore.UnsupportedProtocol):
        prepare_request("GET", url, timeout=LIMITS, extensions=TRACED)


def test_a_host_that_cannot_be_named_is_refused(any_clients):
    with pytest.raises(ConfigurationError) as caught:
        any_clients("t", base_url=f"https://{'ü' * 80}.example").catalogue.ports()
    assert caught.value.outcome == "not_sent"
