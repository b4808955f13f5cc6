"""The interface of an HTTP client: the part of httpx's API that httpx2 shares."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Protocol, TypeVar

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
