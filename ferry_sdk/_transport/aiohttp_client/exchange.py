"""Writes one request to a connection and reads its reply: the head, then the body as it arrives.

Exceptions of aiohttp become a `FerryError`. They are recognised by name, because aiohttp need not
be installed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio

from ferry_sdk._transport.aiohttp_client.library import library
from ferry_sdk._transport.decompression import Decompressor
from ferry_sdk._transport.http_client import parse_headers
from ferry_sdk._transport.httpx_interface import message_of
from ferry_sdk.errors import (
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    RequestTimeoutError,
)

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.http_parser import RawResponseMessage

    from ferry_sdk._transport.aiohttp_client.connection import AioConnection
    from ferry_sdk._transport.aiohttp_client.pool import Pool
    from ferry_sdk.types import Outcome

Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]

_AT_ONCE: Final = 64 * 1024
"""Bytes of a body that are written at once; the event loop buffers the rest."""
_LONGEST_LINE: Final = 100 * 1024
"""Bytes of one line of a reply's head, as in httpx."""
_FINAL: Final = 200
"""The lowest status of a final reply."""
_SWITCHING: Final = 101
_NOTHING_MORE: Final[Mapping[str, Any]] = {}
_LOST = frozenset({"ClientError", "EofStream", "HttpProcessingError"})
_CLOSED_MEANWHILE = (OSError, RuntimeError)
"""Reading from a connection that is closed meanwhile raises a RuntimeError."""


class Limits(NamedTuple):
    """Timeouts in seconds; None is no limit."""

    connect: float | None
    read: float | None
    write: float | None
    pool: float | None


@dataclass(slots=True)
class AioRequest:
    """One HTTP request. A repr shows only its method.

    Attributes:
        method: The method as bytes, as trace functions expect it.
        origin: Scheme, host and port.
        target: Encoded path and query.
        headers: The encoded headers and the empty line after them.
        content: The body.
        limits: The timeouts.
        trace: Called with its steps; may raise to stop it before its first byte.
        is_sent: Whether its first byte was about to leave.
    """

    method: bytes
    origin: str
    target: str
    headers: bytes
    content: bytes
    limits: Limits
    trace: Trace
    is_sent: bool = False

    def __repr__(self) -> str:
        return f"AioRequest({self.method!r})"


@lru_cache(maxsize=1024)
def split_url(url: str) -> tuple[str, str]:
    """Return the origin and the target of a URL.

    Raises:
        ConfigurationError: It is not an http or https URL.
    """
    try:
        parsed = library().URL(url)
        origin = parsed.origin()
    except ValueError as error:
        raise ConfigurationError(f"not a URL: {error}") from None
    if origin.scheme not in {"http", "https"}:
        raise ConfigurationError(f"not an http or https URL: its scheme is {origin.scheme!r}")
    return str(origin), parsed.raw_path_qs


async def exchange(pool: Pool, request: AioRequest) -> AioResponse:
    """Send a request once and return its reply with the body unread.

    Raises:
        Exception: Any exception of aiohttp; if `is_sent` is False, nothing was sent.
    """
    connection = await pool.take(request)
    try:
        await request.trace("http11.send_request_headers.started", {"request": request})
    except BaseException:
        pool.give_back(connection)
        raise
    request.is_sent = True
    protocol = connection.protocol
    try:
        protocol.set_response_params(
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        head = connection.route.first_lines(request.method, request.target) + request.headers
        if len(request.content) <= _AT_ONCE:
            # Writes of one iteration of the loop leave together, which costs fewer system calls.
            pool.loop.call_soon(connection.transport.write, head + request.content)
        else:
            connection.transport.write(head)
            await _write(connection, request.content, request.limits.write)
        while True:
            pool.timeouts.begin(connection, protocol, request.limits.read)
            message, body = await protocol.read()
            if message.code >= _FINAL or message.code == _SWITCHING:
                break
        pool.timeouts.end(connection)
    except BaseException:
        pool.give_up(connection)
        raise
    return AioResponse(message, body, connection, pool, request.limits.read)


async def _write(connection: AioConnection, content: bytes, timeout: float | None) -> None:  # noqa: ASYNC109 -- of each piece
    """Write a body in pieces, with a timeout for each."""
    writer = library().StreamWriter(connection.protocol, asyncio.get_running_loop())
    view = memoryview(content)
    try:
        for start in range(0, len(view), 2 * _AT_ONCE):
            with anyio.fail_after(timeout):
                await writer.write(view[start : start + 2 * _AT_ONCE])
    except TimeoutError:
        raise
    except Exception:  # noqa: BLE001 -- the reply, or its absence, shows the outcome
        connection.protocol.force_close()


class AioResponse:
    """One reply with the body unread.

    Args:
        message: Its head.
        body: The stream of its body.
        connection: Its connection.
        pool: The pool of the connection.
        read_timeout: Seconds for each piece of the body; None: no limit.

    Attributes:
        status_code: The status.
        headers: The headers; repeated ones are joined with a comma.
        is_stream_consumed: Always False: the body is read later.
        extensions: Always empty.
    """

    is_stream_consumed = False
    extensions = _NOTHING_MORE

    def __init__(
        self,
        message: RawResponseMessage,
        body: StreamReader,
        connection: AioConnection,
        pool: Pool,
        read_timeout: float | None,
    ) -> None:
        self.status_code = message.code
        self.headers = parse_headers(message.raw_headers)
        self._body = body
        self._connection: AioConnection | None = connection
        self._pool = pool
        self._read_timeout = read_timeout

    async def aiter_raw(self) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of the raw body."""
        while piece := await self._read_piece():
            yield piece

    async def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of the decompressed body."""
        decompressor = Decompressor(self.headers.get("content-encoding", ""))
        async for raw in self.aiter_raw():
            for piece in decompressor.pieces(raw):
                yield piece

    async def aclose(self) -> None:
        """Give the connection back; with unread data it is aborted."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.give_back(connection)

    async def _read_piece(self) -> bytes:
        """Read the next piece of the body; empty at its end.

        Raises:
            ConnectionFailedError: The body is incomplete.
            RequestTimeoutError: The next piece takes too long.
        """
        connection = self._connection
        try:
            if connection is not None and not self._body.is_eof():
                self._pool.timeouts.begin(connection, self._body, self._read_timeout)
            return await self._body.readany()
        except Exception as error:
            failure = failure_of(error, "unknown")
            if failure is None:
                raise
        finally:
            if connection is not None:
                self._pool.timeouts.end(connection)
        raise failure


def failure_of(error: Exception, outcome: Outcome) -> FerryError | None:
    """Return the `FerryError` for an exception of aiohttp or the system; None for others."""
    if isinstance(error, FerryError):
        return error
    names = {
        kind.__name__ for kind in type(error).__mro__ if kind.__module__.startswith("aiohttp.")
    }
    message = message_of(error, is_ours=outcome == "not_sent")
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return RequestTimeoutError(message, outcome=outcome)
    if isinstance(error, UnicodeError) or "InvalidURL" in names:
        return ConfigurationError(message)
    if isinstance(error, _CLOSED_MEANWHILE) or names & _LOST:
        return ConnectionFailedError(message, outcome=outcome)
    return None
