"""Faults of the socket: how a reply is sent when it is not sent normally."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.sandbox.http.connection import Connection, Reply


@dataclass(frozen=True, slots=True)
class DropReply:
    """Sends no reply and cuts the connection."""

    reset: bool = False

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Cut the connection."""
        del reply
        await connection.cut(reset=self.reset)


@dataclass(frozen=True, slots=True)
class TruncateReply:
    """Sends part of the reply, then ends the connection."""

    keep: float
    chunked: bool = False
    reset: bool = False

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the start of the body, then end the connection."""
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
    """Sends the body in pieces."""

    seconds: float
    pieces: int

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the body in equal pieces at equal intervals."""
        size = max(-(-len(reply.body) // self.pieces), 1)
        await connection.start(reply.start)
        for begin in range(0, len(reply.body), size):
            if begin:
                await asyncio.sleep(self.seconds / (self.pieces - 1))
            await connection.body(reply.body[begin : begin + size], more=True)
        await connection.body(b"", more=False)


@dataclass(frozen=True, slots=True)
class HoldEnd:
    """Sends the whole reply but delays its end."""

    seconds: float

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the reply in chunks and delay the last, empty chunk."""
        await connection.start(reply.without_length())
        await connection.body(reply.body, more=True)
        try:
            await asyncio.wait_for(connection.wait_closed(), self.seconds)
        except asyncio.TimeoutError:
            await connection.body(b"", more=False)


@dataclass(frozen=True, slots=True)
class CloseAfterReply:
    """Sends the reply, then closes the keep-alive connection without notice."""

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send the reply and close the connection."""
        await connection.start(reply.start)
        await connection.body(reply.body, more=False)
        await connection.close()
