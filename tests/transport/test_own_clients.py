"""Which HTTP client the library makes for itself, where it leads, whom it trusts, what it loads."""

import socket
import ssl
from contextlib import suppress
from functools import wraps
from unittest.mock import Mock

import httpcore
import httpx
import pytest
import trustme

from ferry_sdk import ConfigurationError, ConnectionFailedError
from ferry_sdk._transport import default_client
from tests.support import samples
from tests.support.cases import case
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.trip import search_arguments
from tests.test_public_names import loaded_after
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import Service, in_turn, over_tls, read_request, serve
from tests.transport.test_proxies import tunnel

pytestmark = pytest.mark.own_http_client(reason="it is about the client that the library makes")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


@pytest.fixture
def trusted(authority, tmp_path, monkeypatch):
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))


@pytest.mark.usefixtures("trusted")
def test_the_environments_proxy_is_used_for_http_and_asked_for_a_tunnel(clients, monkeypatch, good):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        with case(name), monkeypatch.context() as environment, Service(serve) as proxy:
            environment.setenv(name, f"127.0.0.1:{proxy.port}")
            ferry = clients("t", base_url="http://ferry.example", allow_http=True)
            assert len(CREATE.make(ferry).attempts) == 1
            assert proxy.asked == [CREATE.line]
    for name in ("HTTPS_PROXY", "ALL_PROXY"):
        script = in_turn(tunnel, over_tls(good))
        with case(name), monkeypatch.context() as environment, Service(script) as proxy:
            environment.setenv(name, proxy.url)
            READ.make(clients("t", base_url="https://localhost"))
            assert (proxy.tunnels, proxy.asked) == (["CONNECT localhost:443"], [READ.line])


HERE = ("127.0.0.1", "localhost", "127.9.9.9", "[::1]", "x.localhost")
NOT_PROXIED = ("127.0.0.1", "*", "elsewhere.example,127.0.0.1")
PASSED = [
    *(({name: None}, "127.0.0.1") for name in ("http_proxy", "ALL_PROXY", "HTTPS_PROXY")),
    *(({"HTTP_PROXY": None}, host) for host in HERE),
    *(({"ALL_PROXY": None, "NO_PROXY": hosts}, "127.0.0.1") for hosts in NOT_PROXIED),
]


@each(("environment", "host"), PASSED)
def test_plain_http_to_this_machine_passes_no_proxy(clients, monkeypatch, environment, host):
    with Service(serve) as service, Service(serve) as proxy, monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value or proxy.url)
        url = f"http://{host}:{service.port}"
        with suppress(ConnectionFailedError):  # the service listens on one address only
            READ.make(clients("t", base_url=url, max_retries=0))
        assert host not in {"127.0.0.1", "localhost"} or service.asked == [READ.line]
        assert proxy.heard == 0


