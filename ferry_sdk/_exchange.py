"""One exchange as it goes: whether it was sent, what came of it, how its failure is named."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from socket import SHUT_RDWR, socket
from typing import Any, Final
from weakref import WeakSet

from . import _http
from .effects import Head, Reply, Send
from .errors import (
    ConnectionFailedError,
    FerryError,
    RequestTimeoutError,
    TransportError,
    UnexpectedResponseError,
)
from .facts import Outcome

LARGEST_REPLY: Final = 64 * 1024 * 1024
"""Bytes, unpacked: a reply beyond them is not read on."""


class Exchange:
    """Follows one request, by what the HTTP library tells of it.

    What it does not tell (a transport of the caller's own tells nothing) counts as sent.

    Args:
        effect: What is sent.
        sockets: Takes in the connections that are made for it.
    """

    def __init__(self, effect: Send, sockets: WeakSet[socket] | None = None) -> None:
        self._effect = effect
        self._sending = effect.sending
        self._sockets = sockets
        self._socket: socket | None = None
        self._body = bytearray()
        self._head: Head | None = None
        self._lock = threading.Lock()
        self._is_given_up = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Hear of a step; one that would send what was given up raises."""
        self._sending.is_followed = True
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._knows(info["return_value"])
        if not event.endswith("send_request_headers.started"):
            return
        request = info.get("request")
        if request is not None and request.method == b"CONNECT":
            return  # it goes to a proxy, ahead of the request
        with self._lock:
            if self._is_given_up:
                raise RequestTimeoutError("the deadline has passed")
            self._sending.is_sent = True

    async def atrace(self, event: str, info: Mapping[str, Any]) -> None:
        """Hear of a step."""
        self.trace(event, info)

    def given_up(self) -> RequestTimeoutError:
        """The error of a request that is not waited for any longer; from now on it is not sent."""
        with self._lock:
            self._is_given_up = True
            may_have_left = self._sending.may_have_left
        if self._socket is not None:
            shut(self._socket)
        return RequestTimeoutError(
            "the deadline has passed", outcome="unknown" if may_have_left else "not_sent"
        )

    def _knows(self, stream: Any) -> None:  # noqa: ANN401 -- httpcore's or httpcore2's
        if self._sockets is not None and isinstance(
            found := stream.get_extra_info("socket"), socket
        ):
            self._socket = found
            self._sockets.add(found)

    def begins(self, response: _http.Response) -> None:
        """Take what comes before the body."""
        self._head = _http.head_of(response)
        stream = response.extensions.get("network_stream")
        if stream is not None:
            self._knows(stream)
        packing = self._head.headers.get("content-encoding", "")
        if "," in packing:
            raise UnexpectedResponseError(
                "a reply that is packed more than once is not unpacked",
                status_code=self._head.status_code,
            )

    def feed(self, chunk: bytes) -> bool:
        """Take the next piece of the body; True when no more is needed."""
        head, listener = self._head, self._effect.listener
        assert head is not None  # noqa: S101 -- a body has a head
        if self._is_given_up:
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")
        self._body += chunk
        if len(self._body) > LARGEST_REPLY:
            raise UnexpectedResponseError(
                f"a reply of more than {LARGEST_REPLY} bytes is not read",
                status_code=head.status_code,
                request_id=head.request_id,
            )
        return listener is not None and listener.feed(head, chunk)

    def reply(self) -> Reply:
        """The reply, as far as it was read."""
        assert self._head is not None  # noqa: S101 -- it was read
        return Reply(self._head.status_code, self._head.headers, bytes(self._body))

    def failure(self, error: Exception, *, is_closed: bool) -> FerryError | None:
        """The named failure of what the HTTP library raised; None if it is not its own.

        Args:
            error: What was raised.
            is_closed: Whether the client was closed meanwhile, which makes libraries raise
                whatever comes to hand.
        """
        named = error if isinstance(error, FerryError) else _http.failure_of(error)
        if named is None and (is_closed or isinstance(error, RuntimeError)):
            named = ConnectionFailedError(f"{type(error).__name__}: {error}", outcome="unknown")
        if isinstance(named, TransportError) and self._sending.is_followed:
            outcome: Outcome = "unknown" if self._sending.is_sent else "not_sent"
            named.outcome = outcome
        return named


def shut(connection: socket) -> None:
    """End a connection under a thread that reads from it; to close it would not wake the thread."""
    with suppress(OSError):
        socket.shutdown(connection, SHUT_RDWR)  # under TLS, too, without its farewell
