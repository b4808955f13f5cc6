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
from tests.support.exchanges import caught
from tests.support.trip import search_arguments
from tests.test_public_names import loaded_after
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import Service, in_turn, over_tls, read_request, serve
from tests.transport.test_proxies import tunnel

pytestmark = pytest.mark.own_http_client(reason="it is about the client that the library makes")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    """No variable names a proxy or authorities."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


@pytest.fixture
def trusted(authority, tmp_path, monkeypatch):
    """Clients trust the authority of the tests, by the variable ``SSL_CERT_FILE``."""
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_the_environments_proxy_gets_plain_requests(clients, monkeypatch, name):
    with Service(serve) as proxy:
        monkeypatch.setenv(name, f"127.0.0.1:{proxy.port}")
        ferry = clients("t", base_url="http://ferry.example", allow_http=True)
        assert len(CREATE.make(ferry).attempts) == 1
        assert proxy.asked == [CREATE.line]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "ALL_PROXY"])
def test_the_environments_proxy_makes_a_tunnel(clients, monkeypatch, good, name):
    with Service(in_turn(tunnel, over_tls(good))) as proxy:
        monkeypatch.setenv(name, proxy.url)
        READ.make(clients("t", base_url="https://localhost"))
        assert (proxy.tunnels, proxy.asked) == (["CONNECT localhost:443"], [READ.line])


@pytest.fixture
def proxy():
    """A proxy of plain HTTP, which the environment does not name yet."""
    with Service(serve) as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("name", "host"),
    [
        pytest.param("http_proxy", "127.0.0.1", id="http_proxy"),
        pytest.param("ALL_PROXY", "127.0.0.1", id="ALL_PROXY"),
        pytest.param("HTTPS_PROXY", "127.0.0.1", id="HTTPS_PROXY"),
        pytest.param("HTTP_PROXY", "127.0.0.1", id="HTTP_PROXY"),
        pytest.param("HTTP_PROXY", "localhost", id="to localhost"),
        pytest.param("HTTP_PROXY", "127.9.9.9", id="to another address of this machine"),
        pytest.param("HTTP_PROXY", "[::1]", id="to an address of IPv6"),
        pytest.param("HTTP_PROXY", "x.localhost", id="to a name below localhost"),
    ],
)
def test_plain_http_here_passes_no_proxy(clients, monkeypatch, proxy, name, host):
    monkeypatch.setenv(name, proxy.url)
    with Service(serve) as service:
        url = f"http://{host}:{service.port}"
        with suppress(ConnectionFailedError):  # the service listens on one address only
            READ.make(clients("t", base_url=url, max_retries=0))
        assert host not in {"127.0.0.1", "localhost"} or service.asked == [READ.line]
    assert proxy.heard == 0


@pytest.mark.parametrize("hosts", ["127.0.0.1", "*", "elsewhere.example,127.0.0.1"])
def test_an_exempt_host_passes_no_proxy(clients, monkeypatch, proxy, hosts):
    monkeypatch.setenv("ALL_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", hosts)
    with Service(serve) as service:
        READ.make(clients("t", base_url=service.url, max_retries=0))
        assert service.asked == [READ.line]
    assert proxy.heard == 0


@pytest.fixture(params=["127.0.0.1", "localhost"])
def local(request):
    """A service on this machine, and its URL."""
    with Service(serve) as service:
        yield service, f"http://{request.param}:{service.port}"


@pytest.fixture
def lead_elsewhere(monkeypatch):
    """Has connections lead to another machine."""

    def lead():
        monkeypatch.setattr(socket.socket, "getpeername", lambda _: ("203.0.113.9", 80))

    return lead


@pytest.mark.parametrize("name", ["NOTHING", "HTTP_PROXY"])
def test_plain_http_is_not_sent_elsewhere(clients, monkeypatch, local, lead_elsewhere, name):
    service, url = local
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    lead_elsewhere()
    refused = caught(ConfigurationError, CREATE.make, clients("t", base_url=url))
    assert str(refused).startswith("base_url: ")
    assert refused.outcome == "not_sent"
    assert not service.asked


@pytest.mark.parametrize("name", ["NOTHING", "HTTP_PROXY"])
def test_plain_http_is_sent_if_allowed(clients, monkeypatch, local, lead_elsewhere, name):
    service, url = local
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    READ.make(clients("t", base_url=url))
    lead_elsewhere()
    READ.make(clients("t", base_url=url, allow_http=True))
    assert service.asked == [READ.line] * 2


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("ftp://ada:s3cret@h:1", id="another protocol"),
        pytest.param("http://ada:s3cret@h:p", id="an invalid port"),
        pytest.param("none://s3cret", id="an unknown protocol"),
    ],
)
def test_an_unusable_proxy_is_not_shown(clients, monkeypatch, url):
    monkeypatch.setenv("ALL_PROXY", url)
    refused = caught(ConfigurationError, READ.make, clients("t", base_url="https://ferry.example"))
    assert "a proxy that cannot be used" in str(refused)
    assert "s3cret" not in str(refused)
    assert (refused.outcome, refused.__cause__) == ("not_sent", None)


@pytest.mark.usefixtures("trusted")
def test_each_client_reads_the_authorities_itself(clients, good, monkeypatch, tmp_path):
    other = tmp_path / "other"  # a folder of an authority that does not vouch for the service
    other.mkdir()
    trustme.CA().cert_pem.write_to_path(str(other / "authority.pem"))
    with Service(over_tls(good)) as service:
        settings = {"base_url": service.secure_url, "max_retries": 0}
        with_file = clients("t", **settings)
        monkeypatch.delenv("SSL_CERT_FILE")
        with_neither = clients("t", **settings)
        monkeypatch.setenv("SSL_CERT_DIR", str(other))
        with_folder = clients("t", **settings)
        READ.make(with_file)
        assert_not_trusted(with_neither)
        assert_not_trusted(with_folder)
        assert service.asked == [READ.line]


def assert_not_trusted(ferry):
    refused = caught(ConnectionFailedError, CREATE.make, ferry)
    assert "CERTIFICATE_VERIFY_FAILED" in str(refused)
    assert refused.outcome == "not_sent"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file that the environment names; its authority does not vouch for the service."""
    file = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    return file


