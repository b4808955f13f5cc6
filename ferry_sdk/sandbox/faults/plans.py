"""Ways of putting a reply on the wire that are not simply sending it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.sandbox.http.wire import Reply, Wire


@dataclass(frozen=True, slots=True)
class Lost:
    """No reply: the connection is cut."""

    reset: bool = False

    async def __call__(self, wire: Wire, reply: Reply) -> None:
        """Cut the connection."""
        del reply
        await wire.cut(reset=self.reset)


@dataclass(frozen=True, slots=True)
class Truncated:
    """The reply breaks off, and the connection with it."""

    keep: float
    chunked: bool = False
    reset: bool = False

    async def __call__(self, wire: Wire, reply: Reply) -> None:
        """Send the beginning of the body, then end the connection."""
        kept = min(int(len(reply.body) * self.keep), max(len(reply.body) - 1, 0))
        await wire.start(reply.unannounced() if self.chunked else reply.start)
        await wire.body(reply.body[:kept], more=True)
        if self.reset:
            await wire.cut(reset=True)
        else:
            await wire.close()
            await wire.gone()


@dataclass(frozen=True, slots=True)
class Trickled:
    """The body comes piece by piece."""

    seconds: float
    pieces: int

    async def __call__(self, wire: Wire, reply: Reply) -> None:
        """Send the body in equal pieces at equal distances."""
        size = max(-(-len(reply.body) // self.pieces), 1)
        await wire.start(reply.start)
        for begin in range(0, len(reply.body), size):
            if begin:
                await asyncio.sleep(self.seconds / (self.pieces - 1))
            await wire.body(reply.body[begin : begin + size], more=True)
        await wire.body(b"", more=False)


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """The whole reply is sent, its end is not for a while."""

    seconds: float

    async def __call__(self, wire: Wire, reply: Reply) -> None:
        """Send the reply in chunks and hold back the last, empty one."""
        await wire.start(reply.unannounced())
        await wire.body(reply.body, more=True)
        try:
            await asyncio.wait_for(wire.gone(), self.seconds)
        except asyncio.TimeoutError:
            await wire.body(b"", more=False)


@dataclass(frozen=True, slots=True)
class ClosedAfter:
    """The reply is sent, then the kept-alive connection is closed unannounced."""

    async def __call__(self, wire: Wire, reply: Reply) -> None:
        """Send the reply and close."""
        await wire.start(reply.start)
        await wire.body(reply.body, more=False)
        await wire.close()
