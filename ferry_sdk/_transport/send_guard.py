"""The guard of a request: it records whether the request has left, and can stop it.

httpcore, and the library's own clients, report each step of a request to a trace function, such as
``connection.connect_tcp.complete``. `SendGuard` uses it in two ways. At the last step before the
first byte, it raises if the request was given up, the client was closed, or plain http would leave
this machine: nothing is sent then. Else it marks the request as sent, so that afterwards it is
known whether the service can have received anything. A lock covers the check and the mark, because
another thread may give the request up at any time.

`OpenConnections` knows the sockets of a client, so that `close` and a deadline can shut them down
under a thread that is blocked in a read.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto
from socket import AF_INET, AF_INET6, SHUT_RDWR, socket
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet, ref

import anyio

from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.sending import SendState
from ferry_sdk._runtime.fork import process_id
from ferry_sdk._runtime.hosts import is_loopback
from ferry_sdk.errors import ConfigurationError, ConnectionFailedError, RequestTimeoutError


class _Step(Enum):
    """What has happened to a request, as far as it matters."""

    CONNECTED = auto()
    TLS_FAILED = auto()
    SENDS_NOW = auto()


_STEPS: Final = {
    "connect_tcp.complete": _Step.CONNECTED,
    "start_tls.complete": _Step.CONNECTED,
    "start_tls.failed": _Step.TLS_FAILED,
    "send_request_headers.started": _Step.SENDS_NOW,
}
"""The steps that matter, by the last two parts of their names; those before name a module."""


class OpenConnections:
    """The connections of one HTTP client, in one process; its ``len`` is how many are open.

    Attributes:
        is_ours: Whether the client is the library's own, which reports every step.
        pid: The process that owns them; a forked child must not shut them down.
        is_local_only: Whether plain http is allowed to this machine only.
        is_closed: Whether nothing may be sent any more.
    """

    def __init__(self, *, is_ours: bool, is_local_only: bool) -> None:
        self.is_ours = is_ours
        self.pid: int = process_id()
        self.is_local_only = is_local_only
        self.is_closed: bool = False
        self._sockets: WeakSet[socket] = WeakSet()
        self._by_stream: WeakKeyDictionary[Any, ref[socket]] = WeakKeyDictionary()

    def socket_of(self, stream: Any) -> socket | None:  # noqa: ANN401 -- httpcore's or httpcore2's
        """Return the socket of a stream and remember it; shut it down if the client is closed."""
        reference = self._by_stream.get(stream)
        if reference is not None:
            return reference()
        connection = stream.get_extra_info("socket")
        connection = getattr(connection, "_sock", connection)  # asyncio returns a wrapper
        if not isinstance(connection, socket):
            return None
        self._by_stream[stream] = ref(connection)
        self._sockets.add(connection)
        if self.is_closed:
            shut(connection)
        return connection

    def __len__(self) -> int:
        if self.pid != process_id():
            return 0
        return sum(connection.fileno() >= 0 for connection in self._sockets_so_far())

    def close(self) -> None:
        """Shut all of them down, also under threads that read from them."""
        self.is_closed = True
        if self.pid == process_id():
            for connection in self._sockets_so_far():
                shut(connection)

    def drop(self) -> None:
        """Close all of them, after their event loop has ended."""
        for connection in self._sockets_so_far():
            connection.close()

    def _sockets_so_far(self) -> list[socket]:
        while True:
            with suppress(RuntimeError):  # another thread has connected meanwhile
                return [*self._sockets]


class SendGuard:
    """Follows the steps of one request, and can stop it before its first byte.

    Args:
        effect: The request; records how far it got.
        connections: The connections of the client.
    """

    def __init__(self, effect: Send, connections: OpenConnections) -> None:
        self._effect = effect
        self._connections = connections
        self._lock = RLock()
        self._socket: socket | None = None
        self._stream: Any = None
        self.is_given_up = False
        if connections.is_ours:
            effect.state = SendState.IN_OWN_CLIENT
        else:
            effect.state = SendState.HANDED_OVER
        effect.connections = connections

    def on_event(self, event: str, info: Mapping[str, Any]) -> None:
        """Record a step; raise if the request must not be sent any more.

        Raises:
            RequestTimeoutError: The request was given up.
            ConnectionFailedError: The client was closed.
            ConfigurationError: The request would leave this machine in plain http.
        """
        if self._record_step(event, info):
            self._stream.close()

    async def on_event_async(self, event: str, info: Mapping[str, Any]) -> None:
        """Record a step, as `on_event` does."""
        if self._record_step(event, info):
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    def use_connection(self, stream: Any) -> None:  # noqa: ANN401 -- httpcore's or httpcore2's
        """Remember the connection of the request."""
        connection = self._connections.socket_of(stream)
        if connection is not None:
            with self._lock:
                self._socket = connection
                if self.is_given_up:
                    shut(connection)

    def end_request(self) -> None:
        """Forget the connection, which may serve another request from now on."""
        with self._lock:
            self._socket = None

    def give_up(self) -> None:
        """Prevent sending, and shut the connection down."""
        with self._lock:
            self.is_given_up = True
            if self._socket is not None:
                shut(self._socket)

    def _record_step(self, event: str, info: Mapping[str, Any]) -> bool:
        """Record a step; return True if TLS was interrupted: httpcore leaves that stream open."""
        if self._effect.state is not SendState.SENT:
            self._effect.state = SendState.FOLLOWED

        step = _STEPS.get(".".join(event.split(".")[-2:]))
        if step is _Step.CONNECTED:
            self._stream = info["return_value"]
            self.use_connection(self._stream)
        elif step is _Step.SENDS_NOW:
            request = info.get("request")
            if request is None or request.method != b"CONNECT":  # CONNECT goes to a proxy
                self._check_may_send()
            if info.get("network_stream") is not None:  # that of a reused connection
                self.use_connection(info["network_stream"])
        elif step is _Step.TLS_FAILED:
            return self._stream is not None and not isinstance(info["exception"], Exception)
        return False

    def _check_may_send(self) -> None:
        """Mark the request as sent, unless it must not be sent; `on_event` names the errors."""
        with self._lock:
            if self.is_given_up:
                raise RequestTimeoutError("the deadline has passed")
            if self._connections.is_closed:
                raise ConnectionFailedError("the client was closed during the call")

            # A reused connection was checked when it was made.
            is_plain = not self._effect.request.url.lower().startswith("https:")
            is_local_only = is_plain and self._connections.is_local_only
            if is_local_only and self._socket is not None and _is_remote(self._socket):
                problem = "plain http would expose the token to the network"
                where = "the connection leads to another machine"
                raise ConfigurationError(f"base_url: {problem}: {where}")

            self._effect.state = SendState.SENT


def shut(connection: socket) -> None:
    """Shut a socket down; closing it would not wake a thread that reads from it."""
    with suppress(OSError):
        socket.shutdown(connection, SHUT_RDWR)  # also under TLS, without close_notify


def _is_remote(connection: socket) -> bool:
    """Return whether the peer is another machine; ``localhost`` may resolve to anything."""
    if connection.family not in {AF_INET, AF_INET6}:
        return False
    try:
        host: object = connection.getpeername()[0]
    except OSError:  # closed, so nothing can be sent on it
        return False
    return not is_loopback(str(host))
