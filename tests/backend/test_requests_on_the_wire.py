"""What the library's own HTTP clients write: the target, Host and the other headers."""

import socket
import ssl

import httpcore
import pytest

from ferry_sdk import ConfigurationError, UnexpectedResponseError
from ferry_sdk._transport.http11.client import Connections, prepare_request
from ferry_sdk.sandbox import Sandbox
from tests.support.exchanges import caught
from tests.transport.scripted import Service

pytestmark = pytest.mark.own_http_client(reason="they are requests of the library's own clients")

LIMITS = (20.0, 20.0, 20.0, 20.0)
TRACED = {"trace": lambda *_: None}


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


@pytest.mark.parametrize(
    ("prefix", "path"),
    [
        pytest.param("", "", id="none"),
        pytest.param("/v2/ferries", "/v2/ferries", id="two parts"),
        pytest.param("/caf%C3%A9/a%2Fb", "/caf%C3%A9/a%2Fb", id="encoded"),
        pytest.param("/café%20au%20lait", "/caf%C3%A9%20au%20lait", id="encoded by half"),
    ],
)
def test_a_path_of_the_address_comes_first(any_clients, service, notes, prefix, path):
    any_clients("t", base_url=f"{service.url}{prefix}").catalogue.ports()
    assert notes.targets == [f"{path}/api/port"]
    assert notes.values("host") == [f"127.0.0.1:{service.port}"]


def test_an_id_of_any_letters_is_encoded(any_clients, service, notes):
    with pytest.raises(UnexpectedResponseError):
        any_clients("t", base_url=service.url).tickets.get("a/b?c=%2F#é d")
    (target,) = set(notes.targets)
    assert target.endswith("/a%2Fb%3Fc%3D%252F%23%C3%A9%20d")


class TestHeaders:
    """The headers of three requests without a body."""

    @pytest.fixture
    def requests(self, any_clients, service, notes):
        """The names of the headers, a list for each request."""
        options = {"default_headers": {"X-Team": "a"}, "language": "fr"}
        ferry = any_clients("t", base_url=service.url, **options)
        for _ in range(3):
            ferry.catalogue.ports()
        requests = [[name for name, _ in fields] for fields in notes.headers]
        assert len(requests) == 3
        return requests

    def test_each_is_sent_once(self, requests):
        for names in requests:
            assert len({*names}) == len(names)

    def test_needed_ones_are_sent(self, requests):
        needed = {"host", "authorization", "x-team", "accept-language", "user-agent"}
        for names in requests:
            assert needed < {*names}

    def test_a_length_or_cookie_is_not(self, requests):
        for names in requests:
            assert not {"content-length", "cookie"} & {*names}


@pytest.fixture
def _local_example(monkeypatch):
    """Every host of `.example` has the address of this machine."""
    ask = socket.getaddrinfo

    def answer(host, *args, **options):
        name = host if isinstance(host, bytes) else host.encode()
        if b"example" in name.lower():
            host = "127.0.0.1"
        return ask(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer)


@pytest.mark.usefixtures("_local_example")
@pytest.mark.parametrize("host", ["bücher.example", "BÜCHER.Example", "xn--bcher-kva.example"])
def test_a_host_of_any_letters_is_encoded(any_clients, service, notes, host):
    url = f"http://{host}:{service.port}"
    any_clients("t", base_url=url, allow_http=True).catalogue.ports()
    assert notes.values("host") == [f"xn--bcher-kva.example:{service.port}"]


@pytest.mark.parametrize(
    ("content", "length"),
    [
        pytest.param(None, "0", id="none"),
        pytest.param(b"", "0", id="empty"),
        pytest.param(b"four", "4", id="four bytes"),
    ],
)
def test_a_post_says_its_length(service, notes, content, length):
    client = Connections(ssl.create_default_context)
    url = f"{service.url}/a?b=c%20d&e=/"
    request = client.build_request("POST", url, content=content, timeout=LIMITS, extensions=TRACED)
    reply = client.send(request, stream=True, auth=None, follow_redirects=False)
    assert b"".join(reply.iter_raw()) == b'{"ports": []}'
    reply.close()
    client.close()
    assert notes.values("content-length") == [length]
    assert notes.targets == ["/a?b=c%20d&e=/"]


def lines_of(url):
    """Return the first two lines of a request."""
    request = prepare_request("GET", url, timeout=LIMITS, extensions=TRACED)
    return request.encode().split(b"\r\n")[:2]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://ferry.example:443/", b"/"),
        ("http://ferry.example:80?a=1", b"/?a=1"),
        ("https://ferry.example:80/a#part", b"/a"),
        ("http://ferry.example:443/a//b/../c;d=e", b"/a//b/../c;d=e"),
        ("https://FERRY.example", b"/"),
        ("https://[2001:db8::1]:443/a%20b?c=%26&d=%C3%A9", b"/a%20b?c=%26&d=%C3%A9"),
        ("https://faß.example/é?ü=ß", b"/%C3%A9?%C3%BC=%C3%9F"),
    ],
)
def test_a_target_is_encoded_once(url, target):
    assert lines_of(url)[0] == b"GET %b HTTP/1.1" % target


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://ferry.example:443/", b"ferry.example"),
        ("http://ferry.example:80?a=1", b"ferry.example"),
        ("https://ferry.example:80/a#part", b"ferry.example:80"),
        ("http://ferry.example:443/a//b/../c;d=e", b"ferry.example:443"),
        ("https://FERRY.example", b"ferry.example"),
        ("https://[2001:db8::1]:443/a%20b?c=%26&d=%C3%A9", b"[2001:db8::1]"),
        ("https://faß.example/é?ü=ß", b"xn--fa-hia.example"),
    ],
)
def test_a_host_has_no_default_port(url, host):
    assert lines_of(url)[1] == b"Host: " + host


@pytest.mark.parametrize("url", ["ftp://ferry.example/", "//ferry.example/", "/api", "https:///a"])
def test_an_unusable_address_is_refused(url):
    with pytest.raises(httpcore.UnsupportedProtocol):
        prepare_request("GET", url, timeout=LIMITS, extensions=TRACED)


def test_a_host_too_long_is_refused(any_clients):
    ferry = any_clients("t", base_url=f"https://{'ü' * 80}.example")
    assert caught(ConfigurationError, ferry.catalogue.ports).outcome == "not_sent"


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
def test_an_address_of_ipv6_is_reached(any_clients):
    with Sandbox(host="::1") as sandbox:
        assert sandbox.base_url.startswith("http://[::1]:")
        assert any_clients(sandbox.token, base_url=sandbox.base_url).catalogue.ports()
