"""Replies: status, headers and body from the bytes of a connection.

`LlhttpReader` uses llhttp, in C, with every leniency off. `H11Reader` is for where httptools is not
installed. A new reader reads each reply, so nothing of one reply is left for the next. Whatever
follows the end of a reply makes its connection unfit for another request.

llhttp refuses what h11 refuses, and more, but for one case: it skips an empty line between an
interim and the final head, which changes nothing of the reply.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import h11
import httpcore

from ferry_sdk._engine.http import Headers

_HAS_LLHTTP: Final = find_spec("httptools") is not None
if TYPE_CHECKING or _HAS_LLHTTP:
    import httptools

_MOST_OVERHEAD: Final = 100 * 1024
"""Bytes that may arrive in turn without any of a body: a head, or trailers; as in httpx."""
_FINAL: Final = 200
"""The lowest status of a final reply."""
_LOWEST: Final = 100
_SWITCHING: Final = 101
_CLOSED_EARLY: Final = "the service closed the connection early"
_NO_REASON: Final = re.compile(rb"[\x00\n\v\f\r]")


class Reader(ABC):
    """Reads one reply.

    Attributes:
        status_code: The status; 0 until the head has arrived.
        headers: The headers.
        pieces: The pieces of the body that nobody has taken yet.
        is_complete: Whether the reply has ended.
        is_read: Whether somebody has read the body to its end.
        is_reusable: Whether its connection can serve another request.
    """

    def __init__(self) -> None:
        self.status_code = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.pieces: list[bytes] = []
        self.is_complete = False
        self.is_read = False
        self.is_reusable = False

    @abstractmethod
    def feed(self, data: bytes) -> None:
        """Process bytes of the connection; none if it has ended.

        Raises:
            httpcore.RemoteProtocolError: They are not HTTP, or the reply is incomplete.
        """

    def take(self) -> list[bytes]:
        """Return the pieces of the body that have arrived since the last time."""
        taken, self.pieces = self.pieces, []
        return taken


class H11Reader(Reader):
    """A `Reader` over h11."""

    def __init__(self) -> None:
        super().__init__()
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_OVERHEAD)
        # h11 reads a reply only after a request; the exchange has written the real one.
        self._connection.send(_ANY_REQUEST)
        self._connection.send(_END)

    def feed(self, data: bytes) -> None:
        """Process bytes of the connection; none if it has ended."""
        connection = self._connection
        try:
            connection.receive_data(data)
            while True:
                event = connection.next_event()
                if isinstance(event, h11.Data):
                    self.pieces.append(bytes(event.data))
                elif isinstance(event, h11.Response):
                    self.status_code = event.status_code
                    self.headers = [*event.headers]
                elif not isinstance(event, h11.InformationalResponse):
                    break
        except h11.RemoteProtocolError as error:
            # Of the end of a connection, h11 speaks in the terms of its own states.
            reason = str(error) if data else _CLOSED_EARLY
            raise httpcore.RemoteProtocolError(reason) from None
        if isinstance(event, h11.EndOfMessage):
            self.is_complete = True
            is_last = connection.trailing_data == (b"", False)
            self.is_reusable = is_last and connection.their_state is h11.DONE
        elif not data:
            raise httpcore.RemoteProtocolError(_CLOSED_EARLY)


_ANY_REQUEST: Final = h11.Request(method="GET", target="/", headers=[("Host", "any")])
_END: Final = h11.EndOfMessage()


class LlhttpReader(Reader):
    """A `Reader` over llhttp, which calls the methods that begin with ``on_``."""

    def __init__(self) -> None:
        super().__init__()
        self._parser: Any = httptools.HttpResponseParser(self)
        self._overhead = 0
        self._is_framed = False
        self._reason = ""

    def feed(self, data: bytes) -> None:
        """Process bytes of the connection; none if it has ended."""
        if not data:
            self._end()
            return
        if not (self._overhead or self.status_code) and data[0] in b"\r\n":
            raise httpcore.RemoteProtocolError("an empty line before the reply")
        try:
            if data[-1] not in b"\r\n":
                self._parser.feed_data(data)
            else:
                # llhttp skips empty lines behind a reply. The last byte tells: if the reply is
                # complete without it, something is behind the reply.
                self._parser.feed_data(memoryview(data)[:-1])
                if self.is_complete:
                    self.is_reusable = False
                else:
                    self._parser.feed_data(data[-1:])
        except httptools.HttpParserError as error:
            self.is_reusable = False
            if not self.is_complete:  # else it is about what is behind the reply
                raise httpcore.RemoteProtocolError(self._reason or str(error)) from None
        if self.is_complete:
            self._parser = None  # it refers back to the reader
        elif self.pieces:
            self._overhead = 0
        else:
            self._overhead += len(data)
            if self._overhead > _MOST_OVERHEAD:
                raise httpcore.RemoteProtocolError("the head of the reply is too long")

    def _end(self) -> None:
        if not self.status_code or self._is_framed:
            raise httpcore.RemoteProtocolError(_CLOSED_EARLY)
        self.is_complete = True

    def _refuse(self, reason: str) -> None:
        self._reason = reason  # llhttp replaces the exception
        raise ValueError(reason)

    def on_message_begin(self) -> None:
        """Stop at what follows the reply."""
        if self.is_complete:
            self._refuse("there is data behind the reply")

    def on_status(self, reason: bytes) -> None:
        """Check the reason."""
        if _NO_REASON.search(reason):
            self._refuse("the reason is not printable")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Record a header; of the trailers, which are skipped, none may change the frame."""
        if not self.status_code:
            self.headers.append((name, value.rstrip(b" \t")))
        elif name.lower() == b"transfer-encoding":
            self._refuse("a transfer encoding in the trailers")

    def on_headers_complete(self) -> None:
        """Process a head; one below 200 does not answer the request."""
        status = self._parser.get_status_code()
        if self._parser.get_http_version() not in {"1.0", "1.1"}:
            self._refuse("not a version of HTTP/1")
        if status < _LOWEST or status == _SWITCHING:
            self._refuse("not a status that answers a request")
        names = [name.lower() for name, _ in self.headers]
        if b"transfer-encoding" in names:
            encoding = self.headers[names.index(b"transfer-encoding")][1]
            if encoding.lower() != b"chunked" or names.count(b"transfer-encoding") > 1:
                self._refuse("the transfer encoding is not supported")
        if status < _FINAL:
            self.headers.clear()
        else:
            self._is_framed = b"content-length" in names or b"transfer-encoding" in names
            self.status_code = status

    def on_body(self, piece: bytes) -> None:
        """Record a piece of the body."""
        self.pieces.append(piece)

    def on_message_complete(self) -> None:
        """Record the end of the reply."""
        if self.status_code:
            self.is_complete = True
            is_newest = self._parser.get_http_version() == "1.1"
            self.is_reusable = is_newest and self._parser.should_keep_alive()


