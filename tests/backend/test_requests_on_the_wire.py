"""What the library's own HTTP clients write: the target, Host and the other headers."""

import socket
import ssl

import httpcore
import pytest

from ferry_sdk import ConfigurationError, UnexpectedResponseError
from ferry_sdk._transport.http11.client import Connections, prepare_request
from ferry_sdk.sandbox import Sandbox
from tests.support.tables import each
from tests.transport.scripted import Service

pytestmark = pytest.mark.own_http_client(reason="they are requests of the library's own clients")

LIMITS = (20.0, 20.0, 20.0, 20.0)
TRACED = {"trace": lambda *_: None}
IPV6 = b"[2001:db8::1]"


class Notes:
    """A script that notes targets and headers, and gives a cookie with every reply."""

    def __init__(self):
        self.targets = []
        self.headers = []

    def __call__(self, connection):
        while head := connection.socket.recv(65536, socket.MSG_PEEK):
            line, *fields = head.partition(b"\r\n\r\n")[0].decode().split("\r\n")
            self.targets.append(line.split(" ")[1])
            self.headers.append([tuple(field.lower().split(": ", 1)) for field in fields])
            connection.request()
            connection.socket.sendall(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 13\r\n"
                b'set-cookie: session=mine; Path=/\r\n\r\n{"ports": []}'
            )

    def values(self, name):
        return [value for key, value in self.headers[-1] if key == name]


@pytest.fixture
def notes():
    return Notes()


@pytest.fixture
def service(notes):
    with Service(notes) as made:
        yield made


@pytest.mark.parametrize("prefix", ["", "/v2/ferries", "/caf%C3%A9/a%2Fb", "/café au lait"])
def test_a_path_of_the_address_comes_first(any_clients, service, notes, prefix):
    any_clients("t", base_url=f"{service.url}{prefix.replace(' ', '%20')}").catalogue.ports()
    sent = {"/café au lait": "/caf%C3%A9%20au%20lait"}.get(prefix, prefix)
    assert notes.targets == [f"{sent}/api/port"]
    assert notes.values("host") == [f"127.0.0.1:{service.port}"]


def test_ids_headers_and_hosts_of_any_letters_arrive(any_clients, service, notes, monkeypatch):
    with pytest.raises(UnexpectedResponseError):
        any_clients("t", base_url=service.url).tickets.get("a/b?c=%2F#é d")
    (target,) = set(notes.targets)
    assert target.endswith("/a%2Fb%3Fc%3D%252F%23%C3%A9%20d")
    options = {"default_headers": {"X-Team": "a"}, "language": "fr"}
    ferry = any_clients("t", base_url=service.url, **options)
    for _ in range(3):
        ferry.catalogue.ports()
        names = [name for name, _ in notes.headers[-1]]
        assert len({*names}) == len(names)
        assert {"host", "authorization", "x-team", "accept-language", "user-agent"} < {*names}
        assert not {"content-length", "cookie"} & {*names}
    ask = socket.getaddrinfo

    def here(host, *args, **options):
        is_example = b"example" in (host if isinstance(host, bytes) else host.encode()).lower()
        return ask("127.0.0.1" if is_example else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    for host in ("bücher.example", "BÜCHER.Example", "xn--bcher-kva.example"):
        url = f"http://{host}:{service.port}"
        any_clients("t", base_url=url, allow_http=True).catalogue.ports()
        assert notes.values("host") == [f"xn--bcher-kva.example:{service.port}"]


def test_a_post_without_a_body_says_so(service, notes):
    client = Connections(ssl.create_default_context)
    url = f"{service.url}/a?b=c%20d&e=/"
    for content, length in ((None, "0"), (b"", "0"), (b"four", "4")):
        request = client.build_request(
            "POST", url, content=content, timeout=LIMITS, extensions=TRACED
        )
        reply = client.send(request, stream=True, auth=None, follow_redirects=False)
        assert b"".join(reply.iter_raw()) == b'{"ports": []}'
        reply.close()
        assert notes.values("content-length") == [length]
    client.close()
    assert notes.targets == ["/a?b=c%20d&e=/"] * 3


@each(
    ("url", "target", "host"),
    [
        ("https://ferry.example:443/", b"/", b"ferry.example"),
        ("http://ferry.example:80?a=1", b"/?a=1", b"ferry.example"),
        ("https://ferry.example:80/a#part", b"/a", b"ferry.example:80"),
        ("http://ferry.example:443/a//b/../c;d=e", b"/a//b/../c;d=e", b"ferry.example:443"),
        ("https://FERRY.example", b"/", b"ferry.example"),
        ("https://[2001:db8::1]:443/a%20b?c=%26&d=%C3%A9", b"/a%20b?c=%26&d=%C3%A9", IPV6),
        ("https://faß.example/é?ü=ß", b"/%C3%A9?%C3%BC=%C3%9F", b"xn--fa-hia.example"),
    ],
)
def test_what_is_encoded_is_not_again_and_a_host_has_no_default_port(url, target, host):
    request = prepare_request("GET", url, timeout=LIMITS, extensions=TRACED)
    assert request.encode().split(b"\r\n")[:2] == [b"GET %b HTTP/1.1" % target, b"Host: " + host]


def test_an_address_that_is_none_is_refused_and_one_of_ipv6_is_reached(any_clients):
    for url in ("ftp://ferry.example/", "//ferry.example/", "/api", "https:///a"):
        with pytest.raises(httpcore.UnsupportedProtocol):
            prepare_request("GET", url, timeout=LIMITS, extensions=TRACED)
    with pytest.raises(ConfigurationError) as caught:
        any_clients("t", base_url=f"https://{'ü' * 80}.example").catalogue.ports()
    assert caught.value.outcome == "not_sent"
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    with Sandbox(host="::1") as sandbox:
        assert sandbox.base_url.startswith("http://[::1]:")
        assert any_clients(sandbox.token, base_url=sandbox.base_url).catalogue.ports()
