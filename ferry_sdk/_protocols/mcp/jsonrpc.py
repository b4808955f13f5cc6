"""JSON-RPC 2.0 messages, and how the reply to a request is found in a body or an event stream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from ferry_sdk._engine.http import Reply
from ferry_sdk._engine.limits import LONG_REPLY
from ferry_sdk._protocols.json_body import decode_json, items_of, members_of

EVENT_STREAM: Final = "text/event-stream"
_END_OF_LINE: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


def reply_among(value: object, request_id: str, *, is_stream: bool) -> dict[str, object] | None:
    """Return the reply to a request: the value itself, or an element of a batch; None if neither.

    The only reply in a body need not repeat the id, and servers put other ids on errors. In a
    stream, the id distinguishes the reply from other messages.
    """
    for members in map(members_of, items_of(value)):
        is_error = isinstance(members.get("error"), dict) or members.get("error") is True
        if "method" in members or not (is_error or "result" in members):
            continue
        if is_error or not is_stream or members.get("id") == request_id:
            return members
    return None


class EventStream:
    """Splits a stream into the data of its events.

    Lines end with CR LF, LF or CR only: other Unicode line separators may be part of the JSON.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._began = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of each event that the piece completes."""
        text = self._rest + chunk
        if not self._began and (len(text) >= len(_BOM) or not _BOM.startswith(text)):
            self._began = True
            text = text.removeprefix(_BOM)
        start = 0
        for end in _END_OF_LINE.finditer(text):
            if end.group() == b"\r" and end.end() == len(text):
                break  # a line feed may follow in the next piece
            yield from self._feed_line(text[start : end.start()])
            start = end.end()
        self._rest = text[start:]

    def finish(self) -> Iterator[bytes]:
        """Yield the data of the last event, if the stream ended without a blank line."""
        yield from self._feed_line(self._rest.rstrip(b"\r"))
        yield from self._feed_line(b"")

    def _feed_line(self, line: bytes) -> Iterator[bytes]:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
        elif self._data:
            data, self._data = b"\n".join(self._data), []
            yield data


class ReplyListener:
    """Finds the reply to one request in an event stream, and stops there.

    Attributes:
        reply: The reply; None until it arrives.
    """

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self._stream = EventStream()
        self._long: list[bytes] = []
        self.reply: dict[str, object] | None = None

    def feed(self, head: Reply, chunk: bytes) -> bool:
        """Process the next piece; return True once the reply is found."""
        return head.media_type == EVENT_STREAM and self._find_reply(self._stream.feed(chunk))

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
            try:
                message = decode_json(data)
            except ValueError:
                continue
            self.reply = reply_among(message, self._request_id, is_stream=True)
            if self.reply is not None:
                return True
        return False
