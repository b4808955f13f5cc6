"""Faults of the connection: it is cut or closed, or the reply is truncated, slow or late."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from ferry_sdk.sandbox.faults.details import Duration
from ferry_sdk.sandbox.faults.reply_faults import ErrorFault, ReplyFault, RequestFault

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ferry_sdk.sandbox.http.server import BufferedReply, Connection


class ConnectionFault(ErrorFault):
    """A fault of the connection: the reply is good, but the fault itself sends it."""

    async def __call__(self, connection: Connection, reply: BufferedReply, /) -> None:
        """Send the reply, or a part of it."""
        raise NotImplementedError

    def respond(self, request: Request, good: Response, /) -> Response:
        """Return the same response, to be sent by the fault."""
        from ferry_sdk.sandbox.http.server import connection_of  # noqa: PLC0415 -- of the extra

        connection_of(request.scope).plan = self
        return good


class Cut(ConnectionFault):
    """A fault that cuts the connection without a reply.

    Attributes:
        reset: Whether the connection ends with a reset instead of an orderly close.
    """

    reset: bool = False

    async def __call__(self, connection: Connection, _: BufferedReply, /) -> None:
        """Cut the connection."""
        await connection.cut(reset=self.reset)


class CutBefore(Cut, RequestFault):
    """The connection is cut before the work."""


class LoseReply(Cut, ReplyFault):
    """The connection is cut after the work, without a reply."""


class Truncate(ConnectionFault, ReplyFault):
    """The reply is truncated.

    Attributes:
        keep: The fraction of the body that is sent, always without the last byte.
        chunked: Whether the body is chunked, without a content length.
        reset: Whether the connection ends with a reset instead of an orderly close.
    """

    keep: Annotated[float, Field(ge=0, le=1)] = 0.5
    chunked: bool = False
    reset: bool = False

    async def __call__(self, connection: Connection, reply: BufferedReply, /) -> None:
        """Send the start of the body, then end the connection."""
        without_last = max(len(reply.body) - 1, 0)
        kept = min(int(len(reply.body) * self.keep), without_last)
        start = reply.without_length() if self.chunked else reply.start
        await connection.forward(start)
        await connection.body(reply.body[:kept], more=True)

        if self.reset:
            await connection.cut(reset=True)
        else:
            await connection.close()
            await connection.wait_closed()


class Trickle(ConnectionFault, ReplyFault):
    """The body arrives slowly.

    Attributes:
        seconds: The real seconds from the first piece to the last.
        pieces: The number of pieces.
    """

    seconds: Duration = 1.0
    pieces: Annotated[int, Field(ge=2, le=10_000)] = 10

    async def __call__(self, connection: Connection, reply: BufferedReply, /) -> None:
        """Send the body in equal pieces at equal intervals."""
        size = max(math.ceil(len(reply.body) / self.pieces), 1)
        interval = self.seconds / (self.pieces - 1)
        await connection.forward(reply.start)
        for begin in range(0, len(reply.body), size):
            if begin > 0:
                await asyncio.sleep(interval)
            await connection.body(reply.body[begin : begin + size], more=True)
        await connection.body(b"", more=False)


class LeaveOpen(ConnectionFault, ReplyFault):
    """The end of the reply is delayed.

    Attributes:
        seconds: The delay in real seconds.
    """

    seconds: Duration = 60.0

    async def __call__(self, connection: Connection, reply: BufferedReply, /) -> None:
        """Send the reply in chunks and delay the last, empty chunk."""
        await connection.forward(reply.without_length())
        await connection.body(reply.body, more=True)
        try:
            await asyncio.wait_for(connection.wait_closed(), self.seconds)
        except TimeoutError:
            await connection.body(b"", more=False)


class CloseConnection(ConnectionFault, ReplyFault):
    """The connection closes after the reply, without a `Connection: close`."""

    async def __call__(self, connection: Connection, reply: BufferedReply, /) -> None:
        """Send the reply and close the connection."""
        await connection.forward(reply.start)
        await connection.body(reply.body, more=False)
        await connection.close()
