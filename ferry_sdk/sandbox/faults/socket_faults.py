"""Ways of putting a reply on the wire that are not simply sending it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.sandbox.http.connection import Connection, Reply


@dataclass(frozen=True, slots=True)
class DropReply:
    """No reply: the connection is cut."""

    reset: bool = False

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Cut the connection."""
        del reply
        await connection.cut(reset=self.reset)


@dataclass(frozen=True, slots=True)
class TruncateReply:
    """The reply breaks off, and the connection with it."""

    keep: float
    chunked: bool = False
    reset: bool = False

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the beginning of the body, then end the connection."""
        kept = min(int(len(reply.body) * self.keep), max(len(reply.body) - 1, 0))
        await connection.start(reply.without_length() if self.chunked else reply.start)
        await connection.body(reply.body[:kept], more=True)
        if self.reset:
            await connection.cut(reset=True)
        else:
            await connection.close()
            await connection.wait_closed()


@dataclass(frozen=True, slots=True)
class TrickleBody:
    """The body comes piece by piece."""

    seconds: float
    pieces: int

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the body in equal pieces at equal distances."""
        size = max(-(-len(reply.body) // self.pieces), 1)
        await connection.start(reply.start)
        for begin in range(0, len(reply.body), size):
            if begin:
                await asyncio.sleep(self.seconds / (self.pieces - 1))
            await connection.body(reply.body[begin : begin + size], more=True)
        await connection.body(b"", more=False)


@dataclass(frozen=True, slots=True)
class HoldEnd:
    """The whole reply is sent, its end is not for a while."""

    seconds: float

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the reply in chunks and hold back the last, empty one."""
        await connection.start(reply.without_length())
        await connection.body(reply.body, more=True)
        try:
            await asyncio.wait_for(connection.wait_closed(), self.seconds)
        except asyncio.TimeoutError:
            await connection.body(b"", more=False)


@dataclass(frozen=True, slots=True)
class CloseAfterReply:
    """The reply is sent, then the kept-alive connection is closed unannounced."""

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the reply and close."""
        await connection.start(reply.start)
        await connection.body(reply.body, more=False)
        await connection.close()
