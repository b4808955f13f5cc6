"""The connection under a request, and what can be done to it beneath HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from ferry_sdk.sandbox.counters import Counters

_EXTENSION = "ferry_sdk.sandbox.connection"
_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply about to be sent.

    Attributes:
        start: The ASGI message of its status and headers.
        body: Its body, as it would go out (compressed where that was asked for).
    """

    start: Message
    body: bytes

    def without_length(self) -> Message:
        """The start without the body's length, so that the body goes out in chunks."""
        headers = [item for item in self.start["headers"] if item[0].lower() != b"content-length"]
        return {**self.start, "headers": headers}


class Plan(Protocol):
    """How a reply is put on the wire in place of simply sending it."""

    async def __call__(self, connection: Connection, reply: Reply) -> None:
        """Send `reply`, or what is left of it."""
        ...


class Connection:
    """One request's connection; a plan set here takes the place of sending the reply."""

    def __init__(self, transport: asyncio.Transport, receive: Receive, send: Send) -> None:
        self._transport = transport
        self._receive = receive
        self._send = send
        self._start: Message | None = None
        self._body = b""
        self.plan: Plan | None = None

    async def send(self, message: Message) -> None:
        """The application's way of sending: straight on, or kept for the plan."""
        if self.plan is None:
            await self._send(message)
        elif message["type"] == "http.response.start":
            self._start = message
        else:
            self._body += message.get("body", b"")
            if self._start is not None and not message.get("more_body", False):
                await self.plan(self, Reply(self._start, self._body))

    async def start(self, message: Message) -> None:
        """Send status and headers."""
        await self._send(message)

    async def body(self, data: bytes, *, more: bool) -> None:
        """Send a piece of the body."""
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def cut(self, *, reset: bool = False) -> None:
        """Drop the connection at once, and return when it is gone."""
        if reset:
            link: socket.socket = self._transport.get_extra_info("socket")
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
        self._transport.abort()
        await self.wait_closed()

    async def close(self) -> None:
        """Close the connection after what was sent."""
        self._transport.close()
        await asyncio.sleep(0)

    async def wait_closed(self) -> None:
        """Return when either side has closed the connection."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


def connection_of(scope: Scope) -> Connection:
    """The connection under a request.

    Raises:
        TypeError: The request came through another server than the sandbox's own.
    """
    connection: object = scope.get("extensions", {}).get(_EXTENSION)
    if not isinstance(connection, Connection):
        raise TypeError("faults of the connection need the sandbox's own server")
    return connection


def connection_protocol(app: ASGIApp, counters: Counters) -> type[asyncio.Protocol]:
    """The HTTP protocol that gives each request to `app` its wire and counts the connections."""

    class ConnectionProtocol(H11Protocol):
        def __init__(
            self,
            config: Config,
            server_state: ServerState,
            app_state: dict[str, object],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            super().__init__(config, server_state, app_state, _loop)
            counters.connection()
            # uvicorn's own loggers belong to the whole process and stay as they are.
            self.logger = logging.getLogger("ferry_sdk.sandbox")
            self.access_log = False
            self.app = self._handle_request

        async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
            connection = Connection(self.transport, receive, send)
            scope.setdefault("extensions", {})[_EXTENSION] = connection
            try:
                await app(scope, receive, connection.send)
            except (ClientDisconnect, asyncio.CancelledError):
                await connection.cut()

    return ConnectionProtocol
