"""An HTTP server for an ASGI application, in its own thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING

import uvicorn

from ferry_sdk.sandbox.http.connection import connection_protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ferry_sdk.sandbox.counters import Counters

_KEEP_ALIVE_SECONDS = 60


class HttpServer:
    """A server; it listens when `__init__` returns, and is gone when `stop` returns."""

    def __init__(self, app: ASGIApp, counters: Counters, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        # Connections inherit it. Without it, each reply waits 40 ms for the client's delayed ACK.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=connection_protocol(app, counters),
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )
        self._server = _Server(config)
        name = f"ferry-sandbox-{self.port}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        self._server.ready.wait()

    def stop(self) -> None:
        """Cut every connection, close the socket and join the thread."""
        self._server.stop()
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        finally:
            self._socket.close()
            self._server.ready.set()


class _Server(uvicorn.Server):
    """uvicorn's server, changed to stop at once instead of at its next tick."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self.on_tick(0)
        self.ready.set()
        while not await self._wait_for_stop(1):
            await self.on_tick(0)

    async def _wait_for_stop(self, seconds: float) -> bool:
        try:
            return await asyncio.wait_for(self._stopping.wait(), seconds)
        except asyncio.TimeoutError:
            return False

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        del sockets
        for server in self.servers:
            server.close()
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()
        tasks = tuple(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
