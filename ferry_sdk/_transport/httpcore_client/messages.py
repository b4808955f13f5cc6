"""Requests for httpcore, and replies, which give their connection back when they are closed."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast
from urllib.parse import quote, urlsplit

import httpcore
import idna

from ferry_sdk._transport.http_client import parse_headers

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ALLOWED: Final = "%/:?#[]@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """One request.

    Attributes:
        request: The request of httpcore.
        origin: Scheme, host and port.
        is_tls: Whether it uses TLS.
        pool_timeout: Seconds to wait for a connection; None: no limit.
    """

    request: httpcore.Request
    origin: str
    is_tls: bool
    pool_timeout: float | None

    def without_trace(self) -> Any:  # noqa: ANN401 -- a function, async or not
        """Remove and return the trace function; None without one.

        On an open connection only one step matters, and httpcore would report ten.
        """
        known: Any = vars(self.request)["extensions"]
        return known.pop("trace", None)


def prepare_request(
    method: str,
    url: str,
    *,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: tuple[float | None, float | None, float | None, float | None],
    extensions: dict[str, Any] | None = None,
) -> PreparedRequest:
    """Return a request; `timeout` is connect, read, write, pool.

    Raises:
        httpcore.UnsupportedProtocol: The URL is neither http nor https.
        UnicodeError: The host cannot be encoded.
    """
    address, origin, host = _address(url)
    connect, read, write, pool = timeout
    header_list = [(b"Host", host)]
    header_list += [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    if content is not None or method == "POST":
        header_list.append((b"Content-Length", b"%d" % len(content or b"")))
    limits = {"connect": connect, "read": read, "write": write, "pool": pool}
    request = httpcore.Request(
        method,
        address,
        headers=header_list,
        content=content,
        extensions={**(extensions or {}), "timeout": limits},
    )
    return PreparedRequest(request, origin, address.scheme == b"https", pool)


@lru_cache(maxsize=256)
def _address(url: str) -> tuple[httpcore.URL, str, bytes]:
    """Return the URL, its origin, and the value of the Host header."""
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise httpcore.UnsupportedProtocol("neither http nor https")
    host = parts.hostname if parts.hostname.isascii() else idna.encode(parts.hostname).decode()
    target = quote(parts.path or "/", safe=_ALLOWED)
    if parts.query:
        target += "?" + quote(parts.query, safe=_ALLOWED)
    address = httpcore.URL(scheme=parts.scheme, host=host, port=parts.port, target=target)
    host_header = f"[{host}]" if ":" in host else host
    if parts.port not in (None, _DEFAULT_PORTS[parts.scheme]):
        host_header += f":{parts.port}"
    return address, f"{parts.scheme}://{host_header}", host_header.encode()


class _Head:
    """Status and headers of a reply.

    Args:
        response: The reply.
        end: Called, or awaited, when the reply is closed.
    """

    is_stream_consumed = False

    def __init__(self, response: httpcore.Response, end: Callable[[], Any]) -> None:
        self._response = response
        self._end = end

    @property
    def status_code(self) -> int:
        """The status."""
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; repeated ones are joined with a comma."""
        return parse_headers(self._response.headers)

    @property
    def extensions(self) -> Mapping[str, Any]:
        """Additional information, such as the connection."""
        known: Any = vars(self._response)["extensions"]
        return cast("Mapping[str, Any]", known)


class Response(_Head):
    """A reply with a body that is read synchronously."""

    def iter_raw(self) -> Iterator[bytes]:
        """Return the pieces of the body."""
        return iter(cast("Iterable[bytes]", self._response.stream))

    iter_bytes = iter_raw

    def close(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        self._end()


class AsyncResponse(_Head):
    """A reply with a body that is read asynchronously."""

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """Return the pieces of the body."""
        return aiter(cast("AsyncIterable[bytes]", self._response.stream))

    aiter_bytes = aiter_raw

    async def aclose(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        await self._end()
