"""Which HTTP client the library makes for itself, where it leads, whom it trusts, what it loads."""

import socket
import ssl
from contextlib import suppress
from functools import wraps

import httpcore
import httpx
import pytest
import trustme

from ferry_sdk import ConfigurationError, ConnectionFailedError
from tests.support.tiers import LONG
from tests.support.trip import search_arguments
from tests.test_public_names import loaded_after
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import Service, in_turn, over_tls, serve
from tests.transport.test_proxies import tunnel

pytestmark = pytest.mark.own_http_client(reason="it is about the client that the library makes")

SECRET = "s3cret"


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


# ---- proxies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_the_environments_proxy_is_used_for_http(clients, monkeypatch, name):
    with Service(serve) as proxy:
        monkeypatch.setenv(name, f"127.0.0.1:{proxy.port}")
        ferry = clients("t", base_url="http://ferry.example", allow_http=True)
        assert len(CREATE.make(ferry).attempts) == 1
        assert proxy.asked == [CREATE.line]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "ALL_PROXY"])
def test_the_environments_proxy_is_asked_for_a_tunnel(clients, monkeypatch, name, good):
    with Service(in_turn(tunnel, over_tls(good))) as proxy:
        monkeypatch.setenv(name, proxy.url)
        READ.make(clients("t", base_url="https://localhost"))
        assert proxy.tunnels == ["CONNECT localhost:443"]
        assert proxy.asked == [READ.line]


@pytest.mark.parametrize(
    ("environment", "host"),
    [
        *(({name: None}, "127.0.0.1") for name in ("http_proxy", "ALL_PROXY", "HTTPS_PROXY")),
        *(
            ({"HTTP_PROXY": None}, host)
            for host in ("127.0.0.1", "localhost", "127.9.9.9", "[::1]", "x.localhost")
        ),
        *(
            ({"ALL_PROXY": None, "NO_PROXY": hosts}, "127.0.0.1")
            for hosts in ("127.0.0.1", "*", "elsewhere.example,127.0.0.1")
        ),
    ],
    ids=str,
)
def test_plain_http_to_this_machine_passes_through_no_proxy(
    clients, monkeypatch, environment, host
):
    with Service(serve) as service, Service(serve) as proxy:
        for name, value in environment.items():
            monkeypatch.setenv(name, value or proxy.url)
        url = f"http://{host}:{service.port}"
        with suppress(ConnectionFailedError):  # the service listens on one address only
            READ.make(clients("t", base_url=url, max_retries=0))
        assert host not in {"127.0.0.1", "localhost"} or service.asked == [READ.line]
        assert proxy.heard == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("name", ["NOTHING", "HTTP_PROXY"])
def test_plain_http_is_not_sent_where_localhost_is_another_machine(
    clients, monkeypatch, host, name
):
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Service(serve) as service:
        url = f"http://{host}:{service.port}"
        with monkeypatch.context() as names:
            names.setattr(socket.socket, "getpeername", lambda _: ("203.0.113.9", 80))
            with pytest.raises(ConfigurationError, match=r"^base_url: ") as caught:
                CREATE.make(clients("t", base_url=url))
        assert caught.value.outcome == "not_sent"
        assert not service.asked
        READ.make(clients("t", base_url=url))
        monkeypatch.setattr(socket.socket, "getpeername", lambda _: ("203.0.113.9", 80))
        READ.make(clients("t", base_url=url, allow_http=True))


@pytest.mark.parametrize("rest", ["ftp://ada:{}@h:1", "http://ada:{}@h:p", "none://{}"])
def test_a_proxy_that_is_none_is_refused_and_not_shown(clients, monkeypatch, rest):
    monkeypatch.setenv("ALL_PROXY", rest.format(SECRET))
    with pytest.raises(ConfigurationError, match="a proxy that cannot be used") as caught:
        READ.make(clients("t", base_url="https://ferry.example"))
    assert caught.value.outcome == "not_sent"
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


# ---- certificates -----------------------------------------------------------------------------


@pytest.mark.usefixtures("trusted")
def test_the_environments_authority_is_read_when_a_client_is_made(clients, good, monkeypatch):
    with Service(over_tls(good)) as service:
        early = clients("t", base_url=service.secure_url, max_retries=0)
        monkeypatch.delenv("SSL_CERT_FILE")
        late = clients("t", base_url=service.secure_url, max_retries=0)
        READ.make(early)
        with pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED"):
            READ.make(late)
        assert service.asked == [READ.line]


@pytest.mark.parametrize("through", ["nothing", "a proxy"])
def test_a_renewed_authority_is_seen(clients, authority, good, tmp_path, monkeypatch, through):
    file = tmp_path / "authority.pem"
    trustme.CA().cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    script = over_tls(good)
    with Service(script if through == "nothing" else in_turn(tunnel, script)) as service:
        url = service.secure_url
        if through == "a proxy":
            monkeypatch.setenv("HTTPS_PROXY", service.url)
        with pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED"):
            READ.make(clients("t", base_url=url, max_retries=0))
        authority.cert_pem.write_to_path(str(file))
        READ.make(clients("t", base_url=url))
        assert service.asked == [READ.line]


