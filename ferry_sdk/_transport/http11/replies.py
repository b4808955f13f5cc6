"""Replies: status, headers and body from the bytes of a connection.

1. The client makes a `Reader` for each reply, so nothing of one reply is left for the next. It
   calls `feed` with the bytes as they arrive, until `status_code` is set: the head is complete.
2. It returns a `Response`, whose `iter_raw` yields the pieces of the body: `take` returns what has
   arrived, `check` raises the error behind it, and `feed` takes the next bytes.
3. At the end of the body `is_complete` is set. If anything follows the end, `is_reusable` is not
   set, and the connection is closed.

What is read does not depend on whether httptools is installed. `H11Reader` decides what a reply is.
`LlhttpReader` is a shortcut for regular replies, which are almost all: llhttp, in C, reads them
with every leniency off. As soon as llhttp, or a check of this module, finds anything irregular,
such as an interim head, a folded header or lines that end with a line feed alone, `LlhttpReader`
becomes an `H11Reader` and reads the same reply again from its first byte. For example, if the body
has the two chunks ``hello`` and ``world``, and there is a space behind the size of the second one:

- llhttp reads the first chunk, and the caller may have taken ``hello`` already.
- llhttp refuses the second chunk. h11, which allows the space, reads the head and both chunks.
- The caller gets what it has not taken: ``world``.

For that, `LlhttpReader` keeps the bytes of a head, and those of a chunked body up to `_MOST_KEPT`.
Bodies of other kinds cannot be irregular. So llhttp must only refuse what h11 refuses or reads
otherwise; tests compare the two.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import h11
import httpcore

from ferry_sdk._engine.http import Headers
from ferry_sdk._engine.reply_limits import LARGEST_REPLY
from ferry_sdk._transport.http_client import LOWEST_FINAL

_HAS_LLHTTP: Final = find_spec("httptools") is not None
if TYPE_CHECKING or _HAS_LLHTTP:
    import httptools

_MOST_OVERHEAD: Final = 100 * 1024
"""Bytes that may arrive in turn without any of a body: heads, or trailers; as in httpx."""
_MOST_RECEIVED: Final = 2 * LARGEST_REPLY
"""Bytes of a reply on the wire: a chunk of one byte takes six."""
_MOST_KEPT: Final = 1024 * 1024
"""Bytes of a chunked reply that are kept for h11."""
_BEGINNING: Final = b"HTTP/"
_CLOSED_EARLY: Final = "the service closed the connection early"
_IRREGULAR_REASON: Final = re.compile(rb"[\x00\n\v\f\r]")
"""What h11 refuses in the reason, such as ``OK`` in ``HTTP/1.1 200 OK``, and llhttp accepts."""


class Reader(ABC):
    """Reads one reply: `feed`, `take` and `check`, in turn, until it is complete.

    Attributes:
        status_code: The status; 0 until the head has arrived.
        headers: The headers, with names in lower case.
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
        self._failure: httpcore.RemoteProtocolError | None = None
        self._taken = 0  # bytes of the body
        self._received = 0  # bytes of the reply, framing included
        self._overhead = 0  # bytes since the last piece of the body

    @abstractmethod
    def feed(self, data: bytes) -> None:
        """Process bytes of the connection; none if it has ended.

        Raises:
            httpcore.RemoteProtocolError: They are not HTTP, or the reply is incomplete.
        """

    def take(self) -> bytes:
        """Return the part of the body that has arrived since the last time.

        It is one object, because the chunks of a reply may have one byte each.
        """
        body_part = b"".join(self.pieces)
        self.pieces.clear()
        self._taken += len(body_part)
        return body_part

    def check(self) -> None:
        """Raise the error that follows the pieces taken so far, if there is one.

        Raises:
            httpcore.RemoteProtocolError: What follows them is not HTTP.
        """
        if self._failure is not None:
            raise self._failure

    def _refuse(self, reason: str) -> None:
        """Refuse the reply at once if its head is incomplete; else in the next `check`.

        The pieces before the error are taken first, so it does not matter which bytes arrive at
        once.
        """
        self._failure = httpcore.RemoteProtocolError(reason)
        if not self.status_code:
            raise self._failure from None

    def _check_size(self, data: bytes) -> None:
        """Count bytes of a reply that they have not completed, and refuse it if it is too long."""
        self._received += len(data)
        if self._received > _MOST_RECEIVED:
            raise httpcore.RemoteProtocolError("the reply is too long")

        if self.pieces:
            self._overhead = 0
        else:
            self._overhead += len(data)
        if self._overhead > _MOST_OVERHEAD:
            raise httpcore.RemoteProtocolError("the head of the reply is too long")


