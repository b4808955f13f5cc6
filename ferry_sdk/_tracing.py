"""What the HTTP library tells of a request on its way, and the connections under it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from socket import SHUT_RDWR, socket
from typing import Any
from weakref import WeakSet

import anyio

from .effects import Sending
from .errors import ConnectionFailedError, RequestTimeoutError


@dataclass(slots=True)
class Lines:
    """The connections of one HTTP client, in one process.

    Attributes:
        is_ours: Whether the client is the library's own, which tells of every step.
        pid: The process; what its child does must not reach them.
        is_closed: Whether nothing may be sent any more.
    """

    is_ours: bool
    pid: int = field(default_factory=os.getpid)
    is_closed: bool = False
    _sockets: WeakSet[socket] = field(default_factory=WeakSet[socket])

    def add(self, connection: socket) -> None:
        """Take in a connection; one that comes too late is ended."""
        self._sockets.add(connection)
        if self.is_closed:
            shut(connection)

    def close(self) -> None:
        """End all of them under those who read from them."""
        self.is_closed = True
        if self.pid == os.getpid():
            for connection in [*self._sockets]:
                shut(connection)

    def drop(self) -> None:
        """Close all of them, where nobody is left who could."""
        for connection in [*self._sockets]:
            connection.close()


class Tracing:
    """Hears, step by step, how far a request has got, and may stop it before its first byte.

    Args:
        sending: Where it is noted.
        lines: The connections it may use.
    """

    def __init__(self, sending: Sending, lines: Lines) -> None:
        self._sending = sending
        self._lines = lines
        self._lock = threading.Lock()
        self._socket: socket | None = None
        self._stream: Any = None
        self.is_given_up = False
        sending.is_handed_over = True
        sending.is_own = lines.is_ours

    def hear(self, event: str, info: Mapping[str, Any]) -> None:
        """Hear of a step; one that would send what must not be sent any more raises.

        Raises:
            RequestTimeoutError: It was given up.
            ConnectionFailedError: The client was closed.
        """
        self._note(event, info)
        if _is_interrupted(event, info) and self._stream is not None:
            self._stream.close()

    async def ahear(self, event: str, info: Mapping[str, Any]) -> None:
        """Hear of a step, as `hear` does."""
        self._note(event, info)
        if _is_interrupted(event, info) and self._stream is not None:
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    def uses(self, stream: Any) -> None:  # noqa: ANN401 -- httpcore's or httpcore2's
        """Know the connection."""
        found = stream.get_extra_info("socket")
        found = getattr(found, "_sock", found)  # asyncio shows a wrapper of it
        if isinstance(found, socket):
            self._lines.add(found)
            with self._lock:
                self._socket = found

    def ends(self) -> None:
        """Let go of the connection, which may serve another request from now on."""
        with self._lock:
            self._socket = None

    def give_up(self) -> bool:
        """Send nothing from now on, and end the connection; True if it may have left."""
        with self._lock:
            self.is_given_up = True
            if self._socket is not None:
                shut(self._socket)
            return self._sending.may_have_left

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        self._sending.is_followed = True
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._stream = info["return_value"]
            self.uses(self._stream)
        elif event.endswith("send_request_headers.started"):
            request = info.get("request")
            if request is None or request.method != b"CONNECT":  # which goes to a proxy
                self._leaves()

    def _leaves(self) -> None:
        with self._lock:
            if self.is_given_up:
                raise RequestTimeoutError("the deadline has passed")
            if self._lines.is_closed:
                raise ConnectionFailedError("the client was closed meanwhile")
            self._sending.is_sent = True


def shut(connection: socket) -> None:
    """End a connection under a thread that reads from it; to close it would not wake the thread."""
    with suppress(OSError):
        socket.shutdown(connection, SHUT_RDWR)  # under TLS, too, without its farewell


def _is_interrupted(event: str, info: Mapping[str, Any]) -> bool:
    """Whether TLS was given up half-way, upon which httpcore leaves the connection open."""
    return event.endswith(".start_tls.failed") and not isinstance(info["exception"], Exception)
