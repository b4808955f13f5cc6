"""Who may ask at all: the names a local service goes by, and the pages allowed to call it."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.requests import Request


def is_loopback(name: str | None) -> bool:
    """Whether a host name or address means this very machine."""
    if name is None:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def asked_host(request: Request) -> str | None:
    """The host that the request names, without its port; `None` where it names none."""
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:
        return None


def asking_page_is_local(request: Request) -> bool:
    """Whether the request comes from no web page, or from one on this machine."""
    origin = request.headers.get("origin")
    if origin is None:
        return True
    try:
        return is_loopback(urlsplit(origin).hostname)
    except ValueError:
        return False