class H11Reader(Reader):
    """A `Reader` over h11."""

    def __init__(self) -> None:
        super().__init__()
        self._start_h11()

    def _start_h11(self) -> None:
        self._beginning = b""
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_OVERHEAD)
        # h11 reads a reply only after a request; the exchange has written the real one.
        self._connection.send(_ANY_REQUEST)
        self._connection.send(_END)

    def feed(self, data: bytes) -> None:
        """Process bytes of the connection; none if it has ended."""
        connection = self._connection
        self._check_beginning(data)

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
            self._refuse(reason)
            return

        if isinstance(event, h11.EndOfMessage):
            self.is_complete = True
            is_last = connection.trailing_data == (b"", False)
            self.is_reusable = is_last and connection.their_state is h11.DONE
        elif not data:
            raise httpcore.RemoteProtocolError(_CLOSED_EARLY)
        else:
            self._check_size(data)

    def _check_beginning(self, data: bytes) -> None:
        """Refuse another protocol at once; h11 would wait for an empty line."""
        missing = len(_BEGINNING) - len(self._beginning)
        if missing:
            self._beginning += data[:missing]
            if not _BEGINNING.startswith(self._beginning):
                raise httpcore.RemoteProtocolError("not a reply of HTTP/1")


_ANY_REQUEST: Final = h11.Request(method="GET", target="/", headers=[("Host", "any")])
_END: Final = h11.EndOfMessage()


class LlhttpReader(H11Reader):
    """A `Reader` over llhttp, which calls the methods that begin with ``on_``.

    A method raises `_IrregularError` if h11 must read the reply. From then on the object is an
    `H11Reader`, and `_parser` is None.
    """

    def __init__(self) -> None:
        Reader.__init__(self)  # not that of `H11Reader`, which makes the parser of h11
        self._parser: Any = httptools.HttpResponseParser(self)
        self._kept = bytearray()
        self._is_kept = True  # whether `_kept` has all bytes of the reply
        self._is_chunked = False
        self._is_framed = False  # whether the head says where the body ends

    def feed(self, data: bytes) -> None:
        """Process bytes of the connection; none if it has ended."""
        if self._parser is None:
            super().feed(data)
            return
        if not data:
            self._end()
            return

        if self._is_kept:
            self._kept += data
        self._parse(data)

        if self.is_complete:
            self._parser = None  # it refers back to the reader
        elif self._parser is not None:
            self._check_size(data)
            # Only the head and the chunks of a reply can be irregular.
            if self.status_code and (not self._is_chunked or len(self._kept) > _MOST_KEPT):
                self._is_kept = False
                self._kept.clear()

    def _parse(self, data: bytes) -> None:
        """Give bytes to llhttp, and to h11 if it refuses them."""
        try:
            if data[-1] not in b"\r\n":
                self._parser.feed_data(data)
                return

            # llhttp skips empty lines behind a reply, so it would not report them. Therefore the
            # last byte is fed alone: if the reply is complete without it, something is behind it.
            self._parser.feed_data(memoryview(data)[:-1])
            if self.is_complete:
                self.is_reusable = False
            else:
                self._parser.feed_data(data[-1:])
        except httptools.HttpParserError as error:
            self.is_reusable = False
            if not isinstance(error.__context__, (Exception, type(None))):
                raise error.__context__ from None  # Ctrl-C arrived while llhttp called a method
            if not self.is_complete:  # else the error is about what is behind the reply
                self._read_again()

    def _end(self) -> None:
        """Process the end of the connection, which ends a body of unknown length."""
        if not self.status_code or self._is_framed:
            raise httpcore.RemoteProtocolError(_CLOSED_EARLY)
        self.is_complete = True

    def _read_again(self) -> None:
        """Read the reply from its first byte with h11."""
        self._parser = None
        if not self._is_kept:
            self._refuse("a chunk of the reply is irregular")
            return

        self.status_code = 0
        self.headers = []
        self.pieces = []
        self._received = 0
        self._overhead = 0
        self._start_h11()
        super().feed(bytes(self._kept))
        self._kept.clear()

        rest = b"".join(self.pieces)[self._taken :]
        self.pieces = [rest] if rest else []

    def on_message_begin(self) -> None:
        """Stop at what follows the reply."""
        if self.is_complete:
            raise _IrregularError

    def on_status(self, reason: bytes) -> None:
        """Check the reason."""
        if _IRREGULAR_REASON.search(reason):
            raise _IrregularError

    def on_header(self, name: bytes, value: bytes) -> None:
        """Record a header; of the trailers, which are skipped, none may change the frame."""
        name = name.lower()
        if not self.status_code:
            self.headers.append((name, value.rstrip(b" \t")))
        elif name == b"transfer-encoding":
            raise _IrregularError

    def on_headers_complete(self) -> None:
        """Process the head of a final reply."""
        status = self._parser.get_status_code()
        has_known_version = self._parser.get_http_version() in {"1.0", "1.1"}
        # llhttp skips empty lines before a reply, and reads replies of RTSP too.
        if status < LOWEST_FINAL or not has_known_version or not self._kept.startswith(_BEGINNING):
            raise _IrregularError

        by_name = dict(self.headers)
        if b"transfer-encoding" in by_name:
            encodings = [value for name, value in self.headers if name == b"transfer-encoding"]
            if encodings != [b"chunked"]:
                raise _IrregularError
            self._is_chunked = True

        self._is_framed = self._is_chunked or b"content-length" in by_name
        self.status_code = status

    def on_body(self, piece: bytes) -> None:
        """Record a piece of the body."""
        self.pieces.append(piece)

    def on_message_complete(self) -> None:
        """Record the end of the reply."""
        self.is_complete = True
        is_http_1_1 = self._parser.get_http_version() == "1.1"
        self.is_reusable = is_http_1_1 and self._parser.should_keep_alive()


