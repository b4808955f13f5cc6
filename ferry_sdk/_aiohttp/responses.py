"""A reply as aiohttp reads it: its head, and its body as it comes in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk._fields import fields_of
from ferry_sdk._unpacking import unpacking_of

from .failures import failure_of

if TYPE_CHECKING:
    from aiohttp import StreamReader
    from aiohttp.http_parser import RawResponseMessage

    from .lines import Line
    from .pool import Pool

_NOTHING_MORE: Final[Mapping[str, Any]] = {}


class AioResponse:
    """One reply, the body not yet read.

    Args:
        message: Its head.
        body: What the body is read from.
        line: The connection it comes on.
        pool: Whose it is.

    Attributes:
        status_code: The status.
        headers: The headers; one that comes twice is one list.
        is_stream_consumed: False: the body is never there before it is read.
        extensions: Nothing more is known of it.
    """

    is_stream_consumed = False
    extensions = _NOTHING_MORE

    def __init__(
        self, message: RawResponseMessage, body: StreamReader, line: Line, pool: Pool
    ) -> None:
        self.status_code = message.code
        self.headers = fields_of(message.raw_headers)
        self._body = body
        self._line: Line | None = line
        self._pool = pool

    async def aiter_raw(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes in.

        Raises:
            ConnectionFailedError: It ends before its end.
            RequestTimeoutError: Its next piece takes too long.
        """
        read = self._body.readany
        try:
            while piece := await read():
                yield piece
        except Exception as error:
            failure = failure_of(error, "unknown")
            if failure is None:
                raise
        else:
            return
        raise failure

    async def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes in, unpacked."""
        unpacking = unpacking_of(self.headers.get("content-encoding", ""))
        async for raw in self.aiter_raw():
            for piece in unpacking.pieces(raw):
                yield piece

    async def aclose(self) -> None:
        """Give the connection back; one that has more to say is ended."""
        line, self._line = self._line, None
        if line is not None:
            self._pool.give_back(line)
