"""An HTTP client for threads, and what it shares with the one for tasks.

What `send` does, for ``GET https://ferry.example/api/port``:

1. It takes a slot, or waits for one: a client has as many slots as connections may be in use.
2. It takes the idle connection to ``ferry.example`` that was used last, or connects. The slot holds
   the connection from now on. Idle connections that have ended are closed.
3. It reports `SEND_STEP` to the trace function, which raises if the request must not leave. Then
   it writes the request.
4. It reads until the head of the reply is complete, and returns a `Response` with the body unread.
5. The caller reads the body and closes the response. That gives the connection back, if the reply
   was read to its end and the service keeps the connection, and releases the slot.

If a step fails, the connection is closed and the slot released. If a call is interrupted between
two instructions, its slot is garbage-collected, and the next call closes its connection.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, Final, Generic, NamedTuple
from urllib.parse import quote, urlsplit

import httpcore
import idna
from httpcore import NetworkStream

from ferry_sdk._transport.http11 import replies
from ferry_sdk._transport.http11.pool import (
    IDLE_BEFORE_WRITE,
    MOST_CONNECTIONS,
    ConnectionSlots,
    IdleConnections,
    Slot,
    StreamT,
    seconds_to_keep,
)
from ferry_sdk._transport.http11.replies import Reader, Response
from ferry_sdk.errors import ConfigurationError

PIECE: Final = 64 * 1024
"""Bytes that are read at once."""
LARGE_PIECE: Final = 256 * 1024
"""Bytes that are read at once of a body that the first read did not end."""
CONNECT_STEP: Final = "connection.connect_tcp"
TLS_STEP: Final = "connection.start_tls"
SEND_STEP: Final = "http11.send_request_headers.started"
"""The last step before the first byte. These names are those of httpcore's ``trace``."""
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ALLOWED: Final = "%/:?#[]@!$&'()*+,;=~-._"
"""What a path or a query contains unchanged; other characters are percent-encoded."""

Origin = tuple[str, int, bool]
"""The server of a request: its encoded host, its port, whether it uses TLS."""


class PreparedRequest(NamedTuple):
    """One request. A repr shows only its server.

    Its bytes are made when it has a connection, so that waiting requests do not hold them.

    Attributes:
        origin: The server.
        first_lines: The request line and the Host header.
        headers: The other headers.
        content: The body; None without one.
        connect: Seconds to connect; None, here and below: no limit.
        read: Seconds for each piece of the reply.
        write: Seconds for each piece of the request.
        pool: Seconds to wait for a connection.
        trace: Called, or awaited, with each step.
        longest_idle: Seconds for which its connection may have been idle at most.
    """

    origin: Origin
    first_lines: str
    headers: Mapping[str, str]
    content: bytes | None
    connect: float | None
    read: float | None
    write: float | None
    pool: float | None
    trace: Callable[[str, Mapping[str, Any]], Any]
    longest_idle: float = math.inf

    @property
    def is_head(self) -> bool:
        """Whether the reply has no body, whatever its headers say."""
        return self.first_lines.startswith("HEAD ")

    def encode(self) -> bytes:
        """Return the request in bytes.

        Raises:
            ConfigurationError: A header is invalid.
        """
        content = self.content or b""
        # Not a comprehension, which takes twice the bytecodes: every request comes here.
        lines = [self.first_lines, *map(": ".join, self.headers.items())]
        if self.content is not None or self.first_lines.startswith("POST "):
            lines.append(f"Content-Length: {len(content)}")
        head = "\r\n".join(lines)

        # The first item is two lines, so a valid head has as many line ends as the list has items.
        line_ends = len(lines)
        if head.count("\n") != line_ends or head.count("\r") != line_ends or "\0" in head:
            raise ConfigurationError("a header must be in one line")
        return f"{head}\r\n\r\n".encode() + content

    def __repr__(self) -> str:
        return f"PreparedRequest({self.origin})"


def prepare_request(
    method: str,
    url: str,
    *,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: tuple[float | None, float | None, float | None, float | None],
    extensions: Mapping[str, Any],
) -> PreparedRequest:
    """Return a request.

    Args:
        method: The HTTP method.
        url: The URL.
        content: The body.
        headers: All headers but Host and Content-Length.
        timeout: Seconds to connect, read, write, and wait for a connection.
        extensions: The ``trace``, and whether the request is a write that no read proves.

    Raises:
        httpcore.UnsupportedProtocol: The URL is neither http nor https.
        UnicodeError: The host cannot be encoded.
    """
    origin, target, host = _address(url)
    connect, read, write, pool = timeout

    # A server may close an idle connection while a request is on its way. For a write that no read
    # proves, a connection that was idle for long is not used.
    longest_idle = math.inf
    if extensions.get("ferry_sdk.is_unproven", False):
        longest_idle = IDLE_BEFORE_WRITE

    return PreparedRequest(
        origin=origin,
        first_lines=f"{method} {target} HTTP/1.1\r\nHost: {host}",
        headers=headers or {},
        content=content,
        connect=connect,
        read=read,
        write=write,
        pool=pool,
        trace=extensions["trace"],
        longest_idle=longest_idle,
    )