new_reader: type[Reader] = LlhttpReader if _HAS_LLHTTP else H11Reader
"""Makes a reader; the extra `fast` installs what the faster one needs."""


class Response:
    """A reply with a body that threads read with `iter_raw`, and tasks with `aiter_raw`.

    Attributes:
        status_code: The status.
        headers: The headers; repeated ones are joined with a comma.

    Args:
        reader: Reads the reply.
        read: Reads, or awaits, bytes of the connection.
        end: Closes the reply, or is awaited to do so; the rest of the body stays unread.
    """

    is_stream_consumed = False
    extensions: Final[Mapping[str, Any]] = {}

    def __init__(self, reader: Reader, read: Callable[[], Any], end: Callable[[], Any]) -> None:
        self.status_code = reader.status_code
        self.headers = _parse_headers(reader.headers)
        self._reader = reader
        self._read = read
        self.close = self.aclose = end

    def iter_raw(self) -> Iterator[bytes]:
        """Yield the pieces of the body."""
        reader = self._reader
        yield from reader.take()
        while not reader.is_complete:
            reader.feed(self._read())
            yield from reader.take()
        reader.is_read = True

    async def aiter_raw(self) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of the body, as `iter_raw` does."""
        reader = self._reader
        for piece in reader.take():
            yield piece
        while not reader.is_complete:
            reader.feed(await self._read())
            for piece in reader.take():
                yield piece
        reader.is_read = True

    iter_bytes, aiter_bytes = iter_raw, aiter_raw


def _parse_headers(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers; repeated ones are joined with a comma."""
    headers = Headers(())
    values = headers.by_name
    for raw_name, raw_value in raw:
        name, value = _name_of(raw_name), _text_of(raw_value)
        values[name] = f"{values[name]}, {value}" if name in values else value
    return headers


@lru_cache(maxsize=256)
def _name_of(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
