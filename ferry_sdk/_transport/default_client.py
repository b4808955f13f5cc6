"""The HTTP clients that are made if the user gives none.

Usually a request goes through the library's own client over HTTP/1.1. It goes through httpx if the
environment sets a proxy, or if a test or a tracer has patched httpx or httpcore: their patches must
see the request. A patch may come and go at any time, so `DefaultClients.choose` looks before each
request: `_Patches` compares the methods of httpx with those that it last saw unpatched, which costs
a microsecond. A method is unpatched if it is a plain function whose module is one of httpx.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from operator import attrgetter, is_
from types import FunctionType, ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

from ferry_sdk._engine.settings import Settings
from ferry_sdk._engine.validation import is_local_http
from ferry_sdk._runtime.threads import load_module, uninterrupted
from ferry_sdk._transport.cookies import empty_jar
from ferry_sdk._transport.http11.client import Connections
from ferry_sdk._transport.http11.pool import IDLE_BEFORE_WRITE, KEPT_FOR, MOST_CONNECTIONS
from ferry_sdk._transport.proxies import has_proxy, patterns_without_proxy, proxies_by_scheme
from ferry_sdk._transport.tls import context_of
from ferry_sdk.errors import ConfigurationError

_PATCH_POINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "httpx": (
        "Client.__init__",
        "Client.send",
        "Client._send_single_request",
        "Client._transport_for_url",
        "AsyncClient.__init__",
        "AsyncClient.send",
        "AsyncClient._send_single_request",
        "AsyncClient._transport_for_url",
        "HTTPTransport.handle_request",
        "AsyncHTTPTransport.handle_async_request",
    ),
    "httpcore": (
        "ConnectionPool.handle_request",
        "HTTPConnection.handle_request",
        "AsyncConnectionPool.handle_async_request",
        "AsyncHTTPConnection.handle_async_request",
    ),
}
"""The methods that mocks and tracers patch, by the module that has their classes."""


class _Patches:
    """Tells whether one library is patched.

    Args:
        name: The name of the library.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._methods_of = attrgetter(*_PATCH_POINTS[name])
        self._unpatched: tuple[object, ...] | None = None

    def are_applied(self) -> bool:
        """Return whether a mock or a tracer has patched the library."""
        library = sys.modules.get(self._name)
        if library is None:
            return False
        try:
            methods = self._methods_of(library)
        except AttributeError:  # a replaced class lacks one
            return True

        # `is`, because a wrapper may forward `==` to the method that it wraps; and in C, because
        # this runs before each request.
        if self._unpatched is not None and all(map(is_, methods, self._unpatched)):
            return False
        if not all(_is_of(library, method) for method in methods):
            return True
        self._unpatched = methods
        return False


def _is_of(library: ModuleType, method: Any) -> bool:  # noqa: ANN401 -- anything may be in its place
    """Return whether a method is the library's own."""
    # A tracer's wrapper has the `__class__` of what it wraps, so isinstance is not enough.
    if type(method) is not FunctionType:
        return False
    return str(method.__globals__["__name__"]).startswith(f"{library.__name__}.")


_httpx_patches: Final = _Patches("httpx")
_httpcore_patches: Final = _Patches("httpcore")


class DefaultClients:
    """The HTTP clients of one process or event loop.

    Args:
        settings: The settings of the `Ferry` or `AsyncFerry`.
        is_async: Whether they are for tasks.

    Attributes:
        usual: The client of a request while nobody patches httpx.
    """

    def __init__(self, settings: Settings, *, is_async: bool) -> None:
        self._settings = settings
        self._kind = "AsyncClient" if is_async else "Client"
        # The clients of httpx, by their class and the seconds that they keep idle connections.
        self._made: dict[tuple[object, float], Any] = {}
        self._own: Any = None
        if not has_proxy():
            new_context = partial(context_of, settings.certificates)
            if is_async:
                module = load_module("ferry_sdk._transport.http11.async_client")
                self._own = module.AsyncConnections(new_context)
            else:
                self._own = Connections(new_context)

        # Made now, because a call should load nothing.
        chosen = self.choose(is_unproven=False)
        self.usual: Any = self._own or chosen

    def choose(self, *, is_unproven: bool) -> Any:  # noqa: ANN401 -- a client of either kind
        """Return the client for the next request.

        Args:
            is_unproven: Whether it is a write that no read proves. httpx cannot choose among its
                connections, so these writes have a client that keeps them for a shorter time.
        """
        if self._own is not None:
            is_patched = _httpx_patches.are_applied() or _httpcore_patches.are_applied()
            if not is_patched:
                return self._own

        httpx = _httpx()
        kind = getattr(httpx, self._kind)  # a tracer may have replaced it since the last request
        kept_for = IDLE_BEFORE_WRITE if is_unproven else KEPT_FOR
        client = self._made.get((kind, kept_for))
        if client is None:
            made = _make_httpx_client(httpx, kind, kept_for=kept_for, settings=self._settings)
            client = self._made.setdefault((kind, kept_for), made)
        return client

    def all(self) -> list[Any]:
        """Return the clients that have been made."""
        clients = list(self._made.values())
        if self._own is not None:
            clients.insert(0, self._own)
        return clients


def _make_httpx_client(
    httpx: ModuleType,
    kind: Any,  # noqa: ANN401 -- a class of httpx, or one in its place
    *,
    kept_for: float,
    settings: Settings,
) -> Any:  # noqa: ANN401 -- a client of either kind
    """Return a client of httpx that keeps idle connections for a number of seconds.

    Raises:
        ConfigurationError: The environment names a proxy or an exemption that cannot be used.
    """
    limits = httpx.Limits(
        max_connections=MOST_CONNECTIONS,
        max_keepalive_connections=50,
        keepalive_expiry=kept_for,
    )
    context = context_of(settings.certificates)
    is_async = kind is httpx.AsyncClient
    new_transport = httpx.AsyncHTTPTransport if is_async else httpx.HTTPTransport

    # By the pattern of URLs: the transport of a proxy, or None for requests without one.
    mounts: dict[str, Any] = {}
    for scheme, proxy in proxies_by_scheme().items():
        try:
            transport = new_transport(verify=context, limits=limits, proxy=proxy)
        except (ImportError, ValueError, httpx.InvalidURL):
            # The message of httpx may contain the proxy's password.
            problem = "the environment sets a proxy that cannot be used"
            raise ConfigurationError(f"{scheme.upper()}_PROXY: {problem}") from None
        mounts[f"{scheme}://"] = transport
    if mounts:
        mounts |= dict.fromkeys(patterns_without_proxy(settings.base_url))
    url = settings.base_url
    if is_local_http(url):
        # Plain http to this machine must not pass through another one.
        mounts[f"http://{urlsplit(url).netloc}"] = None

    try:
        return kind(
            verify=context,
            limits=limits,
            mounts=mounts,
            trust_env=False,
            cookies=empty_jar(),
        )
    except httpx.InvalidURL:
        raise ConfigurationError("NO_PROXY: a URL cannot be read") from None


@uninterrupted
def _httpx() -> ModuleType:
    import httpx  # noqa: PLC0415 -- slow to import

    return httpx
