"""One HTTP exchange: its reply, as far as it is needed, or its error."""

from __future__ import annotations

from typing import Final

from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import (
    LARGEST_REPLY,
    MOST_JSON_VALUES,
    Headers,
    JsonValueCounter,
    Reply,
)
from ferry_sdk._transport import httpx_interface as _http
from ferry_sdk._transport.decompression import Decompressor
from ferry_sdk._transport.http_client import HttpHead
from ferry_sdk._transport.tracing import OpenConnections, Tracing
from ferry_sdk.errors import (
    ConnectionFailedError,
    FerryError,
    RequestTimeoutError,
    TransportError,
    UnexpectedResponseError,
)

_LOWEST_FINAL: Final = 200


class Exchange(Tracing):
    """One request and its reply.

    A request counts as sent if the HTTP library does not report its steps, as with a custom
    transport of httpx.

    Args:
        effect: The request.
        connections: The connections of the HTTP client.
    """

    __slots__ = ("_body", "_decompressor", "_reply", "_size", "_values")

    def __init__(self, effect: Send, connections: OpenConnections) -> None:
        super().__init__(effect, connections)
        self._size = 0
        self._values: JsonValueCounter | None = None
        self._reply: Reply | None = None
        self._decompressor: Decompressor | None = None

    def start_reply(self, response: HttpHead) -> None:
        """Process the status and the headers."""
        given = response.headers
        headers = given if type(given) is Headers else Headers(given.items())
        self._reply = Reply(response.status_code, headers, b"")
        self._body: list[bytes] = []
        if response.status_code < _LOWEST_FINAL:  # not a reply to the request, which was sent
            raise UnexpectedResponseError(f"the reply is not final (HTTP {response.status_code})")
        stream = response.extensions.get("network_stream")
        if stream is not None:
            self.use_connection(stream)
        encoding = headers.get("content-encoding")
        if encoding and not response.is_stream_consumed:  # a mock may have decompressed the body
            self._decompressor = Decompressor(encoding)

    def feed(self, raw: bytes) -> bool:
        """Process the next piece of the body; return True if no more is needed."""
        head, listener = self._reply, self._effect.listener
        assert head is not None  # noqa: S101 -- a body has a head
        if self.is_given_up:
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")
        for piece in (raw,) if self._decompressor is None else self._decompressor.pieces(raw):
            self._body.append(piece)
            self._size += len(piece)
            if self._size > LARGEST_REPLY:
                raise UnexpectedResponseError(f"the reply has more than {LARGEST_REPLY} bytes")
            if self._size > MOST_JSON_VALUES and "json" in head.media_type:
                uncounted = [piece]
                if self._values is None:
                    self._values, uncounted = JsonValueCounter(), self._body
                for part in uncounted:
                    self._values.add(part)
            if listener is not None and listener.feed(head, piece):
                return True
        return False

    def reply(self) -> Reply:
        """Return the reply, as far as it was read."""
        assert self._reply is not None  # noqa: S101 -- it was read
        self._reply.content = b"".join(self._body)
        return self._reply

    def failure(self, error: Exception) -> FerryError | None:
        """Return the `FerryError` for an exception of the HTTP library; None for any other one."""
        named = error if isinstance(error, FerryError) else _http.failure_of(error)
        if named is None and (
            self._connections.is_closed or isinstance(error, RuntimeError | MemoryError)
        ):
            # A client that is closed during a call may raise anything.
            named = ConnectionFailedError(_http.message_of(error, is_ours=False), outcome="unknown")
        if isinstance(named, TransportError):
            host, port = self._effect.request.server
            named.args = (f"{named} ({f'[{host}]' if ':' in host else host}:{port})",)
            if self._effect.is_followed:
                named.outcome = "unknown" if self._effect.is_sent else "not_sent"
        if isinstance(named, UnexpectedResponseError) and self._reply is not None:
            named.status_code, named.request_id = self._reply.status_code, self._reply.request_id
        return named


def deadline_error(effect: Send) -> RequestTimeoutError:
    """Return the error of a request that was stopped at its deadline."""
    return RequestTimeoutError(
        "the deadline has passed", outcome="unknown" if effect.may_have_left else "not_sent"
    )
