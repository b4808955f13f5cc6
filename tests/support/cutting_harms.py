"""What can be done to a request on its way, and the note that is kept of each."""

from __future__ import annotations

from dataclasses import dataclass

POSITIONS = ("nothing", "line", "headers", "head", "body", "last", "all")
"""Before a message's first byte, amid its first line, amid its headers, before its body, amid its
body, before its last byte, after it."""
_AMID_THE_FIRST_LINE = 10
_BODILESS = {b"202", b"204", b"304"}


@dataclass(frozen=True, slots=True)
class Harm:
    """One order.

    At the door: `refuse` (nobody listens) or `unreachable` (nobody answers an attempt to connect).
    To a connection: `close`, as soon as it is accepted. To a request: `cut_request` once so much of
    it has gone on, `swallow`, `delay_request`. To its reply: the rest; `trickle` goes byte by byte.
    """

    kind: str
    at: str = "nothing"
    reset: bool = False
    seconds: float = 0.0  # of a shut door (0: until all is cleared), a delay, a wait in a trickle
    after: int = 0  # how many requests (for `close`: connections) go unharmed first
    times: int | None = 1  # None is always; a door is shut once

    @property
    def phase(self):
        if self.kind in {"refuse", "unreachable"}:
            return "door"
        return "connection" if self.kind == "close" else "request"


class Order:
    """A harm that is still to come."""

    def __init__(self, harm):
        self.harm = harm
        self._passed = 0
        self._left = 1 if harm.phase == "door" else harm.times

    def is_due(self):
        """Whether it strikes the request that begins now; asked once for each."""
        if self._left == 0:
            return False
        # A door is shut behind the last request that goes unharmed, not before the next.
        if self._passed < self.harm.after - (self.harm.phase == "door"):
            self._passed += 1
            return False
        return True

    def taken(self):
        if self._left is not None:
            self._left -= 1
        return self.harm


@dataclass(slots=True)
class Passage:
    """A request and its reply, and how much of each the proxy let through."""

    request: bytes = b""
    forwarded: int = 0
    reply: bytes = b""
    delivered: int = 0
    harm: Harm | None = None
    is_over: bool = False

    @property
    def reached_service(self):
        return is_whole(self.request[: self.forwarded])

    @property
    def was_answered(self):
        return is_whole(self.reply[: self.delivered])


def is_whole(data):
    """Whether the bytes are a complete message of HTTP."""
    size = _size(data)
    return size is not None and len(data) >= size


def offset_of(at, data):
    """The byte at which a message that begins so has come so far; None if not known yet."""
    if at == "nothing":
        return 0
    if at == "line":
        return _AMID_THE_FIRST_LINE
    head, size = _head_size(data), _size(data)
    if head is not None and at in {"headers", "head"}:
        return head if at == "head" else head // 2
    if head is None or size is None:
        return None
    return {"body": (head + size) // 2, "last": size - 1}.get(at, size)


def _head_size(data):
    end = data.find(b"\r\n\r\n")
    return None if end < 0 else end + 4


def _size(data):
    head = _head_size(data)
    if head is None:
        return None
    first, *lines = data[: head - 4].split(b"\r\n")
    fields = dict(line.lower().replace(b" ", b"").split(b":", 1) for line in lines)
    if fields.get(b"transfer-encoding") == b"chunked":
        end = data.find(b"\r\n0\r\n\r\n", head - 2)
        return None if end < 0 else end + 7
    if b"content-length" in fields:
        return head + int(fields[b"content-length"])
    ends_with_its_head = not first.startswith(b"HTTP/") or first.split(b" ")[1] in _BODILESS
    return head if ends_with_its_head else None