@pytest.mark.parametrize("name", ["NOTHING", "HTTPS_PROXY"])
def test_a_renewed_authority_is_seen(clients, authority, good, file, monkeypatch, name):
    script = over_tls(good)
    with Service(in_turn(tunnel, script) if name == "HTTPS_PROXY" else script) as service:
        monkeypatch.setenv(name, service.url)
        assert_not_trusted(clients("t", base_url=service.secure_url, max_retries=0))
        authority.cert_pem.write_to_path(str(file))
        READ.make(clients("t", base_url=service.secure_url))
        assert service.asked == [READ.line]


@pytest.mark.usefixtures("trusted")
def test_equal_authorities_are_read_once(clients, good, monkeypatch):
    read = Mock(side_effect=ssl.create_default_context)
    monkeypatch.setattr(ssl, "create_default_context", read)
    with Service(over_tls(good)) as service:
        READ.make(clients("t", base_url=service.secure_url))
        READ.make(clients("t", base_url=service.secure_url))
    assert read.call_count == 1


@pytest.mark.parametrize("name", ["NOTHING", "HTTPS_PROXY"])
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.unlink(), id="missing"),
        pytest.param(lambda file: file.write_text("no certificate"), id="no certificate"),
    ],
)
def test_unreadable_certificates_are_named(clients, file, monkeypatch, name, spoil):
    spoil(file)
    with Service(serve) as service:
        monkeypatch.setenv(name, service.url)
        refused = caught(ConfigurationError, CREATE.make, clients("t", base_url=service.secure_url))
        assert "SSL_CERT_FILE" in str(refused)
        assert (refused.outcome, service.heard) == ("not_sent", 0)


class Wrapper:
    """Looks like what it wraps, as the wrappers of tracers do."""

    def __init__(self, wrapped, seen):
        self.wrapped = wrapped
        self.seen = seen

    @property
    def __class__(self):
        return type(self.wrapped)

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return Wrapper(self.wrapped.__get__(instance, owner), self.seen)

    def __call__(self, *args, **options):
        self.seen.append("call")
        return self.wrapped(*args, **options)


def as_a_function(wrapped, seen):
    @wraps(wrapped)
    def call(*args, **options):
        return Wrapper(wrapped, seen)(*args, **options)

    return call


WAYS = {
    ("client", "sync"): (httpx.Client, "send"),
    ("client", "async"): (httpx.AsyncClient, "send"),
    ("transport", "sync"): (httpx.HTTPTransport, "handle_request"),
    ("transport", "async"): (httpx.AsyncHTTPTransport, "handle_async_request"),
    ("pool", "sync"): (httpcore.ConnectionPool, "handle_request"),
    ("pool", "async"): (httpcore.AsyncConnectionPool, "handle_async_request"),
}
"""The class and the method that a tracer patches, by what it patches."""
PATCHED = ["client", "transport"]
if httpx.__name__ == "httpx":  # httpx2 has a pool of its own
    PATCHED.append("pool")


def patch(monkeypatch, clients, way, wrapper, seen):
    """Wrap a method of httpx, so that its calls are noted."""
    owner, method = WAYS[way, "async" if clients.is_async else "sync"]
    monkeypatch.setattr(owner, method, wrapper(vars(owner)[method], seen))


@pytest.mark.parametrize("wrapper", [as_a_function, Wrapper])
@pytest.mark.parametrize("way", PATCHED)
def test_calls_use_what_was_put_into_httpx(clients, ferry_sandbox, monkeypatch, way, wrapper):
    seen = []
    patch(monkeypatch, clients, way, wrapper, seen)
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    assert ferry.catalogue.ports()
    assert ferry.catalogue.ports()
    assert seen == ["call"] * 2


@pytest.fixture
def replace_client(clients, monkeypatch):
    """Replaces httpx's client by a subclass, and returns a list that grows with its instances."""
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


