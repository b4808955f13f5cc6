"""A reply as aiohttp reads it: its head, and its body as it comes in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import Self

from ferry_sdk._transport.aiohttp_client.errors import failure_of
from ferry_sdk._transport.decompression import decompressor_of
from ferry_sdk._transport.headers import parse_headers

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.http_parser import RawResponseMessage

    from ferry_sdk._transport.aiohttp_client.connection import AioConnection
    from ferry_sdk._transport.aiohttp_client.pool import Pool

_NOTHING_MORE: Final[Mapping[str, Any]] = {}


class AioResponse:
    """One reply, the body not yet read.

    Args:
        message: Its head.
        body: What the body is read from.
        line: The connection it comes on.
        pool: Whose it is.
        patience: Seconds that each piece of the body may take; None: any.

    Attributes:
        status_code: The status.
        headers: The headers; one that comes twice is one list.
        is_stream_consumed: False: the body is never there before it is read.
        extensions: Nothing more is known of it.
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
        """The body as it comes in."""
        return Pieces(self._read_piece)

    async def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes in, unpacked."""
        decompressor = decompressor_of(self.headers.get("content-encoding", ""))
        async for raw in self.aiter_raw():
            for piece in decompressor.pieces(raw):
                yield piece

    async def aclose(self) -> None:
        """Give the connection back; one that has more to say is ended."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.give_back(connection)

    async def _read_piece(self) -> bytes:
        """The next piece of the body, or nothing at its end.

        Raises:
            ConnectionFailedError: It ends before its end.
            RequestTimeoutError: Its next piece takes too long.
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
    """The pieces of a body. It holds nothing that has to be closed, as a generator would.

    Args:
        read: Gives the next piece; nothing at the end.
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
        """Let go of nothing."""
