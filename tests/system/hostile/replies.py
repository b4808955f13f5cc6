"""What a reply is made of: a right one, and the pieces in which any reply leaves."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random


class End(Enum):
    CLOSE = "close"
    RESET = "reset"


Step = bytes | float | End
"""Bytes to send, seconds to wait, or an end of the connection."""

Truth = Literal["done", "lost", "refused", "turned away", "contradiction"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of reply: what it says of a write, and the pieces that leave.

    ``done``: it may be read as a success, so the write was done. ``lost``: nothing is known.
    ``refused``: it was not done. ``turned away``: it was not looked at, and may be sent again.
    ``contradiction``: a refusal of what may have been done.
    """

    truth: Truth
    steps: Callable[[Reply], Iterable[Step]]
    protocol: Literal["", "rest", "mcp"] = ""  # empty for both
    cut: Literal["accept", "head", "body"] | None = None  # where reading the request ends


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    value: Any
    other: Any
    message_id: Any
    correlation_id: str
    earlier: str
    traveller: str
    token: str
    dice: Random
    is_result: bool = False
    headers: tuple[tuple[str, str], ...] = ()

    def message(self, **members):
        return encode({"jsonrpc": "2.0", "id": self.message_id, **members})

    def body(self, value=None):
        """The body of the right reply, or of one with another content."""
        content = self.value if value is None else value
        if self.message_id is None:
            return encode(content)
        if self.is_result:
            return self.message(result=content)
        texts = [{"type": "text", "text": json.dumps(content)}]
        return self.message(result={"content": texts, "isError": False})

    def refusal(self, message, code=-32602):
        if self.message_id is None:
            return encode({"error": True, "code": "BOOKING_CONFIRM_ERROR", "message": message})
        return self.message(error={"code": code, "message": message})

    def head(self, *headers, status=None, correlation_id=None, **more):
        """Status line and headers; `length` and `content_type` are left out where they are None."""
        named = [
            ("x-client-correlation-id", correlation_id or self.correlation_id),
            ("x-request-id", f"r-{self.correlation_id}"),
            *self.headers,
            *headers,
            ("content-type", more.get("content_type", "application/json")),
            ("content-length", more.get("length")),
        ]
        lines = [f"HTTP/1.1 {self.status if status is None else status} Whatever".encode()]
        lines += [
            name.encode() + b": " + (text if isinstance(text, bytes) else str(text).encode())
            for name, text in named
            if text is not None
        ]
        return b"\r\n".join([*lines, b"", b""])

    def http(self, body=None, *headers, **head):
        """A whole reply, with its right length if nothing else is said."""
        content = self.body() if body is None else body
        return self.head(*headers, **{"length": len(content), **head}) + content

    def stream(self, *events):
        """The head of an event stream that ends with its connection, and events of it."""
        return self.head(content_type="text/event-stream") + b"".join(events)


def encode(value):
    return json.dumps(value).encode()


def event(data):
    return b"event: message\ndata: " + data + b"\n\n"


def chunks_of(body, size=100):
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def trickle(data, pieces, seconds):
    """The bytes in so many pieces, with a wait before each."""
    size = -(-len(data) // pieces)
    for at in range(0, len(data), size):
        yield seconds
        yield data[at : at + size]


@cache
def bomb():
    """Sixty thousand bytes that become sixty million, each of which starts or ends a list."""
    packer = zlib.compressobj(9, wbits=31)
    piece = b"[]," * 350_000
    compress = [packer.compress(b"["), *(packer.compress(piece) for _ in range(58))]
    return b"".join([*compress, packer.compress(b"[]]"), packer.flush()])


def compress(data):
    return gzip.compress(data, mtime=0)