class _IrregularError(Exception):
    """The reply is one for h11; llhttp replaces this exception by its own."""


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
        if piece := reader.take():
            yield piece
        while not reader.is_complete:
            reader.check()
            reader.feed(self._read())
            if piece := reader.take():
                yield piece
        reader.is_read = True

    async def aiter_raw(self) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of the body, as `iter_raw` does."""
        reader = self._reader
        if piece := reader.take():
            yield piece
        while not reader.is_complete:
            reader.check()
            reader.feed(await self._read())
            if piece := reader.take():
                yield piece
        reader.is_read = True

    iter_bytes, aiter_bytes = iter_raw, aiter_raw


def _parse_headers(raw: Sequence[tuple[bytes, bytes]]) -> Headers:
    """Return the headers; repeated ones are joined with a comma."""
    headers = Headers(())
    if not raw:
        return headers

    # Not two comprehensions, which take twice the bytecodes: every reply comes here.
    raw_names, raw_values = zip(*raw, strict=True)
    names = [*map(_name_of, raw_names)]
    values = _texts_of(raw_values)
    headers.by_name = dict(zip(names, values, strict=True))
    if len(headers.by_name) < len(names):
        headers.by_name = _join_repeated(zip(names, values, strict=True))
    return headers


def _join_repeated(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values by name; they are joined at the end, as there may be 25,000 of one name."""
    by_name: dict[str, list[str]] = {}
    for name, value in fields:
        by_name.setdefault(name, []).append(value)
    return {name: ", ".join(values) for name, values in by_name.items()}


@lru_cache(maxsize=256)
def _name_of(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _texts_of(values: Sequence[bytes]) -> list[str]:
    """Return the values as texts.

    All are decoded at once, which takes a third of the time. No value contains a line feed, so the
    text can be split again.
    """
    try:
        return b"\n".join(values).decode().split("\n")
    except UnicodeDecodeError:
        return [_text_of(value) for value in values]


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
