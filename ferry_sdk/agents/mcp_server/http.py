"""The transport over HTTP: an ASGI application, and a server for it.

The MCP SDK has the transport, the sessions and both eras of the protocol. What is added here:

- A request needs the secret. One secret is one toolkit, so all who know it share its limits, its
  state and its account.
- The sessions run in a task that the first request starts, so that a server which mounts the
  application need not run its lifespan.
- At a signal, the server takes no new connections, and ends when no write is being sent. Streams
  that hosts keep open do not delay the end.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ferry_sdk.agents.mcp_server.handlers import make_server
from ferry_sdk.agents.mcp_server.shutdown import handled_signals, wait_for_writes
from ferry_sdk.agents.policy.approval import ApprovalWay
from ferry_sdk.agents.toolkit import AsyncToolkit
from ferry_sdk.errors import ConfigurationError

_PATH: Final = "/mcp"
_GRACE: Final = 20.0
"""Seconds for writes in progress at shutdown; most supervisors kill a process after 30 or more."""
_THIS_MACHINE: Final = ("127.0.0.1", "localhost", "[::1]")
_EVERY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104 -- compared with, not bound
_LARGEST_PORT: Final = 65_535

logger: logging.Logger = logging.getLogger("ferry_sdk")


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where the server listens.

    Attributes:
        host: A name or an address, without brackets.
        port: The port; 0: a free one.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, value: str) -> HttpAddress:
        """Parse ``8000``, ``127.0.0.1:8000`` or ``[::1]:8000``.

        Raises:
            ConfigurationError: It has another form.
        """
        host, _, port = value.rpartition(":")
        host = host.removeprefix("[").removesuffix("]") if host else _THIS_MACHINE[0]
        is_number = port.isascii() and port.isdigit() and len(port) <= len(str(_LARGEST_PORT))
        if not is_number or int(port) > _LARGEST_PORT:
            raise ConfigurationError(f"http {value}: use the form [HOST:]PORT")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def names(self) -> tuple[str, ...] | None:
        """The values of Host that requests may have, without a port; None: any."""
        if self.host in _EVERY_ADDRESS:
            return None
        own = f"[{self.host}]" if ":" in self.host else self.host
        return (*_THIS_MACHINE, own) if self.is_loopback else (own,)

    def listen(self) -> socket.socket:
        """Return a socket that listens.

        Raises:
            ConfigurationError: The address cannot be used.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise ConfigurationError(f"http {self.host}:{self.port}: {error.strerror}") from None


async def serve_http(
    toolkit: AsyncToolkit, address: HttpAddress, *, secret: str | None, approval: ApprovalWay
) -> None:
    """Serve the tools over HTTP until a signal comes.

    Raises:
        ConfigurationError: The address cannot be used, or there is no secret and other machines
            could connect.
    """
    if secret is None and not address.is_loopback:
        raise ConfigurationError(f"http {address.host}: requires --secret-file")
    if not address.is_loopback:
        logger.warning(
            "%s can be reached by other machines: put a proxy with TLS in front of it, "
            "because hosts send the secret with each request",
            address.host,
        )

    listener = address.listen()
    config = uvicorn.Config(
        application(toolkit, secret=secret, names=address.names, approval=approval),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=int(_GRACE),
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    # uvicorn sets signal handlers of its own, which would end the process by the signal. Those of
    # this function replace them, so they are set later.
    while not server.started and not serving.done():  # noqa: ASYNC110 -- uvicorn has no event for it
        await asyncio.sleep(0.01)

    ending: asyncio.Task[None] | None = None

    def shut_down() -> None:
        nonlocal ending
        server.should_exit = True
        if ending is None:
            ending = asyncio.create_task(end_after_writes())
        else:  # the second signal
            server.force_exit = True

    async def end_after_writes() -> None:
        await wait_for_writes(toolkit, _GRACE)
        server.force_exit = True

    with handled_signals(shut_down):
        logger.info("serving at %s", _url_of(listener))
        await serving


def _url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if ":" in host:  # an address of IPv6
        host = f"[{host}]"
    return f"http://{host}:{port}{_PATH}"


def application(
    toolkit: AsyncToolkit,
    *,
    secret: str | None,
    names: tuple[str, ...] | None,
    approval: ApprovalWay,
) -> ASGIApp:
    """Return the application.

    Args:
        toolkit: The tools.
        secret: What requests must send; None: nothing.
        names: The values of Host that requests may have, without a port; None: any.
        approval: How a person is asked to approve a write.
    """
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    if names is not None:
        origins = [*(f"http://{name}" for name in names), *(f"https://{name}" for name in names)]
        security = TransportSecuritySettings(
            allowed_hosts=[*names, *(f"{name}:*" for name in names)],
            allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
        )

    manager = StreamableHTTPSessionManager(
        make_server(toolkit, approval), security_settings=security
    )
    endpoint: ASGIApp = _Sessions(manager)
    if secret is not None:
        endpoint = _SecretRequired(endpoint, secret)
    return Starlette(routes=[Route(_PATH, endpoint=endpoint)])


class _SecretRequired:
    """Answers 401 to requests without the secret."""

    def __init__(self, app: ASGIApp, secret: str) -> None:
        self._app = app
        self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        is_right = secrets.compare_digest(given.strip().encode(), self._secret)
        if scheme.lower() == "bearer" and is_right:
            await self._app(scope, receive, send)
            return
        unauthorized = PlainTextResponse(
            "The secret is missing or wrong.", 401, headers={"WWW-Authenticate": "Bearer"}
        )
        await unauthorized(scope, receive, send)


class _Sessions:
    """Handles requests, with the sessions in a task that ends with the event loop."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager
        self._has_begun = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        await self._has_begun.wait()
        await self._manager.handle_request(scope, receive, send)

    async def _run(self) -> None:
        async with self._manager.run():
            self._has_begun.set()
            await asyncio.Event().wait()