@lru_cache(maxsize=256)
def _address(url: str) -> tuple[Origin, str, str]:
    """Return the server of a URL, the target, and the value of the Host header.

    Those of ``http://[::1]:8080/api/port?line=1`` are ``("::1", 8080, False)``,
    ``/api/port?line=1`` and ``[::1]:8080``.
    """
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise httpcore.UnsupportedProtocol("neither http nor https")

    host = parts.hostname
    if not host.isascii():
        host = idna.encode(host).decode()
    default_port = _DEFAULT_PORTS[parts.scheme]
    port = default_port if parts.port is None else parts.port
    origin = (host, port, parts.scheme == "https")

    target = quote(parts.path or "/", safe=_ALLOWED)
    if parts.query:
        target += "?" + quote(parts.query, safe=_ALLOWED)

    header = f"[{host}]" if ":" in host else host
    if port != default_port:
        header += f":{port}"
    return origin, target, header


class AnyConnections(Generic[StreamT]):
    """The part that both clients share."""

    build_request = staticmethod(prepare_request)

    def __init__(self, new_context: Callable[[], ssl.SSLContext]) -> None:
        self._new_context = new_context
        self._slots: ConnectionSlots[StreamT] = ConnectionSlots(MOST_CONNECTIONS)
        self._idle_connections: IdleConnections[StreamT] = IdleConnections()

    @property
    def is_closed(self) -> bool:
        """Whether the client is closed."""
        return self._idle_connections.is_closed


class Connections(AnyConnections[NetworkStream]):
    """An HTTP client for threads.

    Args:
        new_context: Returns the TLS context of a new connection.
    """

    def send(self, request: PreparedRequest, **_: object) -> Response:
        """Send a request and return its reply with the body unread; httpx's options are fixed."""
        slot = self._slots.take() or self._slots.wait(request.pool)
        if slot is None:
            raise httpcore.PoolTimeout("all connections are in use")

        try:
            slot.stream, unusable = self._idle_connections.take(
                request.origin, request.longest_idle
            )
            for stream in (*unusable, *self._slots.lost()):
                stream.close()
            connection = slot.stream or self._connect(request, slot)

            data = request.encode()
            request.trace(SEND_STEP, {"network_stream": connection})
            try:  # noqa: SIM105 -- `suppress` is slow, and every call comes here
                connection.write(data, request.write)
            except httpcore.WriteError:
                pass  # the reply, or its absence, shows the outcome
            del data  # a body may be large, and a reply may take long

            reader = replies.new_reader()
            while not reader.status_code:
                reader.feed(connection.read(PIECE, request.read))
            if request.is_head:
                reader.is_complete = True
        except BaseException:
            failed = slot.stream
            self._slots.release(slot)
            if failed is not None:
                failed.close()
            raise

        response = Response(
            reader,
            read=partial(connection.read, LARGE_PIECE, request.read),
            end=partial(self._end, reader, request, slot),
        )
        hint = response.headers.by_name.get("keep-alive")
        if hint is not None:
            slot.kept_for = seconds_to_keep(hint)
        return response

    def _connect(self, request: PreparedRequest, slot: Slot[NetworkStream]) -> NetworkStream:
        host, port, is_tls = request.origin
        # First, because without readable certificates a connection is of no use.
        context = self._new_context() if is_tls else None

        request.trace(f"{CONNECT_STEP}.started", {})
        slot.stream = stream = httpcore.SyncBackend().connect_tcp(host, port, request.connect)
        request.trace(f"{CONNECT_STEP}.complete", {"return_value": stream})

        if context is not None:
            slot.stream = stream = stream.start_tls(context, host, request.connect)
            request.trace(f"{TLS_STEP}.complete", {"return_value": stream})
        return stream

    def _end(self, reader: Reader, request: PreparedRequest, slot: Slot[NetworkStream]) -> None:
        """Give the connection back or close it, and release the slot."""
        stream = slot.stream
        if stream is None:  # the response was closed before
            return

        to_close = [stream]
        try:
            slot.stream = None  # otherwise it would be closed as lost
            if reader.is_reusable and reader.is_read:
                to_close = self._idle_connections.give_back(request.origin, stream, slot.kept_for)
        finally:
            self._slots.release(slot)
            for unwanted in to_close:
                unwanted.close()

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        for stream in (*self._idle_connections.end(), *self._slots.lost()):
            stream.close()
