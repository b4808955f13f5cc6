"""The interface of an HTTP client: the part of httpx's API that httpx2 shares.

`parse_headers` is for the library's own clients.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from ferry_sdk._engine.http import Headers

RequestT = TypeVar("RequestT")
RequestT_co = TypeVar("RequestT_co", covariant=True)


class Requests(Protocol[RequestT_co]):
    """Builds requests of its own type."""

    @property
    def is_closed(self) -> bool:
        """Whether the client is closed."""
        ...

    def build_request(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: tuple[float | None, float | None, float | None, float | None],
        extensions: dict[str, Any] | None = None,
    ) -> RequestT_co:
        """Build a request without sending it; `timeout` is connect, read, write, pool."""
        ...


class HttpClient(Requests[RequestT], Protocol[RequestT]):
    """An `httpx.Client`, httpx2's, or an object with the same methods."""

    def send(
        self, request: RequestT, *, stream: bool, auth: None, follow_redirects: bool
    ) -> HttpResponse:
        """Send a request and return its reply with the body unread."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class AsyncHttpClient(Requests[RequestT], Protocol[RequestT]):
    """An `httpx.AsyncClient`, httpx2's, or an object with the same methods."""

    async def send(
        self, request: RequestT, *, stream: bool, auth: None, follow_redirects: bool
    ) -> AsyncHttpResponse:
        """Send a request and return its reply with the body unread."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class HttpHead(Protocol):
    """Status and headers of a reply."""

    @property
    def status_code(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; repeated ones are joined with a comma."""
        ...

    @property
    def is_stream_consumed(self) -> bool:
        """Whether the body is loaded already, as in a mock."""
        ...

    @property
    def extensions(self) -> Mapping[str, Any]:
        """Additional information, such as the connection."""
        ...


class HttpResponse(HttpHead, Protocol):
    """A reply with a body that is read synchronously."""

    def iter_bytes(self) -> Iterator[bytes]:
        """Yield the decompressed body as it arrives."""
        ...

    def iter_raw(self) -> Iterator[bytes]:
        """Yield the raw body as it arrives."""
        ...

    def close(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        ...


class AsyncHttpResponse(HttpHead, Protocol):
    """A reply with a body that is read asynchronously."""

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the decompressed body as it arrives."""
        ...

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """Yield the raw body as it arrives."""
        ...

    async def aclose(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        ...


def parse_headers(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers; repeated ones are joined with a comma."""
    values: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = _name_of(raw_name), _text_of(raw_value)
        values[name] = f"{values[name]}, {value}" if name in values else value
    return Headers.of(values)


@lru_cache(maxsize=256)
def _name_of(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