@pytest.mark.usefixtures("trusted")
def test_the_authorities_are_read_once_for_all_connections(clients, good, monkeypatch):
    read = []
    create = ssl.create_default_context

    def counted(**options):
        read.append(options)
        return create(**options)

    monkeypatch.setattr(ssl, "create_default_context", counted)
    with Service(over_tls(good)) as service:
        for _ in range(3):
            READ.make(clients("t", base_url=service.secure_url))
    assert len(read) == 1


@pytest.mark.parametrize("setting", ["SSL_CERT_FILE", "SSL_CERT_DIR", "none"])
def test_an_authority_that_is_not_trusted_is_refused(clients, good, tmp_path, monkeypatch, setting):
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    if setting != "none":
        monkeypatch.setenv(setting, str(other if setting == "SSL_CERT_FILE" else tmp_path))
    with Service(over_tls(good)) as service:
        with pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED") as caught:
            CREATE.make(clients("t", base_url=service.secure_url, max_retries=0))
        assert caught.value.outcome == "not_sent"
        assert not service.asked


@pytest.mark.parametrize("through", ["nothing", "a proxy"])
@pytest.mark.parametrize("content", [None, "no certificate"], ids=["missing", "nonsense"])
def test_certificates_that_cannot_be_read_are_named_and_nothing_is_sent(
    clients, tmp_path, monkeypatch, content, through
):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with Service(serve) as service:
        if through == "a proxy":
            monkeypatch.setenv("HTTPS_PROXY", service.url)
        with pytest.raises(ConfigurationError, match="SSL_CERT_FILE") as caught:
            CREATE.make(clients("t", base_url=service.secure_url))
        assert caught.value.outcome == "not_sent"
        assert service.heard == 0


# ---- doubles and tracers ----------------------------------------------------------------------


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
        seen.append("call")
        return wrapped(*args, **options)

    return call


WAYS = {
    "client": [(httpx, "Client", "send"), (httpx, "AsyncClient", "send")],
    "transport": [
        (httpx, "HTTPTransport", "handle_request"),
        (httpx, "AsyncHTTPTransport", "handle_async_request"),
    ],
    "pool": [
        (httpcore, "ConnectionPool", "handle_request"),
        (httpcore, "AsyncConnectionPool", "handle_async_request"),
    ],
}


@pytest.mark.parametrize("wrapper", [as_a_function, Wrapper])
@pytest.mark.parametrize("way", WAYS)
def test_calls_go_through_what_was_put_into_httpx(
    clients, ferry_sandbox, monkeypatch, way, wrapper
):
    if way == "pool" and httpx.__name__ != "httpx":
        return  # another library's
    seen = []
    module, kind, method = WAYS[way][clients.is_async]
    owner = getattr(module, kind)
    monkeypatch.setattr(owner, method, wrapper(vars(owner)[method], seen))
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    assert ferry.catalogue.ports()
    assert ferry.catalogue.ports()
    assert seen == ["call"] * 2


def test_calls_go_through_a_class_that_was_put_in_the_place_of_httpxs(
    clients, ferry_sandbox, monkeypatch
):
    made = []
    name = "AsyncClient" if clients.is_async else "Client"

    class Traced(getattr(httpx, name)):
        def __init__(self, **options):
            made.append(name)
            super().__init__(**options)

    monkeypatch.setattr(httpx, name, Traced)
    assert clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url).catalogue.ports()
    assert made == [name]


def test_nothing_goes_through_httpx_that_is_as_it_was(clients, ferry_sandbox, monkeypatch):
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    assert ferry.catalogue.ports()
    for way in WAYS.values():
        for module, kind, method in way:
            monkeypatch.setattr(getattr(module, kind), method, None)
    assert ferry.catalogue.ports()


# ---- what is loaded ---------------------------------------------------------------------------

MADE = """
import ferry_sdk
ferry = ferry_sdk.Ferry("t", base_url="http://127.0.0.1:9")
other = ferry_sdk.AsyncFerry("t", base_url="http://127.0.0.1:9")
"""
SEARCHED = """
import datetime, ferry_sdk
with ferry_sdk.Ferry({token!r}, base_url={base_url!r}) as ferry:
    assert ferry.availability.search(**{arguments!r})
"""
SEARCHED_ASYNC = """
import asyncio, datetime, ferry_sdk
async def search():
    async with ferry_sdk.AsyncFerry({token!r}, base_url={base_url!r}) as ferry:
        assert await ferry.availability.search(**{arguments!r})
asyncio.run(search())
"""


def test_a_client_that_makes_no_call_loads_little():
    assert not {"httpx", "httpcore", "tenacity", "aiohttp", "certifi"} & loaded_after(MADE)


@pytest.mark.parametrize(
    "program", [SEARCHED, pytest.param(SEARCHED_ASYNC, marks=LONG)], ids=["sync", "async"]
)
def test_a_search_loads_no_httpx(ferry, ferry_sandbox, program):
    statement = program.format(
        token=ferry_sandbox.token, base_url=ferry_sandbox.base_url, arguments=search_arguments()
    )
    loaded = loaded_after(statement)
    assert "ferry_sdk._transport.http11.client" in loaded
    assert not {"httpx", "httpx2", "aiohttp"} & loaded
