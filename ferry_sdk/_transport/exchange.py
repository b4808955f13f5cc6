"""What comes of one exchange: its reply, as far as it is wanted, or its failure, named."""

from __future__ import annotations

from http import HTTPStatus

from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.http import LARGEST_REPLY, MOST_JSON_VALUES, Head, JsonValueCounter, Reply
from ferry_sdk._transport import httpx_interface as _http
from ferry_sdk._transport.decompression import Decompressor, Identity, decompressor_of
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

    What the HTTP library does not tell of it (a transport of the caller's own tells nothing)
    counts as sent.

    Args:
        effect: What is sent.
        lines: The connections it may use.

    Attributes:
        tracing: Follows it on its way.
    """

    __slots__ = (
        "_body",
        "_connections",
        "_counted",
        "_decompressor",
        "_head",
        "_listener",
        "_sending",
        "_size",
        "_values",
        "tracing",
    )

    def __init__(self, effect: Send, connections: OpenConnections) -> None:
        is_plain = not effect.request.url.lower().startswith("https:")
        self.tracing = Tracing(effect.sending, connections, is_plain=is_plain)
        self._sending = effect.sending
        self._listener = effect.listener
        self._connections = connections
        self._body: list[bytes] = []
        self._size = 0
        self._values = JsonValueCounter()
        self._counted = 0
        self._head: Head | None = None
        self._decompressor: Decompressor = Identity()

    def start_reply(self, response: HttpHead) -> None:
        """Take what comes before the body."""
        self._head = _http.head_of(response)
        if self._head.status_code < HTTPStatus.OK:  # no answer to the request, which was sent
            raise UnexpectedResponseError(
                f"the reply is no final one (HTTP {self._head.status_code})"
            )
        stream = response.extensions.get("network_stream")
        if stream is not None:
            self.tracing.use_connection(stream)
        if not response.is_stream_consumed:  # by a double that has all of it, unpacked
            self._decompressor = decompressor_of(self._head.headers.get("content-encoding", ""))

    def feed(self, raw: bytes) -> bool:
        """Take the next piece of the body; True when no more is needed."""
        head = self._head
        assert head is not None  # noqa: S101 -- a body has a head
        if self.tracing.is_given_up:
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")
        for piece in self._decompressor.pieces(raw):
            self._body.append(piece)
            self._size += len(piece)
            if self._size > LARGEST_REPLY:
                raise UnexpectedResponseError(
                    f"a reply of more than {LARGEST_REPLY} bytes is not read"
                )
            if self._size > MOST_JSON_VALUES and "json" in head.media_type:
                while self._counted < len(self._body):
                    self._values.add(self._body[self._counted])
                    self._counted += 1
            if self._listener is not None and self._listener.feed(head, piece):
                return True
        return False

    def reply(self) -> Reply:
        """The reply, as far as it was read."""
        assert self._head is not None  # noqa: S101 -- it was read
        return Reply(self._head.status_code, self._head.headers, b"".join(self._body))

    def give_up(self) -> RequestTimeoutError:
        """The error of a request that is not waited for any longer; from now on it is not sent."""
        may_have_left = self.tracing.give_up()
        return RequestTimeoutError(
            "the deadline has passed", outcome="unknown" if may_have_left else "not_sent"
        )

    def failure(self, error: Exception) -> FerryError | None:
        """The named failure of what the HTTP library raised; None if it is not its own."""
        named = error if isinstance(error, FerryError) else _http.failure_of(error)
        if named is None and (
            self._connections.is_closed or isinstance(error, RuntimeError | MemoryError)
        ):
            # A client that is closed under a call raises whatever comes to hand.
            named = ConnectionFailedError(_http.message_of(error, is_ours=False), outcome="unknown")
        if isinstance(named, TransportError) and self._sending.is_followed:
            named.outcome = "unknown" if self._sending.is_sent else "not_sent"
        if isinstance(named, UnexpectedResponseError) and self._head is not None:
            named.status_code, named.request_id = self._head.status_code, self._head.request_id
        return named
