"""The HTTP client that is made if the user gives none.

Usually that is the library's own client over HTTP/1.1. It is httpx if the environment sets a proxy,
or if a test or a tracer has patched httpx or httpcore: their patches must see the requests.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import product
from types import FunctionType, ModuleType
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from ferry_sdk._engine.limits import MOST_CONNECTIONS
from ferry_sdk._engine.settings import Settings
from ferry_sdk._engine.validation import is_local_http
from ferry_sdk._runtime.threads import load_module, uninterrupted
from ferry_sdk._transport.http11.client import Connections
from ferry_sdk._transport.tls import context_of
from ferry_sdk.errors import ConfigurationError

_PATCH_POINTS: Final = (
    *product(("httpx",), ("Client", "AsyncClient"), ("__init__", "send", "_send_single_request")),
    ("httpx", "HTTPTransport", "handle_request"),
    ("httpx", "AsyncHTTPTransport", "handle_async_request"),
    ("httpcore", "ConnectionPool", "handle_request"),
    ("httpcore", "AsyncConnectionPool", "handle_async_request"),
)
"""The methods that mocks and tracers patch."""


def new_client(settings: Settings, *, is_async: bool) -> Any:  # noqa: ANN401 -- a client of either kind
    """Return a new HTTP client for the service of these settings."""
    has_proxy = not getproxies().keys().isdisjoint({"http", "https", "all"})
    if has_proxy or _is_patched():
        return _httpx_client("AsyncClient" if is_async else "Client", settings)
    new_context = partial(context_of, settings.certificates)
    if is_async:
        return load_module("ferry_sdk._transport.http11.async_client").AsyncConnections(new_context)
    return Connections(new_context)


def _is_patched() -> bool:
    """Return whether a mock or a tracer has patched httpx or httpcore."""
    for name, kind, method in _PATCH_POINTS:
        if library := sys.modules.get(name):
            way: Any = getattr(getattr(library, kind, None), method, None)
            # A tracer's wrapper has the `__class__` of what it wraps, so isinstance is not enough.
            module = way.__globals__["__name__"] if type(way) is FunctionType else ""
            if not module.startswith(f"{library.__name__}."):
                return True
    return False


def _httpx_client(kind: str, settings: Settings) -> Any:  # noqa: ANN401 -- a client of either kind
    httpx = _httpx()
    limits = httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=50)
    context = context_of(settings.certificates)
    url = settings.base_url
    # None is no proxy: plain http to this machine must not pass through another one.
    direct = {f"http://{urlsplit(url).netloc}": None} if is_local_http(url) else None
    try:
        return getattr(httpx, kind)(verify=context, limits=limits, mounts=direct)
    except (ImportError, ValueError, httpx.InvalidURL):
        # The message of httpx may contain the proxy's password.
        raise ConfigurationError("the environment sets a proxy that cannot be used") from None


@uninterrupted
def _httpx() -> ModuleType:
    import httpx  # noqa: PLC0415 -- slow to import

    return httpx
