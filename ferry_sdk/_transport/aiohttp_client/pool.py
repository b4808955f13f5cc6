"""The connection pool of one event loop. A connection serves one request at a time.

aiohttp's connector makes the connections (DNS, TLS, proxies). aiohttp's session is not used: it
resends reads by itself, it takes data that came on an idle connection for the next call's reply,
and with it a client makes half as many calls a second.

`Timeouts` has one timer for all waits. A timer for each wait would be made and cancelled within
milliseconds, many thousand times a second. One timer, for the wait that ends first, rarely has
anything to do.

`Limiter` limits the connections in use: callers above the limit wait in order of arrival. asyncio's
semaphore has no timeout, and wrapping it in one costs a third of a call. A permit is handed to a
waiter directly, never through the free count, so a new caller cannot overtake it. A waiter that is
cancelled after it got a permit gives it back.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ferry_sdk._transport.aiohttp_client.connection import (
    AioConnection,
    Route,
    proxy_of_environment,
)
from ferry_sdk._transport.aiohttp_client.library import library
from ferry_sdk.errors import ConnectionFailedError

if TYPE_CHECKING:
    import ssl

    from ferry_sdk._transport.aiohttp_client.exchange import AioRequest


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a pool.

    Attributes:
        tls: The TLS context.
        proxy: The URL of the proxy; None: the environment's, if `trust_env`.
        trust_env: Whether the environment's proxies are used.
        max_connections: Connections in use at the same time.
        keepalive_expiry: Seconds after which an idle connection is not reused; None: no limit.
    """

    tls: ssl.SSLContext = field(repr=False)
    proxy: str | None = field(repr=False)
    trust_env: bool
    max_connections: int
    keepalive_expiry: float | None


class Source(Protocol):
    """A source of data, such as a connection."""

    @property
    def last_activity(self) -> float:
        """When data arrived last, on the event loop's clock."""
        ...


class Awaited(Protocol):
    """An awaited object, such as a future, or a protocol or a body of aiohttp."""

    def set_exception(self, exc: BaseException, /) -> None:
        """Raise the exception in the task that waits."""
        ...


class _Wait(NamedTuple):
    awaited: Awaited
    began: float
    seconds: float


class Timeouts:
    """The timeouts of one event loop.

    Args:
        loop: The event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waits: dict[Source, _Wait] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, source: Source, awaited: Awaited, seconds: float | None) -> None:
        """Start a timeout: without activity of the source for so long, the awaited object fails."""
        if seconds is not None:
            began = self._loop.time()
            self._waits[source] = _Wait(awaited, began, seconds)
            if self._timer is None or began + seconds < self._timer.when():
                self._schedule(began + seconds)

    def end(self, source: Source) -> None:
        """Stop the timeout of a source."""
        self._waits.pop(source, None)

    def close(self) -> None:
        """Stop all timeouts."""
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self._fail_expired)

    def _fail_expired(self) -> None:
        """Fail expired waits; data of this iteration of the loop was recorded before."""
        self._timer = None
        now = self._loop.time()
        later: list[float] = []
        for source, wait in [*self._waits.items()]:
            until = max(wait.began, source.last_activity) + wait.seconds
            if until > now:
                later.append(until)
            else:
                del self._waits[source]
                wait.awaited.set_exception(TimeoutError("no data arrived in time"))
        if later:
            self._schedule(min(later))


class _Waiter:
    def __init__(self, granted: asyncio.Future[None]) -> None:
        self.granted = granted
        self.last_activity = -math.inf
        self.is_granted = False


class Limiter:
    """A semaphore with a timeout, first come, first served.

    Args:
        most: The number of permits.
        timeouts: The timeouts of the event loop.
        loop: The event loop.
    """

    def __init__(self, most: int, timeouts: Timeouts, loop: asyncio.AbstractEventLoop) -> None:
        self._free = most
        self._timeouts = timeouts
        self._loop = loop
        self._waiting: deque[_Waiter] = deque()

    @property
    def has_free(self) -> bool:
        """Whether a permit is free."""
        return self._free > 0

    async def take(self, seconds: float | None) -> None:
        """Wait for a permit and take it.

        Raises:
            TimeoutError: No permit became free in time.
        """
        if self.has_free:
            self._free -= 1
            return
        waiter = _Waiter(self._loop.create_future())
        self._waiting.append(waiter)
        self._timeouts.begin(waiter, waiter.granted, seconds)
        try:
            await waiter.granted
        except BaseException:
            if waiter.is_granted:
                self.give_back()
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            raise
        finally:
            self._timeouts.end(waiter)

    def give_back(self) -> None:
        """Release a permit, to the caller that has waited longest."""
        with suppress(IndexError):
            while True:
                waiter = self._waiting.popleft()
                self._timeouts.end(waiter)
                if not waiter.granted.done():
                    waiter.is_granted = True
                    waiter.granted.set_result(None)
                    return
        self._free += 1


class Pool:
    """The connections of the current event loop.

    Args:
        options: The options.

    Attributes:
        loop: The event loop.
        is_closed: Whether the pool is closed.
        timeouts: The timeouts of replies.
    """

    def __init__(self, options: Options) -> None:
        self.loop = asyncio.get_running_loop()
        self.is_closed = False
        self.timeouts = Timeouts(self.loop)
        self._options = options
        self._expiry = math.inf if options.keepalive_expiry is None else options.keepalive_expiry
        self._limiter = Limiter(options.max_connections, self.timeouts, self.loop)
        # Without the cache: closing the connector cancels shared lookups, and the calls with them.
        self._connector = library().TCPConnector(ssl=options.tls, limit=0, use_dns_cache=False)
        self._routes: dict[str, Route] = {}
        self._connections: set[AioConnection] = set()

    async def take(self, request: AioRequest) -> AioConnection:
        """Return a connection for a request, within its pool and connect timeouts."""
        if not self._limiter.has_free:
            await request.trace("pool.wait.started", {})
        await self._limiter.take(request.limits.pool)
        try:
            route = self._route(request.origin)
            return self._idle_connection(route) or await self._connect(route, request)
        except BaseException:
            self._limiter.give_back()
            raise

    def give_back(self, connection: AioConnection) -> None:
        """Keep a connection for the next request, if it is reusable."""
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
        """Abort a connection whose request did not complete."""
        self._limiter.give_back()
        self._drop(connection)

    def end(self) -> None:
        """Abort all connections, also those in use."""
        self.is_closed = True
        for connection in [*self._connections]:
            self._drop(connection)

    async def close(self) -> None:
        """Abort all connections and all attempts to connect."""
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
        await request.trace("connection.connect_tcp.started", {})
        if self.is_closed:
            raise ConnectionFailedError("the client was closed during the call")
        limit = library().ClientTimeout(connect=request.limits.connect, ceil_threshold=math.inf)
        connection = AioConnection(await self._connector.connect(route.request, [], limit), route)
        self._connections.add(connection)
        await request.trace("connection.connect_tcp.complete", {"return_value": connection})
        return connection

    def _drop(self, connection: AioConnection) -> None:
        self._connections.discard(connection)
        self.timeouts.end(connection)
        connection.end()
