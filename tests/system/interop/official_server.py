"""Servers made with the official SDK on free loopback ports, with a record of their requests."""

import asyncio
import json
import logging
import socket
import threading
import time
from contextlib import AbstractContextManager

import mcp_types
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.responses import JSONResponse

MODES = {
    f"{state}-{reply}": {"stateless_http": state == "stateless", "json_response": reply == "json"}
    for state in ("stateful", "stateless")
    for reply in ("json", "sse")
}
NEWEST = {
    "newest-json": MODES["stateless-json"],
    "newest-sse": MODES["stateless-sse"],
}
"""Modes of a server that speaks the version 2026-07-28 alone."""
UNSUPPORTED = {
    "code": mcp_types.UNSUPPORTED_PROTOCOL_VERSION,
    "message": "Unsupported protocol version",
    "data": {"supported": ["2026-07-28"]},
}


def plain_server(**settings):
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return MCPServer("ferry", **settings)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


class Hosted(AbstractContextManager):
    """An application served by a thread of its own until its block ends, or `stop`."""

    def __init__(self, app, port=0, *, has_handshake=True):
        self.asked = []
        self._app = app
        self._has_handshake = has_handshake
        self._socket = socket.create_server(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = self._socket.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}"
        settings = {"interface": "asgi3", "lifespan": "on", "ws": "none", "access_log": False}
        config = uvicorn.Config(
            self._record, log_config=None, timeout_graceful_shutdown=1, **settings
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        while self._thread.is_alive() and not self._server.started:
            time.sleep(0.005)

    @property
    def methods(self):
        return [method for method, _ in self.asked if not method.startswith("notifications/")]

    def client(self, clients, **settings):
        return clients(settings.pop("token", "any"), base_url=self.base_url, **settings)

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._server.should_exit = True
        self._thread.join()

    def _run(self):
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        finally:
            self._socket.close()

    async def _record(self, scope, receive, send):
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        method = json.loads(body)["method"]
        if method == "initialize" and not self._has_handshake:
            # The official server always accepts the older versions.
            self.asked.append((method, 400))
            error = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "error": UNSUPPORTED}
            await JSONResponse(error, 400)(scope, receive, send)
            return
        whole = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def received():
            return whole.pop() if whole else await receive()

        async def sent(message):
            if message["type"] == "http.response.start":
                self.asked.append((method, message["status"]))
            await send(message)

        await self._app(scope, received, sent)


class Official(AbstractContextManager):
    def __init__(self, mode, server=None):
        self.server = server or plain_server()
        self._settings = (MODES | NEWEST)[mode]
        self.has_handshake = mode in MODES
        self.is_stateful = not self._settings["stateless_http"]
        self.hosted = self._host()

    def __exit__(self, *_):
        self.hosted.stop()

    def restart(self):
        self.hosted.stop()
        self.hosted = self._host(self.hosted.port)

    def _host(self, port=0):
        app = self.server.streamable_http_app(**self._settings)
        return Hosted(app, port, has_handshake=self.has_handshake)

    def offer(self, name, tool, returns=None):
        if name in self.server._tool_manager._tools:
            self.server.remove_tool(name)
        if returns is not None:
            tool.__annotations__["return"] = returns
        self.server.add_tool(tool, name=name)
        self.hosted.asked.clear()