def test_a_replaced_class_of_httpx_is_used(clients, ferry_sandbox, replace_client):
    made = replace_client()
    assert clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url).catalogue.ports()
    assert len(made) == 1


@pytest.mark.parametrize("wrapper", [as_a_function, Wrapper])
@pytest.mark.parametrize("way", PATCHED)
def test_a_late_patch_sees_the_next_request(clients, monkeypatch, way, wrapper):
    with Service(serve) as service:
        ferry = clients("t", base_url=service.url)
        READ.make(ferry)
        seen = []
        patch(monkeypatch, clients, way, wrapper, seen)
        CREATE.make(ferry)
        READ.make(ferry)
        assert seen == ["call"] * 2
        assert service.asked == [READ.line, CREATE.line, READ.line]


def test_a_patch_between_attempts_sees_the_retry(clients, monkeypatch):
    seen = []

    def patch_client(_event):
        patch(monkeypatch, clients, "client", as_a_function, seen)

    def refuse(connection):
        connection.send("503 Service Unavailable")

    with Service(in_turn(read_request, refuse), serve) as service:
        ferry = clients("t", base_url=service.url, event_hooks={"retry": [patch_client]})
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
            patch(tracer, clients, "client", as_a_function, [])
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


def is_proxied(clients, host):
    """Return whether a request to a host would pass the proxy; nothing is sent."""
    ferry = clients("t", base_url=f"https://{host}")
    settings = (ferry._target if clients.is_async else ferry)._transport.settings
    default = default_client.DefaultClients(settings, is_async=clients.is_async)
    transport = default.usual._transport_for_url(httpx.URL(f"https://{host}/api"))
    return transport is not default.usual._transport


@pytest.mark.parametrize(
    ("hosts", "host"),
    [
        pytest.param("::1", "[::1]", id="an address of IPv6"),
        pytest.param("[::1]", "[::1]", id="an address in brackets"),
        pytest.param("[::1]:80, other.example", "[::1]:80", id="an address with a port"),
        pytest.param("127.0.0.0/8", "127.0.0.1", id="a network"),
        pytest.param("10.0.0.0/8 127.0.0.0/30", "127.0.0.1", id="one of two networks"),
        pytest.param("[::]/0", "[::1]", id="a network in brackets"),
        pytest.param("127.0.0.1", "127.0.0.1", id="an address"),
        pytest.param(".example,LOCALHOST", "localhost", id="a name in capitals"),
        pytest.param("*.localhost", "ferry.localhost", id="names below one"),
        pytest.param("localhost", "localhost", id="a name"),
        pytest.param("*", "127.0.0.1", id="everything"),
    ],
)
def test_no_proxy_exempts(clients, monkeypatch, hosts, host):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", hosts)
    assert not is_proxied(clients, host)


@pytest.mark.parametrize(
    ("hosts", "host"),
    [
        pytest.param("10.0.0.0/8", "127.0.0.1", id="another network"),
        pytest.param("[::2]", "[::1]", id="another address"),
        pytest.param("::/64", "ferry.example", id="a name in the place of an address"),
        pytest.param("ample", "ferry.example", id="the end of a name"),
        pytest.param("", "ferry.example", id="nothing"),
    ],
)
def test_no_proxy_does_not_exempt(clients, monkeypatch, hosts, host):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", hosts)
    assert is_proxied(clients, host)


@pytest.mark.parametrize(
    "hosts",
    [
        pytest.param("[::1", id="half a bracket"),
        pytest.param("192.168.*", id="a pattern of addresses"),
        pytest.param("a/b", id="a name with a size"),
        pytest.param("ferry.example,10.0.0.0/99", id="a network that is too small"),
        pytest.param("http://[x", id="half a URL"),
    ],
)
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


@pytest.mark.slow
def test_a_client_that_makes_no_call_loads_little():
    loaded = loaded_after(MADE)
    assert loaded.isdisjoint({"httpx", "httpcore", "tenacity", "aiohttp", "certifi"})


@pytest.fixture
def loaded_after_search(ferry_sandbox):
    """Returns which modules a program has loaded that searches in the local service."""

    def run(program):
        return loaded_after(
            program.format(
                token=ferry_sandbox.token,
                base_url=ferry_sandbox.base_url,
                arguments=search_arguments(),
            )
        )

    return run


@pytest.mark.slow
def test_a_search_loads_no_httpx(loaded_after_search):
    loaded = loaded_after_search(SEARCHED_ASYNC)
    assert "ferry_sdk._transport.http11.async_client" in loaded
    assert loaded.isdisjoint({"httpx", "httpx2", "aiohttp"})


SEARCHED_SYNC = """
import datetime, ferry_sdk
with ferry_sdk.Ferry({token!r}, base_url={base_url!r}) as ferry:
    assert ferry.availability.search(**{arguments!r})
"""


@pytest.mark.slow
def test_a_sync_search_loads_no_jar_of_cookies(loaded_after_search):
    assert loaded_after_search(SEARCHED_SYNC).isdisjoint({"http.cookiejar", "httpx"})
