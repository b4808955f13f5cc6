"""Requests as bytes, and replies, which give their connection back when they are closed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

import httpcore
import idna

from ferry_sdk._engine.http import Headers
from ferry_sdk._transport.http11.parsers import Reader
from ferry_sdk._transport.http_client import parse_headers
from ferry_sdk.errors import ConfigurationError

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ALLOWED: Final = "%/:?#[]@!$&'()*+,;=~-._"
_NOTHING_MORE: Final[Mapping[str, Any]] = {}


class Origin(NamedTuple):
    """The server of a request.

    Attributes:
        host: The host, encoded.
        port: The port.
        is_tls: Whether it uses TLS.
    """

    host: str
    port: int
    is_tls: bool


class PreparedRequest(NamedTuple):
    """One request. A repr shows only its server.

    Its bytes are made when it has a connection, so that waiting requests do not hold them.

    Attributes:
        origin: The server.
        first_lines: The request line and the Host header.
        headers: The other headers.
        content: The body; None without one.
        connect: Seconds to connect; None, here and below: no limit.
        read: Seconds for each piece of the reply.
        write: Seconds for each piece of the request.
        pool: Seconds to wait for a connection.
        trace: Called, or awaited, with each step.
    """

    origin: Origin
    first_lines: str
    headers: Mapping[str, str]
    content: bytes | None
    connect: float | None
    read: float | None
    write: float | None
    pool: float | None
    trace: Callable[[str, Mapping[str, Any]], Any]

    def encode(self) -> bytes:
        """Return the request in bytes.

        Raises:
            ConfigurationError: A header is invalid.
        """
        lines = [self.first_lines, *(f"{name}: {value}" for name, value in self.headers.items())]
        if self.content is not None or self.first_lines.startswith("POST "):
            lines.append(f"Content-Length: {len(self.content or b'')}")
        head = "\r\n".join(lines)
        # The first lines are two.
        if head.count("\n") != len(lines) or head.count("\r") != len(lines) or "\0" in head:
            raise ConfigurationError("a header must be in one line")
        return f"{head}\r\n\r\n".encode() + (self.content or b"")

    def __repr__(self) -> str:
        return f"PreparedRequest({self.origin})"


def prepare_request(
    method: str,
    url: str,
    *,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: tuple[float | None, float | None, float | None, float | None],
    extensions: Mapping[str, Any],
) -> PreparedRequest:
    """Return a request; `timeout` is connect, read, write, pool, `extensions` has the `trace`.

    Raises:
        httpcore.UnsupportedProtocol: The URL is neither http nor https.
        UnicodeError: The host cannot be encoded.
    """
    origin, target, host = _address(url)
    first_lines = f"{method} {target} HTTP/1.1\r\nHost: {host}"
    trace = extensions["trace"]
    return PreparedRequest(origin, first_lines, headers or {}, content, *timeout, trace)


@lru_cache(maxsize=256)
def _address(url: str) -> tuple[Origin, str, str]:
    """Return the server of a URL, the target, and the value of the Host header."""
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise httpcore.UnsupportedProtocol("neither http nor https")
    host = parts.hostname if parts.hostname.isascii() else idna.encode(parts.hostname).decode()
    target = quote(parts.path or "/", safe=_ALLOWED)
    if parts.query:
        target += "?" + quote(parts.query, safe=_ALLOWED)
    default_port = _DEFAULT_PORTS[parts.scheme]
    port = default_port if parts.port is None else parts.port
    header = f"[{host}]" if ":" in host else host
    if port != default_port:
        header += f":{port}"
    return Origin(host, port, parts.scheme == "https"), target, header


class _Head:
    """Status and headers of a reply.

    Args:
        reader: Reads the reply.
        read: Reads, or awaits, bytes of the connection.
        end: Called, or awaited, when the reply is closed.
    """

    is_stream_consumed = False
    extensions = _NOTHING_MORE

    def __init__(self, reader: Reader, read: Callable[[], Any], end: Callable[[], Any]) -> None:
        self._reader = reader
        self._read = read
        self._end = end

    @property
    def status_code(self) -> int:
        """The status."""
        return self._reader.status_code

    @property
    def headers(self) -> Headers:
        """The headers; repeated ones are joined with a comma."""
        return parse_headers(self._reader.headers)


class Response(_Head):
    """A reply with a body that is read synchronously."""

    def iter_raw(self) -> Iterator[bytes]:
        """Yield the pieces of the body."""
        reader = self._reader
        yield from reader.take()
        while not reader.is_complete:
            reader.feed(self._read())
            yield from reader.take()
        reader.is_read = True

    iter_bytes = iter_raw

    def close(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        self._end()


class AsyncResponse(_Head):
    """A reply with a body that is read asynchronously."""

    async def aiter_raw(self) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of the body."""
        reader = self._reader
        for piece in reader.take():
            yield piece
        while not reader.is_complete:
            reader.feed(await self._read())
            for piece in reader.take():
                yield piece
        reader.is_read = True

    aiter_bytes = aiter_raw

    async def aclose(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        await self._end()
