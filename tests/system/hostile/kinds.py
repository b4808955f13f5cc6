"""Every kind of reply that the hostile server gives."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from html import escape
from types import MappingProxyType

from .replies import End, Kind, bomb, chunks_of, compress, encode, event, trickle

_GZIP = ("content-encoding", "gzip")
_CHUNKS = ("transfer-encoding", "chunked")
_FOREVER = 60.0
_DEEP = 20_000


def _nothing(_):
    return []


def _resets(_):
    return [End.RESET]


def _closes(_):
    return [End.CLOSE]


_CONNECTION = {
    "reset before the request is read": Kind("lost", _resets, cut="accept"),
    "closed before the request is read": Kind("lost", _closes, cut="accept"),
    "reset inside the request's head": Kind("lost", _resets, cut="head"),
    "closed inside the request's head": Kind("lost", _closes, cut="head"),
    "reset inside the request's body": Kind("lost", _resets, cut="body"),
    "closed inside the request's body": Kind("lost", _closes, cut="body"),
    "refused before the body is read": Kind(
        "refused",
        lambda r: [r.http(b"too large", status=413, content_type="text/plain"), 0.01, End.CLOSE],
        cut="body",
    ),
    "reset after the request": Kind("lost", _resets),
    "closed after the request": Kind("lost", _closes),
    "no reply": Kind("lost", lambda _: [_FOREVER]),
    "reset inside the status line": Kind("lost", lambda r: [r.http()[:9], 0.002, End.RESET]),
    "closed inside the status line": Kind("lost", lambda r: [r.http()[:9], End.CLOSE]),
    "reset inside the headers": Kind("lost", lambda r: [r.head()[:-9], 0.002, End.RESET]),
    "closed inside the headers": Kind("lost", lambda r: [r.head()[:-9], End.CLOSE]),
    "reset inside the body": Kind("lost", lambda r: [_cut(r), 0.002, End.RESET]),
    "closed inside the body": Kind("lost", lambda r: [_cut(r), End.CLOSE]),
    "stuck inside the body": Kind("lost", lambda r: [_cut(r), _FOREVER]),
    "reset inside a chunk": Kind(
        "lost", lambda r: [r.head(_CHUNKS) + chunks_of(r.body())[:-9], 0.002, End.RESET]
    ),
    "trickling": Kind("done", lambda r: trickle(r.http(), 20, 0.004)),
    "trickling, and nothing in it": Kind(
        "lost", lambda r: [*trickle(_blank(r), 60, 0.02), End.CLOSE]
    ),
    "closed after the reply": Kind("done", lambda r: [r.http(), End.CLOSE]),
    "another reply at once behind it": Kind("done", lambda r: [r.http() + _of_another(r)]),
    "another reply soon behind it": Kind("done", lambda r: [r.http(), 0.003, _of_another(r)]),
    "half a reply behind it": Kind("done", lambda r: [r.http() + _of_another(r)[:30]]),
}

_FRAMES = {
    "no length": Kind("done", lambda r: [r.head() + r.body(), End.CLOSE]),
    "too short a length": Kind(
        "lost", lambda r: [r.http(length=len(r.body()) - 3), 0.01, End.CLOSE]
    ),
    "too long a length": Kind(
        "lost", lambda r: [r.http(length=len(r.body()) + 3), 0.01, End.CLOSE]
    ),
    "a length below nothing": Kind("lost", lambda r: [r.http(length=-5), 0.01, End.CLOSE]),
    "a length that is no number": Kind("lost", lambda r: [r.http(length="many"), 0.01, End.CLOSE]),
    "a length of 5000 digits": Kind("lost", lambda r: [r.http(length="9" * 5000), 0.01, End.CLOSE]),
    "two lengths": Kind("lost", lambda r: [r.http(None, ("content-length", "1")), 0.01, End.CLOSE]),
    "the same length twice": Kind(
        "done", lambda r: [r.http(None, ("content-length", str(len(r.body()))))]
    ),
    "chunks": Kind("done", lambda r: [r.head(_CHUNKS) + chunks_of(r.body())]),
    "chunks and a length": Kind(
        "done", lambda r: [r.head(_CHUNKS, length=3) + chunks_of(r.body()), 0.01, End.CLOSE]
    ),
    "a chunk that quotes a traveller": Kind(
        "lost", lambda r: [r.head(_CHUNKS) + _text(r) + b"\r\n" + r.body(), 0.01, End.CLOSE]
    ),
    "a chunk of a huge size": Kind(
        "lost", lambda r: [r.head(_CHUNKS) + b"f" * 40 + b"\r\n" + r.body(), 0.01, End.CLOSE]
    ),
    "gzip": Kind("done", lambda r: [r.http(compress(r.body()), _GZIP)]),
    "gzip cut short": Kind("lost", lambda r: [r.http(compress(r.body())[:40], _GZIP)]),
    "gzip that is none": Kind("lost", lambda r: [r.http(None, _GZIP)]),
    "gzip that is garbage": Kind("lost", lambda r: [r.http(b"\x1f\x8b\x08" + b"\xff" * 90, _GZIP)]),
    "gzip with garbage behind it": Kind(
        "done", lambda r: [r.http(compress(r.body()) + b"\xff" * 90, _GZIP)]
    ),
    "gzip that becomes huge": Kind("lost", lambda r: [r.http(bomb(), _GZIP)]),
    "packed in no known way": Kind("done", lambda r: [r.http(None, ("content-encoding", "br2"))]),
    "no HTTP": Kind("lost", lambda r: [b"\x16\x03\x01 " + _text(r) + b"\r\n\r\n", End.CLOSE]),
    "HTTP/0.9": Kind("lost", lambda r: [r.body(), End.CLOSE]),
}

_STATUSES = {
    "a series of 1xx": Kind("done", lambda r: [_interim(100) * 9 + _interim(103) * 9 + r.http()]),
    "thousands of 1xx": Kind("done", lambda r: [_interim(103) * 1000 + r.http()]),
    "100 and no more": Kind("lost", lambda _: [_interim(100), 0.01, End.CLOSE]),
    "101": Kind(
        "lost", lambda r: [r.head(("upgrade", "x"), ("connection", "upgrade"), status=101)]
    ),
    "204": Kind("lost", lambda r: [r.head(status=204)]),
    "204 with a body": Kind("lost", lambda r: [r.http(status=204)]),
    "304": Kind("lost", lambda r: [r.head(status=304)]),
    "304 with a body": Kind("lost", lambda r: [r.http(status=304)]),
    "a redirect": Kind(
        "lost", lambda r: [r.http(b"", ("location", "/elsewhere"), status=_one(r, 301, 302, 307))]
    ),
    "a redirect to nowhere": Kind("lost", lambda r: [r.http(b"", status=_one(r, 302, 303, 308))]),
    "299": Kind("done", lambda r: [r.http(status=299)]),
    "600": Kind("lost", lambda r: [r.http(b"{}", status=600)]),
    "600 with the right body": Kind("done", lambda r: [r.http(status=600)]),
    "999": Kind("lost", lambda r: [r.http(b"{}", status=999)]),
    "000": Kind("lost", lambda r: [r.http(status="000"), 0.01, End.CLOSE]),
    "a status that is no number": Kind("lost", lambda r: [r.http(status="OK"), 0.01, End.CLOSE]),
    "a failure": Kind("lost", lambda r: [r.http(b"{}", status=_one(r, 408, 500, 502, 503, 599))]),
    "a failure that names a traveller": Kind(
        "lost", lambda r: [r.http(encode({"message": _words(r)}), status=500)]
    ),
    "a gateway's page": Kind(
        "lost", lambda r: [r.http(b"<html>bad gateway", status=502, content_type="text/html")]
    ),
    "a refusal": Kind(
        "refused", lambda r: [r.http(r.refusal("no"), status=_one(r, 400, 409, 422))]
    ),
    "a refusal that names a traveller": Kind(
        "refused", lambda r: [r.http(r.refusal(_words(r)), status=_one(r, 400, 409, 422))]
    ),
    "a refusal that names the token": Kind(
        "refused", lambda r: [r.http(r.refusal(f"bad token {r.token}"), status=403)]
    ),
    "a refusal whose request id is a traveller": Kind(
        "refused", lambda r: [r.http(r.refusal("no"), ("x-request-id", _text(r)), status=409)]
    ),
    "a refusal in the body of a success": Kind("refused", lambda r: [r.http(r.refusal(_words(r)))]),
    "a refusal that is a page": Kind(
        "refused", lambda r: [r.http(b"<html>no", status=403, content_type="text/html")]
    ),
    "too many requests": Kind(
        "turned away", lambda r: [r.http(b"{}", ("retry-after", "0"), status=429)]
    ),
    "a token that is not known": Kind(
        "turned away",
        lambda r: [r.http(b"{}", ("www-authenticate", f"Bearer {r.token}"), status=401)],
    ),
}

_HEADERS = {
    "thousands of headers": Kind(
        "done", lambda r: [r.http(None, *((f"x-{n}", "y") for n in range(3000))), 0.01, End.CLOSE]
    ),
    "a long header": Kind(
        "done", lambda r: [r.http(None, ("x-long", "y" * 200_000)), 0.01, End.CLOSE]
    ),
    "control characters in a header": Kind(
        "done", lambda r: [r.http(None, ("x-odd", b"a\x01\x00b")), 0.01, End.CLOSE]
    ),
    "a header without a colon": Kind(
        "done", lambda r: [r.http().replace(b"x-request-id: ", b"x-request-id "), 0.01, End.CLOSE]
    ),
    "a header that is no text": Kind("done", lambda r: [r.http(None, ("x-odd", b"\xff\xfe"))]),
    "headers twice": Kind(
        "done", lambda r: [r.http(None, ("content-type", "text/html"), ("date", "soon"))]
    ),
    "no type": Kind("done", lambda r: [r.http(content_type=None)]),
    "another type": Kind("done", lambda r: [r.http(content_type="text/html; charset=utf-16")]),
    "a request id that names a traveller": Kind(
        "done", lambda r: [r.http(None, ("x-request-id", _text(r)))]
    ),
    "a bare line feed ends the lines": Kind("done", lambda r: [r.http().replace(b"\r\n", b"\n")]),
}

_CONTENTS = {
    "an empty body": Kind("lost", lambda r: [r.http(b"")]),
    "null": Kind("lost", lambda r: [r.http(b"null")]),
    "another type of value": Kind("lost", lambda r: [r.http(_one(r, b"7", b'"yes"', b"true"))]),
    "an empty object": Kind("lost", lambda r: [r.http(b"{}")]),
    "nulls in it": Kind("lost", lambda r: [r.http(r.body(_nulls(r.value)))]),
    "deep nesting": Kind("lost", lambda r: [r.http(b"[" * _DEEP + b"]" * _DEEP)]),
    "deep nesting beside it": Kind("done", lambda r: [r.http(_beside(r, b"[" * 500 + b"]" * 500))]),
    "NaN beside it": Kind("done", lambda r: [r.http(_beside(r, b"NaN"))]),
    "a huge number beside it": Kind("done", lambda r: [r.http(_beside(r, b"9" * 5000))]),
    "a lone surrogate beside it": Kind("done", lambda r: [r.http(_beside(r, b'"\\ud800"'))]),
    "no UTF-8": Kind("done", lambda r: [r.http(_beside(r, b'"\xff\xfe"'))]),
    "a byte order mark": Kind("done", lambda r: [r.http(b"\xef\xbb\xbf" + r.body())]),
    "UTF-16": Kind("done", lambda r: [r.http(r.body().decode().encode("utf-16"))]),
    "garbage behind it": Kind("lost", lambda r: [r.http(r.body() + b"}garbage")]),
    "two documents": Kind("lost", lambda r: [r.http(r.body() + b"\n" + r.body(r.other))]),
    "a page": Kind("lost", lambda r: [r.http(b"<html>" + _text(r), content_type="text/html")]),
    "a text that names a traveller": Kind("lost", lambda r: [r.http(_text(r))]),
}

_ANOTHERS = {
    "another booking's reply": Kind("lost", lambda r: [_with_other_booking(r, r)]),
    "another call's reply": Kind("lost", lambda r: [_of_another(r)]),
    "another call's correlation id": Kind("lost", lambda r: [r.http(correlation_id=r.earlier)]),
    "a gateway's correlation id": Kind("done", lambda r: [r.http(correlation_id="gw-1")]),
}

_MCP = {
    "a stream": Kind("done", lambda r: [r.stream(event(r.body())), End.CLOSE]),
    "a stream with other messages": Kind(
        "done", lambda r: [r.stream(b": hello\n\n", event(_ping()), event(r.body())), End.CLOSE]
    ),
    "a stream by single carriage returns": Kind(
        "done", lambda r: [r.stream(b"data:" + r.body() + b"\r\r"), End.CLOSE]
    ),
    "a stream that stays open": Kind("done", lambda r: [r.stream(event(r.body())), _FOREVER]),
    "a stream that trickles": Kind(
        "done", lambda r: [*trickle(r.stream(event(r.body())), 20, 0.004), End.CLOSE]
    ),
    "a stream of comments": Kind(
        "lost", lambda r: [*trickle(r.stream(b": wait\n" * 60), 60, 0.02), End.CLOSE]
    ),
    "a stream that ends early": Kind(
        "lost", lambda r: [r.stream(event(r.body())[:-30]), End.CLOSE]
    ),
    "an empty stream": Kind("lost", lambda r: [r.stream(), End.CLOSE]),
    "a stream with another id's result": Kind(
        "lost", lambda r: [r.stream(event(replace(r, message_id="x-1").body(r.other))), End.CLOSE]
    ),
    "another id, another booking": Kind(
        "lost", lambda r: [_with_other_booking(r, replace(r, message_id="x-1"))]
    ),
    "result and error": Kind(
        "lost", lambda r: [r.http(_both(r, r.dice.choice((-32602, -32603, 0))))]
    ),
    "an error inside the service": Kind(
        "lost", lambda r: [r.http(r.refusal(_words(r), -32603), status=200)]
    ),
    "an error of no known code": Kind("lost", lambda r: [r.http(r.refusal("?", 7), status=200)]),
    "an error that is no object": Kind("lost", lambda r: [r.http(r.message(error="no"))]),
    "a failed tool of no known code": Kind(
        "lost", lambda r: [r.http(r.message(result={"isError": True, "content": []}))]
    ),
    "a batch": Kind("done", lambda r: [r.http(b"[" + r.body() + b"]")]),
    "an empty batch": Kind("lost", lambda r: [r.http(b"[]")]),
    "a session that timed out at the carrier": Kind(
        "contradiction",
        lambda r: [r.http(r.refusal("Carrier session timed out", -32000), status=400)],
    ),
    "404 from the carrier": Kind(
        "contradiction",
        lambda r: [r.http(r.refusal("Carrier answered: no such sailing", -32000), status=404)],
    ),
    "a session that is not known": Kind(
        "turned away", lambda r: [r.http(r.refusal("Session not found", -32001), status=404)]
    ),
}

_RIGHT = Kind("done", lambda r: [r.http()])
KINDS = MappingProxyType(
    {"right": _RIGHT, **_CONNECTION, **_FRAMES, **_STATUSES, **_HEADERS, **_CONTENTS, **_ANOTHERS}
    | {name: replace(kind, protocol="mcp") for name, kind in _MCP.items()}
)
"""All of them, by name."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """What one request meets."""

    name: str = "right"
    is_done: bool = True
    seed: int = 0

    @property
    def kind(self):
        """The kind of reply."""
        return KINDS[self.name]

    def does(self):
        """Whether a write that meets it is done."""
        if self.kind.cut is not None or self.kind.truth in {"refused", "turned away"}:
            return False
        return self.is_done or self.kind.truth == "done"


def stroke(dice, protocol):
    """A stroke, drawn."""
    names = [name for name, kind in KINDS.items() if kind.protocol in {"", protocol}]
    return Stroke(dice.choice(names), dice.random() < 0.5, dice.randrange(1_000_000))


def _one(reply, *choices):
    return reply.dice.choice(choices)


def _interim(status):
    return b"HTTP/1.1 %d Wait\r\n\r\n" % status


def _cut(reply):
    return reply.http()[: -reply.dice.randrange(1, len(reply.body()))]


def _blank(reply):
    return reply.head() + b" " * 500


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
    ways = (
        name,
        name.upper(),
        name.swapcase(),
        unicodedata.normalize("NFD", name),
        escape(name),
        "".join(f"&#{ord(letter)};" for letter in name),
        f"field last_name: «{name}»",
    )
    return f"{reply.dice.choice(ways)} is booked already"


def _text(reply):
    return _words(reply).encode()


def _nulls(value):
    """The same members, none of which says anything."""
    return dict.fromkeys(value) if isinstance(value, dict) else [None]


def _beside(reply, value):
    """The right body, whose content has one more member."""
    body = reply.body()
    return b'{"extra": ' + value + b", " + body[1:] if body[:1] == b"{" else body


def _ping():
    return encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})


def _both(reply, code):
    result = {"content": [{"type": "text", "text": encode(reply.value).decode()}]}
    return reply.message(result=result, error={"code": code, "message": "no"})
