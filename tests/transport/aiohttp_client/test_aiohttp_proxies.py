"""Requests through proxies: the tests of httpx, and the credentials for a proxy."""

from __future__ import annotations

import socket
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from ferry_sdk import AsyncFerry, ConfigurationError, ConnectionFailedError, DefaultAioHttpClient
from tests.transport import scripted
from tests.transport.calls import READ, failure
from tests.transport.scripted import Service, in_turn, over_tls, serve
from tests.transport.test_proxies import *  # noqa: F403 -- the same tests, of another client
from tests.transport.test_proxies import tunnel

if TYPE_CHECKING:
    import ssl

    from anyio.from_thread import BlockingPortal

    from tests.transport.aiohttp_client.conftest import AioCaller
    from tests.transport.scripted import Connection

CREDENTIALS = b"proxy-authorization: basic " + b64encode(b"ada:s3cr:et").lower()


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What a service receives."""
    received: list[bytes] = []
    receive = scripted.Connection.receive

    def record(connection: Connection, most: int = 65536) -> bytes:
        received.append(receive(connection, most))
        return received[-1]

    monkeypatch.setattr(scripted.Connection, "receive", record)
    return received


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)


def with_password(service: Service) -> str:
    return f"http://ada:s3cr%3Aet@127.0.0.1:{service.port}"


def test_a_forwarding_proxy_receives_the_credentials(caller: AioCaller, heads: list[bytes]) -> None:
    with Service(serve) as service:
        READ.make(caller.ferry("http://ferry.example", proxy=with_password(service)))
        assert service.asked == [READ.line]
    head = b"".join(heads).lower()
    assert head.startswith(b"get http://ferry.example/api/port http/1.1\r\nhost: ferry.example\r\n")
    assert CREDENTIALS in head


def test_only_the_proxy_of_a_tunnel_receives_the_credentials(
    caller: AioCaller, heads: list[bytes], good: ssl.SSLContext
) -> None:
    with Service(in_turn(tunnel, over_tls(good))) as service:
        READ.make(caller.ferry("https://localhost", proxy=with_password(service)))
        assert service.tunnels == ["CONNECT localhost:443"]
    asked, *inside = b"".join(heads).lower().split(b"\r\n\r\n")
    assert CREDENTIALS in asked
    assert b"authorization: bearer token" not in asked
    assert b"authorization: bearer token" in inside[0]
    assert CREDENTIALS not in inside[0]


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_the_environments_proxy_is_used(
    caller: AioCaller, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with Service(serve) as service:
        monkeypatch.setenv(name, f"127.0.0.1:{service.port}")
        READ.make(caller.ferry("http://ferry.example"))
        assert service.asked == [READ.line]


@pytest.mark.parametrize(
    ("no_proxy", "options"),
    [("127.0.0.1", {}), ("*", {}), ("", {"trust_env": False})],
    ids=["named by NO_PROXY", "NO_PROXY names all", "not asked"],
)
def test_the_environments_proxy_is_not_used(
    caller: AioCaller, monkeypatch: pytest.MonkeyPatch, no_proxy: str, options: dict[str, bool]
) -> None:
    with Service(serve) as service, Service(serve) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", no_proxy)
        READ.make(caller.ferry(service.url, **options))
        assert service.asked == [READ.line]
        assert proxy.heard == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.9.9.9", "[::1]", "x.localhost"])
@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_plain_http_to_this_machine_passes_through_no_proxy(
    caller: AioCaller, monkeypatch: pytest.MonkeyPatch, name: str, host: str
) -> None:
    with Service(serve) as service, Service(serve) as proxy:
        monkeypatch.setenv(name, proxy.url)
        with suppress(ConnectionFailedError):  # the service listens on one address only
            READ.make(caller.ferry(f"http://{host}:{service.port}"))
        assert host not in {"127.0.0.1", "localhost"} or service.asked == [READ.line]
        assert proxy.heard == 0


def test_plain_http_is_not_sent_where_localhost_is_another_machine(
    asyncio_portal: BlockingPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket.socket, "getpeername", lambda _: ("203.0.113.9", 80))

    async def create(url: str) -> None:
        async with DefaultAioHttpClient() as http:
            await AsyncFerry("t", base_url=url, http_client=http).catalogue.ports()

    with Service(serve) as service:
        with pytest.raises(ConfigurationError, match=r"^base_url: "):
            asyncio_portal.call(create, f"http://localhost:{service.port}")
        assert not service.asked


def test_a_given_proxy_has_precedence_over_the_environments(
    caller: AioCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Service(serve) as proxy:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        READ.make(caller.ferry("http://ferry.example", proxy=proxy.url))
        assert proxy.asked == [READ.line]


@pytest.mark.parametrize("url", ["socks5://h:1", "h:3128", "http://", "http://h:p", "http://[", ""])
def test_an_invalid_proxy_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^proxy: ") as caught:
        DefaultAioHttpClient(proxy=url)
    assert not url or url not in str(caught.value)


def test_an_invalid_proxy_of_the_environment_is_refused_at_the_call(
    caller: AioCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ada:s3cret@127.0.0.1:9")
    error = failure(READ, caller.ferry("http://ferry.example"))
    assert isinstance(error, ConfigurationError)
    assert "s3cret" not in str(error)


def test_a_password_is_in_no_error_and_no_repr(caller: AioCaller) -> None:
    with Service(serve, listening=False) as service:
        for url in ("http://ferry.example", "https://ferry.example"):
            error = failure(READ, caller.ferry(url, proxy=with_password(service)))
            assert "s3cr" not in f"{error!r} {error}"
        http = DefaultAioHttpClient(proxy=with_password(service))
        assert "s3cr" not in f"{http!r} {http._options!r}"
