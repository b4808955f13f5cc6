"""An HTTP server for an ASGI application, in its own thread, with control over each reply.

uvicorn's protocol is subclassed so that the application can reach the transport of each request.
Normally a reply is sent as the application produces it. If a fault sets a plan, the reply is
collected first and the plan sends it: truncated, slowly, or not at all.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ferry_sdk.sandbox.counters import Counters


class HttpServer:
    """A server; it listens when `__init__` returns, and is gone when `stop` returns."""

    def __init__(self, app: ASGIApp, counters: Counters, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        # Connections inherit it. Without it, each reply waits 40 ms for the client's delayed ACK.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._socket.getsockname()[1]
        config = Config(
            app,
            http=H11Protocol,
            ws="none",
            interface="asgi3",
            log_config=None,
            proxy_headers=False,
            timeout_keep_alive=60,
        )
        self._state = ServerState()
        self._protocol = partial(_Protocol, app, counters, config, self._state)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        name = f"ferry-sandbox-{self.port}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Cut every connection, close the socket and join the thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._socket.close()
            self._ready.set()

    async def _serve(self) -> None:
        """Serve until `stop`. uvicorn's own server would notice it at its next tick only."""
        self._loop = asyncio.get_running_loop()
        server = await self._loop.create_server(
            self._protocol, sock=self._socket, backlog=socket.SOMAXCONN
        )
        self._ready.set()
        await self._stopping.wait()

        # asyncio accepts a connection in two steps. It never closes the socket if the server is
        # closed between them, so each step that has begun ends first.
        with suppress(NotImplementedError):  # on Windows, asyncio reads no sockets
            self._loop.remove_reader(self._socket)
        await asyncio.sleep(0)
        server.close()
        await asyncio.sleep(0)

        for connection in tuple(self._state.connections):
            connection.transport.abort()
        tasks = tuple(self._state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_EXTENSION = "ferry_sdk.sandbox.connection"
_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


@dataclass(frozen=True, slots=True)
class BufferedReply:
    """A complete reply that is about to be sent.

    Attributes:
        start: The ASGI message of its status and headers.
        body: The body, compressed if the request accepts that.
    """

    start: Message
    body: bytes

    def without_length(self) -> Message:
        """Return the start without the content length, so that the body is chunked."""
        headers = [item for item in self.start["headers"] if item[0].lower() != b"content-length"]
        return {**self.start, "headers": headers}


class Connection:
    """The connection of one request.

    Attributes:
        forward: Sends a message at once.
        plan: What sends the reply, if it is set.
    """

    def __init__(self, transport: asyncio.Transport, receive: Receive, send: Send) -> None:
        self._transport = transport
        self._receive = receive
        self.forward: Send = send
        self._start: Message | None = None
        self._body = b""
        self.plan: Callable[[Connection, BufferedReply], Awaitable[None]] | None = None

    async def send(self, message: Message) -> None:
        """Send a message of the application, or keep it for the plan."""
        if self.plan is None:
            await self.forward(message)
        elif message["type"] == "http.response.start":
            self._start = message
        else:
            self._body += message.get("body", b"")
            if self._start is not None and not message.get("more_body", False):
                await self.plan(self, BufferedReply(self._start, self._body))

    async def body(self, data: bytes, *, more: bool) -> None:
        """Send a piece of the body."""
        await self.forward({"type": "http.response.body", "body": data, "more_body": more})

    async def cut(self, *, reset: bool = False) -> None:
        """Drop the connection at once and return when it is gone."""
        if reset:
            link: socket.socket = self._transport.get_extra_info("socket")
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
        self._transport.abort()
        await self.wait_closed()

    async def close(self) -> None:
        """Close the connection after the data already sent."""
        self._transport.close()
        await asyncio.sleep(0)

    async def wait_closed(self) -> None:
        """Wait until either side has closed the connection."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


def connection_of(scope: Scope) -> Connection:
    """Return the connection of a request."""
    connection: Connection = scope["extensions"][_EXTENSION]
    return connection


class _Protocol(H11Protocol):
    """uvicorn's protocol; it counts connections and passes each request its `Connection`."""

    def __init__(
        self, app: ASGIApp, counters: Counters, config: Config, state: ServerState
    ) -> None:
        super().__init__(config, state, {})
        self._application = app
        counters.connection()
        # uvicorn's loggers belong to the whole process, so they are left unchanged.
        self.logger = logging.getLogger("ferry_sdk.sandbox")
        self.access_log = False
        self.app = self._handle_request

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = Connection(self.transport, receive, send)
        scope.setdefault("extensions", {})[_EXTENSION] = connection
        try:
            await self._application(scope, receive, connection.send)
        except (ClientDisconnect, asyncio.CancelledError):
            await connection.cut()