@each("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("name", ["NOTHING", "HTTP_PROXY"])
def test_plain_http_is_not_sent_where_localhost_is_elsewhere(clients, monkeypatch, host, name):
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    elsewhere = lambda _: ("203.0.113.9", 80)  # noqa: E731
    with Service(serve) as service, monkeypatch.context() as later:
        url = f"http://{host}:{service.port}"
        with monkeypatch.context() as names:
            names.setattr(socket.socket, "getpeername", elsewhere)
            refused = caught(ConfigurationError, CREATE.make, clients("t", base_url=url))
        assert str(refused).startswith("base_url: ")
        assert refused.outcome == "not_sent"
        assert not service.asked
        READ.make(clients("t", base_url=url))
        later.setattr(socket.socket, "getpeername", elsewhere)
        READ.make(clients("t", base_url=url, allow_http=True))


@each("rest", ["ftp://ada:{}@h:1", "http://ada:{}@h:p", "none://{}"])
def test_a_proxy_that_is_none_is_refused_and_not_shown(clients, monkeypatch, rest):
    monkeypatch.setenv("ALL_PROXY", rest.format("s3cret"))
    refused = caught(ConfigurationError, READ.make, clients("t", base_url="https://ferry.example"))
    assert "a proxy that cannot be used" in str(refused)
    assert "s3cret" not in str(refused)
    assert (refused.outcome, refused.__cause__) == ("not_sent", None)


@pytest.mark.usefixtures("trusted")
def test_the_authority_is_read_when_a_client_is_made(clients, good, monkeypatch, tmp_path):
    other = tmp_path / "other"  # a folder of an authority that does not vouch for the service
    other.mkdir()
    trustme.CA().cert_pem.write_to_path(str(other / "authority.pem"))
    with Service(over_tls(good)) as service:
        settings = {"base_url": service.secure_url, "max_retries": 0}
        early = clients("t", **settings)
        monkeypatch.delenv("SSL_CERT_FILE")
        late = clients("t", **settings)
        monkeypatch.setenv("SSL_CERT_DIR", str(other))
        READ.make(early)
        for untrusting in (late, clients("t", **settings)):
            assert_not_trusted(untrusting)
        assert service.asked == [READ.line]


def assert_not_trusted(ferry):
    refused = caught(ConnectionFailedError, CREATE.make, ferry)
    assert "CERTIFICATE_VERIFY_FAILED" in str(refused)
    assert refused.outcome == "not_sent"


@pytest.fixture
def file(tmp_path, monkeypatch):
    file = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    return file


@pytest.mark.parametrize("proxy", ["NOTHING", "HTTPS_PROXY"])
def test_a_renewed_authority_is_seen(clients, authority, good, file, monkeypatch, proxy):
    script = over_tls(good)
    with Service(in_turn(tunnel, script) if proxy == "HTTPS_PROXY" else script) as service:
        monkeypatch.setenv(proxy, service.url)
        assert_not_trusted(clients("t", base_url=service.secure_url, max_retries=0))
        authority.cert_pem.write_to_path(str(file))
        READ.make(clients("t", base_url=service.secure_url))
        assert service.asked == [READ.line]


@pytest.mark.usefixtures("trusted")
def test_the_authorities_are_read_once_for_all_connections(clients, good, monkeypatch):
    read = Mock(side_effect=ssl.create_default_context)
    monkeypatch.setattr(ssl, "create_default_context", read)
    with Service(over_tls(good)) as service:
        for _ in range(3):
            READ.make(clients("t", base_url=service.secure_url))
    assert read.call_count == 1


@pytest.mark.parametrize("proxy", ["NOTHING", "HTTPS_PROXY"])
@pytest.mark.parametrize("is_missing", [True, False])
def test_certificates_that_cannot_be_read_are_named_and_nothing_is_sent(
    clients, file, monkeypatch, proxy, is_missing
):
    file.unlink() if is_missing else file.write_text("no certificate")
    with Service(serve) as service:
        monkeypatch.setenv(proxy, service.url)
        refused = caught(ConfigurationError, CREATE.make, clients("t", base_url=service.secure_url))
        assert "SSL_CERT_FILE" in str(refused)
        assert (refused.outcome, service.heard) == ("not_sent", 0)


class Wrapper:
    """Looks like what it wraps, as the wrappers of tracers do."""

    def __init__(self, wrapped, seen):
        self.wrapped, self.seen = wrapped, seen

    @property
    def __class__(self):
        return type(self.wrapped)

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def __get__(self, instance, owner):
        return Wrapper(self.wrapped.__get__(instance, owner), self.seen) if instance else self

    def __call__(self, *args, **options):
        self.seen.append("call")
        return self.wrapped(*args, **options)


def as_a_function(wrapped, seen):
    @wraps(wrapped)
    def call(*args, **options):
        return Wrapper(wrapped, seen)(*args, **options)

    return call


WAYS = {
    "client": [(httpx.Client, "send"), (httpx.AsyncClient, "send")],
    "transport": [
        (httpx.HTTPTransport, "handle_request"),
        (httpx.AsyncHTTPTransport, "handle_async_request"),
    ],
}
if httpx.__name__ == "httpx":  # httpx2 has a pool of its own
    WAYS["pool"] = [
        (httpcore.ConnectionPool, "handle_request"),
        (httpcore.AsyncConnectionPool, "handle_async_request"),
    ]


@pytest.mark.parametrize("wrapper", [as_a_function, Wrapper])
@pytest.mark.parametrize("way", WAYS)
def test_calls_use_what_was_put_into_httpx(clients, ferry_sandbox, monkeypatch, way, wrapper):
    seen = []
    owner, method = WAYS[way][clients.is_async]
    monkeypatch.setattr(owner, method, wrapper(vars(owner)[method], seen))
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    assert ferry.catalogue.ports()
    assert ferry.catalogue.ports()
    assert seen == ["call"] * 2


@pytest.fixture
def replace_client(clients, monkeypatch):
    """A function that puts a subclass in the place of httpx's client, and counts its instances."""
    name = "AsyncClient" if clients.is_async else "Client"
    made = []

    class Traced(getattr(httpx, name)):
        def __init__(self, **options):
            made.append(name)
            super().__init__(**options)

    def replace():
        monkeypatch.setattr(httpx, name, Traced)
        return made

    return replace


def test_a_class_in_the_place_of_httpxs_is_used(clients, ferry_sandbox, replace_client):
    made = replace_client()
    assert clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url).catalogue.ports()
    assert len(made) == 1


