"""Connections made by aiohttp, and the routes they take: directly, or through a proxy."""

from __future__ import annotations

import asyncio
import select
import sys
from base64 import b64encode
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ferry_sdk._engine.validation import is_local_http
from ferry_sdk._transport.aiohttp_client.library import library
from ferry_sdk.errors import ConfigurationError

if TYPE_CHECKING:
    from aiohttp.connector import Connection


class AioConnection(asyncio.Protocol):
    """One connection. It records when data arrives, and passes it on to aiohttp's protocol.

    Args:
        connection: The connection of aiohttp.
        route: Its route.

    Attributes:
        protocol: Reads replies.
        transport: Writes requests.
        route: Its route.
        idle_since: When it became idle, on the monotonic clock.
        last_activity: When data arrived last, on the event loop's clock.
    """

    def __init__(self, connection: Connection, route: Route) -> None:
        protocol, transport = connection.protocol, connection.transport
        assert protocol is not None  # noqa: S101 -- the connection is new
        assert transport is not None  # noqa: S101 -- the same
        self._connection = connection
        self.protocol = protocol
        self.transport = transport
        self._clock = asyncio.get_running_loop().time
        self.last_activity = self._clock()
        transport.set_protocol(self)
        self._has_news = _watch(transport.get_extra_info("socket").fileno())
        self.route = route
        self.idle_since = monotonic()

    def data_received(self, data: bytes) -> None:
        """Record the time and pass the data on."""
        self.last_activity = self._clock()
        self.protocol.data_received(data)

    def eof_received(self) -> None:
        """Pass the end of the data on."""
        self.protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass the end of the connection on."""
        self.protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass on that the write buffer is full."""
        self.protocol.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the write buffer has space."""
        self.protocol.resume_writing()

    def get_extra_info(self, name: str) -> Any:  # noqa: ANN401 -- any value
        """Return information of the event loop, such as the socket."""
        return self.transport.get_extra_info(name)

    @property
    def is_reusable(self) -> bool:
        """Whether another request can be sent, without a look at the socket."""
        return not (self.transport.is_closing() or self.protocol.should_close)

    @property
    def has_no_pending_data(self) -> bool:
        """Whether nothing has arrived while it was idle, neither data nor the end."""
        return self.is_reusable and not self._has_news()

    def end(self) -> None:
        """Abort it: what is not written yet is not sent."""
        self.transport.abort()
        self._connection.close()


class Route:
    """A service, with its proxy if there is one, and the idle connections to it.

    Args:
        origin: The scheme, host and port of the service.
        proxy: The URL of the proxy, or None.

    Attributes:
        request: Tells aiohttp where to connect; it is not sent.
        idle: The idle connections, the one used last at the end.
    """

    def __init__(self, origin: str, proxy: str | None) -> None:
        aiohttp = library()
        url = aiohttp.URL(origin)
        credentials = {} if proxy is None else credentials_of(proxy)
        self.request = aiohttp.ClientRequest(
            "GET",
            url,
            proxy=None if proxy is None else aiohttp.URL(proxy).with_user(None),
            proxy_headers=credentials,
        )
        is_forwarded = proxy is not None and url.scheme == "http"
        hop_headers = {"Host": self.request.headers["Host"]} | (credentials if is_forwarded else {})
        self._prefix = origin if is_forwarded else ""
        self._head = "".join(f"{name}: {value}\r\n" for name, value in hop_headers.items())
        self.idle: deque[AioConnection] = deque()

    def first_lines(self, method: bytes, target: str) -> bytes:
        """Return the first lines of a request on this route."""
        return b"%b %b" % (method, f"{self._prefix}{target} HTTP/1.1\r\n{self._head}".encode())


def _watch(descriptor: int) -> Callable[[], bool]:
    """Return a function that tells whether the socket has data that the event loop has not read."""
    if sys.platform == "win32":
        return lambda: bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return lambda: bool(poll.poll(0))


def proxy_address(url: object) -> str:
    """Return the URL of a proxy.

    Raises:
        ConfigurationError: It is invalid; the message omits it, because it may have a password.
    """
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        is_one = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_one = False
    if not isinstance(url, str) or not is_one:
        raise ConfigurationError("proxy: expected the URL of an HTTP proxy")
    return url


def proxy_of_environment(origin: str) -> str | None:
    """Return the environment's proxy for a service; None without one.

    Plain http to this machine never uses a proxy.

    Raises:
        ConfigurationError: The URL is not that of an HTTP proxy.
    """
    if is_local_http(origin):
        return None
    parts = urlsplit(origin)
    known = getproxies()
    found = known.get(parts.scheme) or known.get("all")
    if not found or proxy_bypass(parts.netloc):
        return None
    return proxy_address(found if "://" in found else f"http://{found}")


def credentials_of(proxy: str) -> dict[str, str]:
    """Return the Proxy-Authorization header, if the URL of the proxy has a user."""
    parts = urlsplit(proxy)
    if parts.username is None:
        return {}
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"}
