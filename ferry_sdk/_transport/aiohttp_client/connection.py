"""A connection that aiohttp made, and the way it leads."""

from __future__ import annotations

import asyncio
import select
import sys
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from ferry_sdk._transport.aiohttp_client.proxy import credentials_of

if TYPE_CHECKING:
    from aiohttp.connector import Connection


class ActivityProtocol(asyncio.Protocol):
    """Stands before aiohttp's protocol, and knows when something has come in.

    Args:
        protocol: What it is for.
        clock: The event loop's.

    Attributes:
        heard_at: When something came in last.
    """

    def __init__(self, protocol: asyncio.Protocol, clock: Callable[[], float]) -> None:
        self._protocol = protocol
        self._clock = clock
        self.last_activity = clock()

    def data_received(self, data: bytes) -> None:
        """Something has come in."""
        self.last_activity = self._clock()
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        """No more will come."""
        return self._protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        """Too much waits to be sent."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """More may be sent."""
        self._protocol.resume_writing()


class AioConnection:
    """One connection.

    Args:
        connection: As aiohttp gives it.
        route: Where it leads.

    Attributes:
        protocol: Reads replies.
        transport: Is written to.
        route: Where it leads.
        idle_since: When it began to, on the monotonic clock.
    """

    __slots__ = (
        "__weakref__",
        "_activity",
        "_connection",
        "_has_news",
        "idle_since",
        "protocol",
        "route",
        "transport",
    )

    def __init__(self, connection: Connection, route: Route) -> None:
        protocol, transport = connection.protocol, connection.transport
        assert protocol is not None  # noqa: S101 -- it has just been made
        assert transport is not None  # noqa: S101 -- the same
        self._connection = connection
        self.protocol = protocol
        self.transport = transport
        self._activity = ActivityProtocol(protocol, asyncio.get_running_loop().time)
        transport.set_protocol(self._activity)
        self._has_news = _watch(transport.get_extra_info("socket").fileno())
        self.route = route
        self.idle_since = monotonic()

    def get_extra_info(self, name: str) -> Any:  # noqa: ANN401 -- whatever the event loop knows
        """What the event loop knows of it, such as its socket."""
        return self.transport.get_extra_info(name)

    @property
    def last_activity(self) -> float:
        """When something came in last, on the event loop's clock."""
        return self._activity.last_activity

    @property
    def is_reusable(self) -> bool:
        """Whether another request could be sent on it, by what is known without looking."""
        return not (self.transport.is_closing() or self.protocol.should_close)

    @property
    def has_no_pending_data(self) -> bool:
        """Whether nothing has come since; a service that closed it cannot read a request."""
        return self.is_reusable and not self._has_news()

    def end(self) -> None:
        """End it at once: what is not written by now is not sent."""
        self.transport.abort()
        self._connection.close()

    async def aclose(self) -> None:
        """End it."""
        self.end()


class Route:
    """A way that connections lead, and those on it that wait.

    Args:
        origin: The scheme, host and port of the service.
        proxy: The proxy on the way, or None.

    Attributes:
        request: What aiohttp connects by; it is not sent.
        idle: The connections that wait, the one used last at the end.
    """

    def __init__(self, origin: str, proxy: str | None) -> None:
        from aiohttp import ClientRequest  # noqa: PLC0415 -- an extra installs it
        from yarl import URL  # noqa: PLC0415 -- the same

        url = URL(origin)
        words = {} if proxy is None else credentials_of(proxy)
        self.request = ClientRequest(
            "GET",
            url,
            proxy=None if proxy is None else URL(proxy).with_user(None),
            proxy_headers=words,
        )
        is_forwarded = proxy is not None and url.scheme == "http"
        connections = {"Host": self.request.headers["Host"]} | (words if is_forwarded else {})
        self._prefix = origin if is_forwarded else ""
        self._head = "".join(f"{name}: {value}\r\n" for name, value in connections.items())
        self.idle: deque[AioConnection] = deque()

    def first_lines(self, method: bytes, target: str) -> bytes:
        """How the head of a request on this way begins."""
        return b"%b %b" % (method, f"{self._prefix}{target} HTTP/1.1\r\n{self._head}".encode())


def _watch(descriptor: int) -> Callable[[], bool]:
    """Tells whether something has come in that the event loop has not looked at yet."""
    if sys.platform == "win32":
        return lambda: bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return lambda: bool(poll.poll(0))
