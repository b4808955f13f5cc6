"""One address for several accounts: a real server that sends each token to a service of its own."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferry_sdk.sandbox import Sandbox

CITY = b"Marseille"
"""A city that each account knows under a name of its own."""
ECHO = "/api/booking/echo"
"""Refused with a message that names every token."""


class Router:
    """What the server saw.

    Attributes:
        base_url: Its address.
        accounts: The service of each account, by the account's name of the city.
        sessions: The token that opened each MCP session.
        faults: Requests that cannot come from one account alone.
        connections: The addresses of those who connected.
        tokens: The token of each request, in order.
    """

    def __init__(self, accounts: Mapping[str, Sandbox], base_url: str) -> None:
        self.accounts = accounts
        self.base_url = base_url
        self.sessions: dict[str, str] = {}
        self.faults: list[str] = []
        self.connections: set[object] = set()
        self.tokens: list[str] = []

    def name_of(self, token: str) -> str | None:
        """The account of a token."""
        for name, sandbox in self.accounts.items():
            if token in {sandbox.token, sandbox.organisation_token}:
                return name
        return None

    def check_session(self, token: str, session: str | None) -> None:
        """Note a session that another token opened."""
        if session is not None and self.sessions.get(session, token) != token:
            self.faults.append(f"{self.name_of(token)} uses a session of another account")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    router: Router

    def forward(self) -> None:
        router = self.router
        router.connections.add(self.client_address)
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        router.tokens.append(token)
        name = router.name_of(token)
        if self.path == ECHO:
            tokens = " ".join(sandbox.token for sandbox in router.accounts.values())
            refusal = {"error": True, "code": "BAD_REQUEST", "message": f"refused: {tokens}"}
            self.answer(400, {"content-type": "application/json"}, json.dumps(refusal).encode())
            return
        if name is None:
            self.answer(401, {}, b"{}")
            return
        sandbox = router.accounts[name]
        router.check_session(token, self.headers.get("mcp-session-id"))
        upstream = HTTPConnection("127.0.0.1", int(sandbox.base_url.rpartition(":")[2]))
        headers = {
            key: value
            for key, value in self.headers.items()
            if key.lower() not in {"host", "accept-encoding", "connection", "content-length"}
        }
        upstream.request(self.command, self.path, content or None, headers)
        reply = upstream.getresponse()
        body = reply.read()
        kept = {
            key: value
            for key, value in reply.getheaders()
            if key.lower() not in {"content-length", "transfer-encoding", "connection", "date"}
        }
        upstream.close()
        if not body.startswith(b"%PDF"):
            body = body.replace(CITY, name.encode())
            body = body.replace(sandbox.base_url.encode(), router.base_url.encode())
        session = reply.getheader("mcp-session-id")
        if session is not None:
            router.sessions.setdefault(session, token)
        self.answer(reply.status, kept, body)

    do_GET = do_POST = do_DELETE = forward  # noqa: N815 -- named by the base class

    def answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def router(accounts: Mapping[str, Sandbox]) -> Iterator[Router]:
    """Run the server for the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Router(accounts, f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Bound", (Handler,), {"router": made})
    thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
