"""Every kind of reply that the hostile server gives."""

from __future__ import annotations

import gzip
import json
import unicodedata
import zlib
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from html import escape
from types import MappingProxyType
from typing import Any, Literal


class End(Enum):
    CLOSE = "close"
    RESET = "reset"


Truth = Literal["done", "lost", "refused", "turned away", "contradiction"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of reply: what it says of a write, and the pieces that leave.

    ``done``: it may be read as a success, so the write was done. ``lost``: nothing is known.
    ``refused``: it was not done. ``turned away``: it was not looked at, and may be sent again.
    ``contradiction``: a refusal of what may have been done.
    """

    truth: Truth
    steps: Any  # of a `Reply`: bytes to send, seconds to wait, or an end of the connection
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
    dice: Any
    is_result: bool = False
    headers: tuple[tuple[str, str], ...] = ()

    def message(self, **members):
        return encode({"jsonrpc": "2.0", "id": self.message_id, **members})

    def body(self, value=None):
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


_GZIP = ("content-encoding", "gzip")
_CHUNKS = ("transfer-encoding", "chunked")
_FOREVER = 60.0
_SOON = (0.01, End.CLOSE)
_RESET = (0.002, End.RESET)
_DEEP = 20_000
_PING = encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})


_lost, _done, _refused = (partial(Kind, truth) for truth in ("lost", "done", "refused"))
_turned_away, _contradicted = (partial(Kind, truth) for truth in ("turned away", "contradiction"))


def _resets(_):
    return [End.RESET]


def _closes(_):
    return [End.CLOSE]


_CONNECTION = {
    "reset before the request is read": _lost(_resets, cut="accept"),
    "closed before the request is read": _lost(_closes, cut="accept"),
    "reset inside the request's head": _lost(_resets, cut="head"),
    "closed inside the request's head": _lost(_closes, cut="head"),
    "reset inside the request's body": _lost(_resets, cut="body"),
    "closed inside the request's body": _lost(_closes, cut="body"),
    "refused before the body is read": _refused(
        lambda r: [r.http(b"too large", status=413, content_type="text/plain"), *_SOON], cut="body"
    ),
    "reset after the request": _lost(_resets),
    "closed after the request": _lost(_closes),
    "no reply": _lost(lambda _: [_FOREVER]),
    "reset inside the status line": _lost(lambda r: [r.http()[:9], *_RESET]),
    "closed inside the status line": _lost(lambda r: [r.http()[:9], End.CLOSE]),
    "reset inside the headers": _lost(lambda r: [r.head()[:-9], *_RESET]),
    "closed inside the headers": _lost(lambda r: [r.head()[:-9], End.CLOSE]),
    "reset inside the body": _lost(lambda r: [_cut(r), *_RESET]),
    "closed inside the body": _lost(lambda r: [_cut(r), End.CLOSE]),
    "stuck inside the body": _lost(lambda r: [_cut(r), _FOREVER]),
    "reset inside a chunk": _lost(lambda r: [r.head(_CHUNKS) + chunks_of(r.body())[:-9], *_RESET]),
    "trickling": _done(lambda r: trickle(r.http(), 20, 0.004)),
    "trickling, and nothing in it": _lost(
        lambda r: [*trickle(r.head() + b" " * 500, 60, 0.02), End.CLOSE]
    ),
    "closed after the reply": _done(lambda r: [r.http(), End.CLOSE]),
    "another reply at once behind it": _done(lambda r: r.http() + _of_another(r)),
    "another reply soon behind it": _done(lambda r: [r.http(), 0.003, _of_another(r)]),
    "half a reply behind it": _done(lambda r: r.http() + _of_another(r)[:30]),
}

_FRAMES = {
    "no length": _done(lambda r: [r.head() + r.body(), End.CLOSE]),
    "too short a length": _lost(lambda r: [r.http(length=len(r.body()) - 3), *_SOON]),
    "too long a length": _lost(lambda r: [r.http(length=len(r.body()) + 3), *_SOON]),
    "a length below nothing": _lost(lambda r: [r.http(length=-5), *_SOON]),
    "a length that is no number": _lost(lambda r: [r.http(length="many"), *_SOON]),
    "a length of 5000 digits": _lost(lambda r: [r.http(length="9" * 5000), *_SOON]),
    "two lengths": _lost(lambda r: [r.http(None, ("content-length", "1")), *_SOON]),
    "the same length twice": _done(lambda r: r.http(None, ("content-length", str(len(r.body()))))),
    "chunks": _done(lambda r: r.head(_CHUNKS) + chunks_of(r.body())),
    "chunks, a length": _done(lambda r: [r.head(_CHUNKS, length=3) + chunks_of(r.body()), *_SOON]),
    "a chunk of a name": _lost(lambda r: [r.head(_CHUNKS) + _text(r) + b"\r\n" + r.body(), *_SOON]),
    "a huge chunk": _lost(lambda r: [r.head(_CHUNKS) + b"f" * 40 + b"\r\n" + r.body(), *_SOON]),
    "gzip": _done(lambda r: r.http(compress(r.body()), _GZIP)),
    "gzip cut short": _lost(lambda r: r.http(compress(r.body())[:40], _GZIP)),
    "gzip that is none": _lost(lambda r: r.http(None, _GZIP)),
    "gzip that is garbage": _lost(lambda r: r.http(b"\x1f\x8b\x08" + b"\xff" * 90, _GZIP)),
    "gzip, then garbage": _done(lambda r: r.http(compress(r.body()) + b"\xff" * 90, _GZIP)),
    "gzip that becomes huge": _lost(lambda r: r.http(bomb(), _GZIP)),
    "packed in no known way": _done(lambda r: r.http(None, ("content-encoding", "br2"))),
    "no HTTP": _lost(lambda r: [b"\x16\x03\x01 " + _text(r) + b"\r\n\r\n", End.CLOSE]),
    "HTTP/0.9": _lost(lambda r: [r.body(), End.CLOSE]),
}

_STATUSES = {
    "a series of 1xx": _done(lambda r: _interim(100) * 9 + _interim(103) * 9 + r.http()),
    "thousands of 1xx": _done(lambda r: _interim(103) * 1000 + r.http()),
    "100 and no more": _lost(lambda _: [_interim(100), *_SOON]),
    "101": _lost(lambda r: r.head(("upgrade", "x"), ("connection", "upgrade"), status=101)),
    "204": _lost(lambda r: r.head(status=204)),
    "204 with a body": _lost(lambda r: r.http(status=204)),
    "304": _lost(lambda r: r.head(status=304)),
    "304 with a body": _lost(lambda r: r.http(status=304)),
    "a redirect": _lost(lambda r: r.http(b"", ("location", "/x"), status=_one(r, 301, 302, 307))),
    "a redirect to nowhere": _lost(lambda r: r.http(b"", status=_one(r, 302, 303, 308))),
    "299": _done(lambda r: r.http(status=299)),
    "600": _lost(lambda r: r.http(b"{}", status=600)),
    "600 with the right body": _done(lambda r: r.http(status=600)),
    "999": _lost(lambda r: r.http(b"{}", status=999)),
    "000": _lost(lambda r: [r.http(status="000"), *_SOON]),
    "a status that is no number": _lost(lambda r: [r.http(status="OK"), *_SOON]),
    "a failure": _lost(lambda r: r.http(b"{}", status=_one(r, 408, 500, 502, 503, 599))),
    "a failure with a name": _lost(lambda r: r.http(encode({"message": _words(r)}), status=500)),
    "a gateway's page": _lost(
        lambda r: r.http(b"<html>bad gateway", status=502, content_type="text/html")
    ),
    "a refusal": _refused(lambda r: r.http(r.refusal("no"), status=_one(r, 400, 409, 422))),
    "a refusal that names a traveller": _refused(
        lambda r: r.http(r.refusal(_words(r)), status=_one(r, 400, 409, 422))
    ),
    "a quoted token": _refused(lambda r: r.http(r.refusal(f"bad token {r.token}"), status=403)),
    "a refusal whose request id is a traveller": _refused(
        lambda r: r.http(r.refusal("no"), ("x-request-id", _text(r)), status=409)
    ),
    "a refusal in the body of a success": _refused(lambda r: r.http(r.refusal(_words(r)))),
    "a refusal that is a page": _refused(
        lambda r: r.http(b"<html>no", status=403, content_type="text/html")
    ),
    "too many requests": _turned_away(lambda r: r.http(b"{}", ("retry-after", "0"), status=429)),
    "a token that is not known": _turned_away(
        lambda r: r.http(b"{}", ("www-authenticate", f"Bearer {r.token}"), status=401)
    ),
}

_HEADERS = {
    "thousands of headers": _done(
        lambda r: [r.http(None, *((f"x-{n}", "y") for n in range(3000))), *_SOON]
    ),
    "a long header": _done(lambda r: [r.http(None, ("x-long", "y" * 200_000)), *_SOON]),
    "control characters": _done(lambda r: [r.http(None, ("x-odd", b"a\x01\x00b")), *_SOON]),
    "a header without a colon": _done(
        lambda r: [r.http().replace(b"x-request-id: ", b"x-request-id "), *_SOON]
    ),
    "a header that is no text": _done(lambda r: r.http(None, ("x-odd", b"\xff\xfe"))),
    "headers twice": _done(lambda r: r.http(None, ("content-type", "text/html"), ("date", "soon"))),
    "no type": _done(lambda r: r.http(content_type=None)),
    "another type": _done(lambda r: r.http(content_type="text/html; charset=utf-16")),
    "a request id with a name": _done(lambda r: r.http(None, ("x-request-id", _text(r)))),
    "a bare line feed ends the lines": _done(lambda r: r.http().replace(b"\r\n", b"\n")),
}

_CONTENTS = {
    "an empty body": _lost(lambda r: r.http(b"")),
    "null": _lost(lambda r: r.http(b"null")),
    "another type of value": _lost(lambda r: r.http(_one(r, b"7", b'"yes"', b"true"))),
    "an empty object": _lost(lambda r: r.http(b"{}")),
    "nulls in it": _lost(lambda r: r.http(r.body(_nulls(r)))),
    "deep nesting": _lost(lambda r: r.http(b"[" * _DEEP + b"]" * _DEEP)),
    "deep nesting beside it": _done(lambda r: r.http(_beside(r, b"[" * 500 + b"]" * 500))),
    "NaN beside it": _done(lambda r: r.http(_beside(r, b"NaN"))),
    "a huge number beside it": _done(lambda r: r.http(_beside(r, b"9" * 5000))),
    "a lone surrogate beside it": _done(lambda r: r.http(_beside(r, b'"\\ud800"'))),
    "no UTF-8": _done(lambda r: r.http(_beside(r, b'"\xff\xfe"'))),
    "a byte order mark": _done(lambda r: r.http(b"\xef\xbb\xbf" + r.body())),
    "UTF-16": _done(lambda r: r.http(r.body().decode().encode("utf-16"))),
    "garbage behind it": _lost(lambda r: r.http(r.body() + b"}garbage")),
    "two documents": _lost(lambda r: r.http(r.body() + b"\n" + r.body(r.other))),
    "a page": _lost(lambda r: r.http(b"<html>" + _text(r), content_type="text/html")),
    "a text that names a traveller": _lost(lambda r: r.http(_text(r))),
}

_ANOTHERS = {
    "another booking's reply": _lost(lambda r: _with_other_booking(r, r)),
    "another call's reply": _lost(lambda r: [_of_another(r)]),
    "another call's correlation id": _lost(lambda r: r.http(correlation_id=r.earlier)),
    "a gateway's correlation id": _done(lambda r: r.http(correlation_id="gw-1")),
}

_UNSUPPORTED_VERSION = {
    "code": -32022,
    "message": "Unsupported protocol version",
    "data": {"supported": ["2026-07-28"]},
}
_MCP = {
    "a stream": _done(lambda r: [r.stream(event(r.body())), End.CLOSE]),
    "a stream with other messages": _done(
        lambda r: [r.stream(b": hello\n\n", event(_PING), event(r.body())), End.CLOSE]
    ),
    "a stream by CR": _done(lambda r: [r.stream(b"data:" + r.body() + b"\r\r"), End.CLOSE]),
    "a stream that stays open": _done(lambda r: [r.stream(event(r.body())), _FOREVER]),
    "a slow stream": _done(lambda r: [*trickle(r.stream(event(r.body())), 20, 0.004), End.CLOSE]),
    "only comments": _lost(lambda r: [*trickle(r.stream(b": wait\n" * 60), 60, 0.02), End.CLOSE]),
    "a stream that ends early": _lost(lambda r: [r.stream(event(r.body())[:-30]), End.CLOSE]),
    "an empty stream": _lost(lambda r: [r.stream(), End.CLOSE]),
    "a stream with another id's result": _lost(
        lambda r: [r.stream(event(replace(r, message_id="x-1").body(r.other))), End.CLOSE]
    ),
    "another id and booking": _lost(lambda r: _with_other_booking(r, replace(r, message_id="x-1"))),
    "result and error": _lost(lambda r: r.http(_both(r, r.dice.choice((-32602, -32603, 0))))),
    "an error of the service": _lost(lambda r: r.http(r.refusal(_words(r), -32603), status=200)),
    "an error of no known code": _lost(lambda r: r.http(r.refusal("?", 7), status=200)),
    "an error that is no object": _lost(lambda r: r.http(r.message(error="no"))),
    "a failed tool, no code": _lost(
        lambda r: r.http(r.message(result={"isError": True, "content": []}))
    ),
    "a batch": _done(lambda r: r.http(b"[" + r.body() + b"]")),
    "an empty batch": _lost(lambda r: r.http(b"[]")),
    "a session that timed out at the carrier": _contradicted(
        lambda r: r.http(r.refusal("Carrier session timed out", -32000), status=400)
    ),
    "404 from the carrier": _contradicted(
        lambda r: r.http(r.refusal("Carrier answered: no such sailing", -32000), status=404)
    ),
    "a session that is not known": _turned_away(
        lambda r: r.http(r.refusal("Session not found", -32001), status=404)
    ),
    "a version that is refused": _turned_away(
        lambda r: r.http(r.message(error=_UNSUPPORTED_VERSION), status=400)
    ),
    "a version that is refused in words": _contradicted(
        lambda r: r.http(r.refusal("Unsupported protocol version", -32022), status=400)
    ),
}

_RIGHT = _done(lambda r: r.http())
KINDS = MappingProxyType(
    {"right": _RIGHT, **_CONNECTION, **_FRAMES, **_STATUSES, **_HEADERS, **_CONTENTS, **_ANOTHERS}
    | {name: replace(kind, protocol="mcp") for name, kind in _MCP.items()}
)
"""All of them, by name."""


@dataclass(frozen=True, slots=True)
class Stroke:
    name: str = "right"
    is_done: bool = True
    seed: int = 0

    @property
    def kind(self):
        return KINDS[self.name]

    def does(self):
        """Whether a write that meets it is done."""
        if self.kind.cut is not None or self.kind.truth in {"refused", "turned away"}:
            return False
        return self.is_done or self.kind.truth == "done"


def stroke(dice, protocol):
    names = [name for name, kind in KINDS.items() if kind.protocol in {"", protocol}]
    return Stroke(dice.choice(names), dice.random() < 0.5, dice.randrange(1_000_000))


def _one(reply, *choices):
    return reply.dice.choice(choices)


def _interim(status):
    return b"HTTP/1.1 %d Wait\r\n\r\n" % status


def _cut(reply):
    return reply.http()[: -reply.dice.randrange(1, len(reply.body()))]


def _of_another(reply):
    return reply.http(reply.body(reply.other), correlation_id=reply.earlier)


def _with_other_booking(reply, answering):
    """A reply that names another booking; where none was asked for, another call as well."""
    makes = "possible_actions" in reply.value and "tickets" not in reply.value
    body = answering.body(reply.other)
    return reply.http(body, correlation_id=reply.earlier if makes else None)


def _words(reply):
    """A text of the service's that names the traveller, in one of the ways in which it may."""
    name = reply.traveller
    letters = "".join(f"&#{ord(letter)};" for letter in name)
    ways = (name, name.upper(), name.swapcase(), unicodedata.normalize("NFD", name))
    ways += (escape(name), letters, f"field last_name: «{name}»")
    return f"{reply.dice.choice(ways)} is booked already"


def _text(reply):
    return _words(reply).encode()


def _nulls(reply):
    return dict.fromkeys(reply.value) if isinstance(reply.value, dict) else [None]


def _beside(reply, value):
    """The right body, whose content has one more member."""
    body = reply.body()
    return b'{"extra": ' + value + b", " + body[1:] if body[:1] == b"{" else body


def _both(reply, code):
    result = {"content": [{"type": "text", "text": encode(reply.value).decode()}]}
    return reply.message(result=result, error={"code": code, "message": "no"})
