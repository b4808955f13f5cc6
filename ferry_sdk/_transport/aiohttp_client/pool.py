"""The connections of one event loop: aiohttp makes them, and each serves one request at a time.

A connector of aiohttp connects (names, TLS, proxies). aiohttp's session is left out, because it
sends some requests again by itself, and because it takes longer than all else.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from ferry_sdk._transport.aiohttp_client.connection import AioConnection, Route
from ferry_sdk._transport.aiohttp_client.limiter import Limiter
from ferry_sdk._transport.aiohttp_client.proxy import proxy_of_environment
from ferry_sdk._transport.aiohttp_client.timeouts import Timeouts
from ferry_sdk.errors import ConnectionFailedError

if TYPE_CHECKING:
    import ssl

    from ferry_sdk._transport.aiohttp_client.request import AioRequest


@dataclass(frozen=True, slots=True)
class Options:
    """What connections are made by.

    Attributes:
        tls: What a service is trusted by.
        proxy: The proxy to all of them; None: the environment's, if it is asked.
        trust_env: Whether the environment is asked.
        max_connections: How many may be in use at a time.
        keepalive_expiry: Seconds after which one that waits is not used again; None: any.
    """

    tls: ssl.SSLContext = field(repr=False)
    proxy: str | None = field(repr=False)
    trust_env: bool
    max_connections: int
    keepalive_expiry: float | None


class Pool:
    """Connections of the event loop that runs while it is made.

    Args:
        options: What they are made by.

    Attributes:
        loop: The event loop.
        is_closed: Whether no more are given.
        waits: How long replies are waited for.
    """

    def __init__(self, options: Options) -> None:
        from aiohttp import TCPConnector  # noqa: PLC0415 -- an extra installs it

        self.loop = asyncio.get_running_loop()
        self.is_closed = False
        self.timeouts = Timeouts(self.loop)
        self._options = options
        self._expiry = math.inf if options.keepalive_expiry is None else options.keepalive_expiry
        self._limiter = Limiter(options.max_connections, self.timeouts, self.loop)
        # Lookups that calls share are cancelled when it is closed, and the calls with them.
        self._connector = TCPConnector(ssl=options.tls, limit=0, use_dns_cache=False)
        self._routes: dict[str, Route] = {}
        self._connections: set[AioConnection] = set()

    async def take(self, request: AioRequest) -> AioConnection:
        """A connection for one request, whose time-outs hold for the wait and the connecting."""
        if not self._limiter.has_free:
            await request.trace("pool.wait.started", {})
        await self._limiter.take(request.limits.pool)
        try:
            route = self._route(request.address.origin)
            return self._idle_connection(route) or await self._connect(route, request)
        except BaseException:
            self._limiter.give_back()
            raise

    def give_back(self, connection: AioConnection) -> None:
        """Let a connection wait for its next request, if it can have one."""
        self._limiter.give_back()
        if self.is_closed or not connection.is_reusable:
            self._drop(connection)
            return
        connection.idle_since = now = monotonic()
        idle = connection.route.idle
        idle.append(connection)
        while now - idle[0].idle_since > self._expiry:
            self._drop(idle.popleft())

    def give_up(self, connection: AioConnection) -> None:
        """End a connection whose request did not come to its end."""
        self._limiter.give_back()
        self._drop(connection)

    def end(self) -> None:
        """End all connections under those who read from them."""
        self.is_closed = True
        for connection in [*self._connections]:
            self._drop(connection)

    async def close(self) -> None:
        """End all connections, and what is under way to make some."""
        self.end()
        self.timeouts.close()
        await self._connector.close()

    def _route(self, origin: str) -> Route:
        route = self._routes.get(origin)
        if route is None:
            proxy = self._options.proxy
            if proxy is None and self._options.trust_env:
                proxy = proxy_of_environment(origin)
            route = self._routes[origin] = Route(origin, proxy)
        return route

    def _idle_connection(self, route: Route) -> AioConnection | None:
        oldest = monotonic() - self._expiry
        while route.idle:
            connection = route.idle.pop()
            if connection.idle_since >= oldest and connection.has_no_pending_data:
                return connection
            self._drop(connection)
        return None

    async def _connect(self, route: Route, request: AioRequest) -> AioConnection:
        from aiohttp import ClientTimeout  # noqa: PLC0415 -- an extra installs it

        await request.trace("connection.connect_tcp.started", {})
        if self.is_closed:
            raise ConnectionFailedError("the client was closed meanwhile")
        limit = ClientTimeout(connect=request.limits.connect, ceil_threshold=math.inf)
        connection = AioConnection(await self._connector.connect(route.request, [], limit), route)
        self._connections.add(connection)
        await request.trace("connection.connect_tcp.complete", {"return_value": connection})
        return connection

    def _drop(self, connection: AioConnection) -> None:
        self._connections.discard(connection)
        self.timeouts.end(connection)
        connection.end()
