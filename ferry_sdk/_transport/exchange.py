"""One HTTP exchange: its reply, as far as it is needed, or its error."""

from __future__ import annotations

from http import HTTPStatus

from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import (
    LARGEST_REPLY,
    MOST_JSON_VALUES,
    Head,
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


class Exchange:
    """One request and its reply.

    A request counts as sent if the HTTP library does not report its steps, as with a custom
    transport of httpx.

    Args:
        effect: The request.
        connections: The connections of the HTTP client.

    Attributes:
        tracing: Records the steps of the request.
    """

    def __init__(self, effect: Send, connections: OpenConnections) -> None:
        is_plain = not effect.request.url.lower().startswith("https:")
        self.tracing = Tracing(effect.sending, connections, is_plain=is_plain)
        self._sending = effect.sending
        self._request = effect.request
        self._listener = effect.listener
        self._connections = connections
        self._body: list[bytes] = []
        self._size = 0
        self._values = JsonValueCounter()
        self._counted = 0
        self._head: Head | None = None
        self._decompressor = Decompressor()

    def start_reply(self, response: HttpHead) -> None:
        """Process the status and the headers."""
        given = response.headers
        headers = given if isinstance(given, Headers) else Headers(given.items())
        self._head = Head(response.status_code, headers)
        if self._head.status_code < HTTPStatus.OK:  # not a reply to the request, which was sent
            raise UnexpectedResponseError(f"the reply is not final (HTTP {self._head.status_code})")
        stream = response.extensions.get("network_stream")
        if stream is not None:
            self.tracing.use_connection(stream)
        if not response.is_stream_consumed:  # a mock may have the whole body, decompressed
            self._decompressor = Decompressor(self._head.headers.get("content-encoding", ""))

    def feed(self, raw: bytes) -> bool:
        """Process the next piece of the body; return True if no more is needed."""
        head = self._head
        assert head is not None  # noqa: S101 -- a body has a head
        if self.tracing.is_given_up:
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")
        for piece in self._decompressor.pieces(raw):
            self._body.append(piece)
            self._size += len(piece)
            if self._size > LARGEST_REPLY:
                raise UnexpectedResponseError(f"the reply has more than {LARGEST_REPLY} bytes")
            if self._size > MOST_JSON_VALUES and "json" in head.media_type:
                while self._counted < len(self._body):
                    self._values.add(self._body[self._counted])
                    self._counted += 1
            if self._listener is not None and self._listener.feed(head, piece):
                return True
        return False

    def reply(self) -> Reply:
        """Return the reply, as far as it was read."""
        assert self._head is not None  # noqa: S101 -- it was read
        return Reply(self._head.status_code, self._head.headers, b"".join(self._body))

    def give_up(self) -> RequestTimeoutError:
        """Stop the request and return its error; from now on it cannot be sent."""
        may_have_left = self.tracing.give_up()
        return RequestTimeoutError(
            "the deadline has passed", outcome="unknown" if may_have_left else "not_sent"
        )

    def failure(self, error: Exception) -> FerryError | None:
        """Return the `FerryError` for an exception of the HTTP library; None for any other one."""
        named = error if isinstance(error, FerryError) else _http.failure_of(error)
        if named is None and (
            self._connections.is_closed or isinstance(error, RuntimeError | MemoryError)
        ):
            # A client that is closed during a call may raise anything.
            named = ConnectionFailedError(_http.message_of(error, is_ours=False), outcome="unknown")
        if isinstance(named, TransportError):
            host, port = self._request.server
            named.args = (f"{named} ({f'[{host}]' if ':' in host else host}:{port})",)
            if self._sending.is_followed:
                named.outcome = "unknown" if self._sending.is_sent else "not_sent"
        if isinstance(named, UnexpectedResponseError) and self._head is not None:
            named.status_code, named.request_id = self._head.status_code, self._head.request_id
        return named
