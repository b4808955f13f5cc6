"""JSON-RPC 2.0 messages, and how the reply to a request is found in a body or an event stream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from ferry_sdk._engine.http import Reply
from ferry_sdk._engine.reply_limits import LONG_REPLY
from ferry_sdk._protocols.json_body import BOM, decode_or_text, items_of, members_of

EVENT_STREAM: Final = "text/event-stream"

# The codes of errors. A server may send any other value as one, even a list, so a code is compared
# with them or looked up in a tuple, and never in a set.
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
RESOURCE_NOT_FOUND: Final = -32002
UNSUPPORTED_VERSION: Final = -32022

_DATA: Final = re.compile(rb"data(?:: ?|\Z)")
"""The beginning of a line with data; a line may be a name without a value."""


def reply_among(value: object, request_id: str, *, is_stream: bool) -> dict[str, object] | None:
    """Return the reply to a request: the value itself, or an element of a batch; None if neither.

    The only reply in a body need not repeat the id, and servers put other ids on errors. In a
    stream, the id distinguishes the reply from other messages.
    """
    for item in items_of(value):
        members = members_of(item)
        is_error = isinstance(members.get("error"), dict) or members.get("error") is True
        if "method" in members or not (is_error or "result" in members):
            continue
        if is_error or not is_stream or members.get("id") == request_id:
            return members
    return None


class EventStream:
    """Splits a stream into the data of its events, in time linear in its length.

    Lines end with CR LF, LF or CR only: other Unicode line separators may be part of the JSON. Each
    byte is searched once, however the stream is cut into pieces, because a line that has not ended
    waits in a buffer that is not searched again. The buffers hold at most the bytes of one reply,
    which `LARGEST_REPLY` limits, also if the stream is many tiny pieces or lines.
    """

    def __init__(self) -> None:
        self._start: bytes | None = b""
        """The first bytes, until they are known to be a byte order mark or not."""
        self._line = bytearray()
        """The line that has not ended."""
        self._data = bytearray()
        """The data of the event that has not ended, each line of it with a line feed."""
        self._ended_with_cr = False
        """Whether a line feed at the start of the next piece belongs to the line before."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of each event that the piece completes."""
        if self._start is not None:
            chunk = self._start + chunk
            if len(chunk) < len(BOM) and BOM.startswith(chunk):
                self._start = chunk
                return
            self._start = None
            chunk = chunk.removeprefix(BOM)
        if not chunk:
            return
        if self._ended_with_cr:
            chunk = chunk.removeprefix(b"\n")
        self._ended_with_cr = chunk.endswith(b"\r")

        # Bytes, unlike a str, are split at CR and LF only.
        for part in chunk.splitlines(keepends=True):
            line = part.rstrip(b"\r\n")
            if len(line) == len(part):
                self._line += part
                break
            if self._line:
                self._line += line
                yield from self._feed_line(self._line)
                self._line.clear()
            else:
                yield from self._feed_line(line)

    def finish(self) -> Iterator[bytes]:
        """Yield the data of the last event, if the stream ended without a blank line."""
        yield from self._feed_line((self._start or b"") + self._line)
        yield from self._feed_line(b"")

    def _feed_line(self, line: bytes | bytearray) -> Iterator[bytes]:
        # A line may be as long as the reply, so it is copied as seldom as possible.
        if line:
            field = _DATA.match(line)
            if field is not None:
                self._data += line[field.end() :]
                self._data += b"\n"
        elif self._data:
            del self._data[-1:]
            data = bytes(self._data)
            self._data.clear()
            yield data


class ReplyListener:
    """Finds the reply to one request in an event stream, and stops there.

    Attributes:
        reply: The reply; None until it arrives.
        other: The last other message, decoded if it is JSON, which may say why there is no reply.
    """

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self._stream = EventStream()
        self._long: list[bytes] = []
        self.reply: dict[str, object] | None = None
        self.other: object = None

    def feed(self, head: Reply, chunk: bytes) -> bool:
        """Process the next piece; return True once the reply is found."""
        if head.media_type != EVENT_STREAM:
            return False
        return self._find_reply(self._stream.feed(chunk))

    def finish(self) -> dict[str, object] | None:
        """Return the reply, also from an incomplete last event."""
        if self.reply is None:
            self._find_reply(chain(self._long, self._stream.finish()), is_complete=True)
        return self.reply

    def _find_reply(self, events: Iterable[bytes], *, is_complete: bool = False) -> bool:
        for data in events:
            if len(data) >= LONG_REPLY and not is_complete:
                # Decoding it here would block the event loop for too long.
                self._long.append(data)
                if self._request_id.encode() in data:
                    return True
                continue
            message = decode_or_text(data)
            self.reply = reply_among(message, self._request_id, is_stream=True)
            if self.reply is not None:
                return True
            self.other = message
        return False