def patched(monkeypatch, clients, way, wrapper, seen):
    owner, method = WAYS[way][clients.is_async]
    monkeypatch.setattr(owner, method, wrapper(vars(owner)[method], seen))


@pytest.mark.parametrize("wrapper", [as_a_function, Wrapper])
@pytest.mark.parametrize("way", WAYS)
def test_a_late_patch_sees_the_next_request(clients, monkeypatch, way, wrapper):
    with Service(serve) as service:
        ferry = clients("t", base_url=service.url)
        READ.make(ferry)
        seen = []
        patched(monkeypatch, clients, way, wrapper, seen)
        CREATE.make(ferry)
        READ.make(ferry)
        assert seen == ["call"] * 2
        assert service.asked == [READ.line, CREATE.line, READ.line]


def test_a_patch_between_attempts_sees_the_retry(clients, monkeypatch):
    seen = []

    def patch(_event):
        patched(monkeypatch, clients, "client", as_a_function, seen)

    refuse = lambda connection: connection.send("503 Service Unavailable")  # noqa: E731 -- one line of a script
    with Service(in_turn(read_request, refuse), serve) as service:
        ferry = clients("t", base_url=service.url, event_hooks={"retry": [patch]})
        READ.make(ferry)
    assert seen == ["call"]


def test_a_late_mock_lets_no_create_leave(clients, monkeypatch):
    with Service(serve) as service:
        ferry = clients("t", base_url=service.url)
        READ.make(ferry)

        def answer(self, request):
            return httpx.Response(201, json=samples.BOOKING_CREATED)

        async def answer_async(self, request):
            return answer(self, request)

        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
        monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", answer_async)
        CREATE.make(ferry)
        assert service.asked == [READ.line]


def test_after_a_patch_httpx_is_left(clients, monkeypatch):
    with Service(serve) as service:
        ferry = clients("t", base_url=service.url)
        with monkeypatch.context() as tracer:
            patched(tracer, clients, "client", as_a_function, [])
            READ.make(ferry)
        monkeypatch.setattr(httpx.Response, "iter_raw", None)
        monkeypatch.setattr(httpx.Response, "aiter_raw", None)
        READ.make(ferry)
        assert service.asked == [READ.line] * 2


def test_a_class_replaced_later_is_used(clients, replace_client):
    with Service(serve) as service:
        ferry = clients("t", base_url=service.url)
        READ.make(ferry)
        made = replace_client()
        READ.make(ferry)
    assert len(made) == 1


