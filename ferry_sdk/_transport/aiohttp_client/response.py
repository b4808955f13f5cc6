"""A reply that aiohttp reads: its head, and its body as it arrives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import Self

from ferry_sdk._transport.aiohttp_client.errors import failure_of
from ferry_sdk._transport.decompression import decompressor_of
from ferry_sdk._transport.http_client import parse_headers

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.http_parser import RawResponseMessage

    from ferry_sdk._transport.aiohttp_client.connection import AioConnection
    from ferry_sdk._transport.aiohttp_client.pool import Pool

_NOTHING_MORE: Final[Mapping[str, Any]] = {}


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

    def aiter_raw(self) -> Pieces:
        """Return the pieces of the raw body."""
        return Pieces(self._read_piece)

    async def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of the decompressed body."""
        decompressor = decompressor_of(self.headers.get("content-encoding", ""))
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


class Pieces:
    """The pieces of a body. Unlike a generator, it need not be closed.

    Args:
        read: Returns the next piece; empty at the end.
    """

    def __init__(self, read: Callable[[], Awaitable[bytes]]) -> None:
        self._read = read

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        piece = await self._read()
        if not piece:
            raise StopAsyncIteration
        return piece

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
