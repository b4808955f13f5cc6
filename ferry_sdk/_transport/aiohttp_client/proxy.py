"""The proxy for a service, and its credentials."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ferry_sdk._engine.validation import is_local_http
from ferry_sdk.errors import ConfigurationError


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