EXEMPT = [
    ("::1", "[::1]"),
    ("[::1]", "[::1]"),
    ("[::1]:80, other.example", "[::1]:80"),
    ("127.0.0.0/8", "127.0.0.1"),
    ("10.0.0.0/8 127.0.0.0/30", "127.0.0.1"),
    ("[::]/0", "[::1]"),
    ("127.0.0.1", "127.0.0.1"),
    (".example,LOCALHOST", "localhost"),
    ("*.localhost", "ferry.localhost"),
    ("localhost", "localhost"),
    ("*", "127.0.0.1"),
]
PROXIED = [
    ("10.0.0.0/8", "127.0.0.1"),
    ("[::2]", "[::1]"),
    ("::/64", "ferry.example"),
    ("ample", "ferry.example"),
    ("", "ferry.example"),
]


def is_proxied(clients, hosts, host):
    """Return whether a voucher or a call to a host passes the proxy; nothing is sent."""
    ferry = clients("t", base_url=f"https://{host}")
    made = ferry._target if clients.is_async else ferry
    default = default_client.DefaultClients(made._transport.settings, is_async=clients.is_async)
    transport = default.usual._transport_for_url(httpx.URL(f"https://{host}/api"))
    return transport is not default.usual._transport


@each(("hosts", "host"), EXEMPT)
def test_no_proxy_exempts_hosts_addresses_and_networks(clients, monkeypatch, hosts, host):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", hosts)
    assert not is_proxied(clients, hosts, host)


@each(("hosts", "host"), PROXIED)
def test_no_proxy_exempts_nothing_else(clients, monkeypatch, hosts, host):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", hosts)
    assert is_proxied(clients, hosts, host)


@each("hosts", ["[::1", "192.168.*", "a/b", "ferry.example,10.0.0.0/99", "http://[x"])
def test_an_unreadable_no_proxy_is_named(clients, monkeypatch, hosts):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", hosts)
    ferry = clients("t", base_url="https://ferry.example")
    refused = caught(ConfigurationError, CREATE.make, ferry)
    assert str(refused).startswith("NO_PROXY: ")
    assert refused.outcome == "not_sent"


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"])
def test_an_unreadable_proxy_is_named(clients, monkeypatch, name):
    monkeypatch.setenv(name, "http://h:p")
    ferry = clients("t", base_url="https://ferry.example")
    refused = caught(ConfigurationError, READ.make, ferry)
    assert str(refused).startswith(f"{name}: ")


MADE = """
import ferry_sdk
ferry = ferry_sdk.Ferry("t", base_url="http://127.0.0.1:9")
other = ferry_sdk.AsyncFerry("t", base_url="http://127.0.0.1:9")
"""
SEARCHED_ASYNC = """
import asyncio, datetime, ferry_sdk
async def search():
    async with ferry_sdk.AsyncFerry({token!r}, base_url={base_url!r}) as ferry:
        assert await ferry.availability.search(**{arguments!r})
asyncio.run(search())
"""


def test_a_client_loads_little_and_a_search_no_httpx(ferry, ferry_sandbox):
    assert not {"httpx", "httpcore", "tenacity", "aiohttp", "certifi"} & loaded_after(MADE)
    values = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
    loaded = loaded_after(SEARCHED_ASYNC.format(**values, arguments=search_arguments()))
    assert "ferry_sdk._transport.http11.async_client" in loaded
    assert not {"httpx", "httpx2", "aiohttp"} & loaded


SEARCHED_SYNC = """
import datetime, ferry_sdk
with ferry_sdk.Ferry({token!r}, base_url={base_url!r}) as ferry:
    assert ferry.availability.search(**{arguments!r})
"""


def test_a_sync_search_loads_no_jar_of_cookies(ferry, ferry_sandbox):
    values = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
    loaded = loaded_after(SEARCHED_SYNC.format(**values, arguments=search_arguments()))
    assert not {"http.cookiejar", "httpx"} & loaded
