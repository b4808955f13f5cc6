"""HTTP clients that send nothing, so that only the library's own work is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator, Mapping

    Answer = Callable[[str, bytes], "MemoryReply"]

Request = tuple[str, bytes]
"""The URL and the body of a request."""


@dataclass(frozen=True, slots=True)
class MemoryReply:
    """A reply with the headers that the service's replies have.

    Attributes:
        body: The body.
        status_code: The status.
        request_id: The id that the service gives the request.
        more_headers: Other headers.
        piece_size: Bytes of the pieces in which the body arrives; it arrives whole if it is 0.
    """

    body: bytes
    status_code: int = 200
    request_id: str = "r1"
    more_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    piece_size: int = 0
    headers: Mapping[str, str] = field(init=False)
    is_stream_consumed: bool = field(init=False, default=False)
    extensions: Mapping[str, Any] = field(init=False, default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        headers = {
            "Content-Type": "application/json",
            "Date": "Fri, 01 May 2026 12:00:00 GMT",
            "X-Request-Id": self.request_id,
        }
        object.__setattr__(self, "headers", headers | dict(self.more_headers))

    def iter_raw(self) -> Iterator[bytes]:
        """Yield the body."""
        size = self.piece_size or len(self.body) or 1
        for start in range(0, len(self.body), size):
            yield self.body[start : start + size]

    async def aiter_raw(self) -> AsyncGenerator[bytes]:
        """Yield the body."""
        for piece in self.iter_raw():
            yield piece

    iter_bytes = iter_raw
    aiter_bytes = aiter_raw

    def close(self) -> None:
        """Do nothing: there is no connection."""

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


def always(reply: MemoryReply) -> Answer:
    """Return the same reply to every request."""
    return lambda _url, _content: reply


def by_word(bodies: Mapping[bytes, bytes]) -> Answer:
    """Return the reply whose word is in the request; an empty body is a 202."""
    replies: dict[bytes, MemoryReply] = {}
    for word, body in bodies.items():
        replies[word] = MemoryReply(body) if body else MemoryReply(b"", 202)

    def answer(_url: str, content: bytes) -> MemoryReply:
        return next(reply for word, reply in replies.items() if word in content)

    return answer


class _MemoryClient:
    is_closed = False

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def build_request(
        self, method: str, url: str, *, content: bytes | None = None, **_: object
    ) -> Request:
        """Return what the answer depends on."""
        del method
        return url, content or b""


class MemoryClient(_MemoryClient):
    """A sync client whose replies a function makes.

    Args:
        answer: Returns the reply to a URL and a body.
    """

    def send(self, request: Request, **_: object) -> MemoryReply:
        """Return the reply."""
        return self._answer(*request)

    def close(self) -> None:
        """Do nothing: there is no connection."""


class AsyncMemoryClient(_MemoryClient):
    """An async client whose replies a function makes.

    Args:
        answer: Returns the reply to a URL and a body.
    """

    async def send(self, request: Request, **_: object) -> MemoryReply:
        """Return the reply."""
        return self._answer(*request)

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""
