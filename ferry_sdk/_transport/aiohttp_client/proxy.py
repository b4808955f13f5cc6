"""Which proxy is on the way to a service, and what it is told of who asks."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ferry_sdk._engine.validation import is_local_http
from ferry_sdk.errors import ConfigurationError


def proxy_address(url: object) -> str:
    """The proxy's address, if it can be one.

    Raises:
        ConfigurationError: It cannot; the message holds nothing of it, as a password may be in it.
    """
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        is_one = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_one = False
    if not isinstance(url, str) or not is_one:
        raise ConfigurationError("proxy: the address of an HTTP proxy is expected")
    return url


def proxy_of_environment(origin: str) -> str | None:
    """The proxy that the environment has for a service; None if it has none.

    Plain http to this machine uses none.

    Raises:
        ConfigurationError: It is no HTTP proxy.
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
    """The header that tells a proxy who asks, if its address says so."""
    parts = urlsplit(proxy)
    if parts.username is None:
        return {}
    words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(words.encode()).decode()}"}
