"""What a caller said, checked before anything is made of it; an error names the argument."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from .effects import Timeout
from .errors import InvalidInputError

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_OWN_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
        "x-client-correlation-id",
        "x-client-version",
    }
)


def header_value(value: object, argument: str) -> str:
    """A text that can stand in a header and cannot end it."""
    if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
        raise InvalidInputError("printable ASCII is expected", field=argument)
    return value


def extra_headers(headers: Mapping[str, str], argument: str) -> dict[str, str]:
    """Headers of the caller's that may stand beside the library's own, in lower case."""
    for name, value in headers.items():
        where = f"{argument}[{name!r}]"
        if not _HEADER_NAME.fullmatch(name):
            raise InvalidInputError("not a header's name", field=where)
        if name.lower() in _OWN_HEADERS:
            raise InvalidInputError("the library sets this header itself", field=where)
        header_value(value, where)
    return {name.lower(): value for name, value in headers.items()}


def time_outs(timeout: float | Timeout | None) -> Timeout:
    """A `Timeout`; a single number, or None, stands for each of its parts."""
    limits = timeout if isinstance(timeout, Timeout) else Timeout(*[timeout] * 4)
    for limit in (limits.connect, limits.read, limits.write, limits.pool):
        if limit is not None:
            seconds(limit, "timeout")
    return limits


def seconds(span: float, argument: str) -> float:
    """A span of time that a call may take."""
    if not span > 0:
        raise InvalidInputError("more than 0 seconds are expected", field=argument)
    return span


def retries(count: int) -> int:
    """How many attempts may follow the first."""
    if count < 0:
        raise InvalidInputError("0 or more are expected", field="max_retries")
    return count


def address(url: str, *, allow_http: bool) -> str:
    """The service's address without a slash at its end; plain http for loopback only."""
    if not url.isprintable() or " " in url:
        raise InvalidInputError("a URL has no blanks", field="base_url")
    try:
        parts = urlsplit(url)
        host = parts.hostname
        parts.port  # noqa: B018 -- reading it checks it
    except ValueError:
        raise InvalidInputError("not a URL", field="base_url") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise InvalidInputError("an http or https URL is expected", field="base_url")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidInputError("no user, no query and no fragment are expected", field="base_url")
    if parts.scheme == "http" and not allow_http and not is_loopback(host):
        raise InvalidInputError(
            "plain http would show the token to the network; use https, or allow_http=True",
            field="base_url",
        )
    return url.rstrip("/")


def is_local_http(url: str) -> bool:
    """Whether an address is plain http on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Whether the host is this machine, by its name or its address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
