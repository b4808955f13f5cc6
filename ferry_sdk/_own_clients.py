"""Which HTTP client is made where the caller gave none."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any
from urllib.request import getproxies

from ._http_client import AsyncHttpClient, HttpClient
from ._httpcore import AsyncConnections, Connections
from ._tls import context_of


def new_client() -> HttpClient[Any]:
    """A client of the library's own."""
    return _httpx().Client(**_as_ours()) if _wants_httpx() else Connections()


def new_async_client() -> AsyncHttpClient[Any]:
    """An async client of the library's own."""
    return _httpx().AsyncClient(**_as_ours()) if _wants_httpx() else AsyncConnections()


def _wants_httpx() -> bool:
    """Whether only httpx will do: it knows proxies, and others may have put themselves into it."""
    return not getproxies().keys().isdisjoint({"http", "https", "all"}) or _is_replaced()


def _is_replaced() -> bool:
    """Whether some way through httpx is no longer its own: a test's double, a tracer's."""
    httpx: Any = sys.modules.get("httpx")
    if httpx is None:
        return False
    ways = (
        httpx.Client.send,
        httpx.AsyncClient.send,
        httpx.HTTPTransport.handle_request,
        httpx.AsyncHTTPTransport.handle_async_request,
    )
    return not all(
        isinstance(way, FunctionType) and way.__globals__["__name__"].startswith("httpx.")
        for way in ways
    )


def _httpx() -> Any:  # noqa: ANN401 -- a module
    import httpx  # noqa: PLC0415 -- it takes long to load

    return httpx


def _as_ours() -> dict[str, Any]:
    httpx = _httpx()
    return {
        "verify": context_of(verify=True, trust_env=True),
        "limits": httpx.Limits(max_connections=200, max_keepalive_connections=50),
    }
