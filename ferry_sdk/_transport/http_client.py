"""What is asked of an HTTP client: the part of httpx's interface that httpx2 has as well."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Protocol, TypeVar

RequestT = TypeVar("RequestT")
RequestT_co = TypeVar("RequestT_co", covariant=True)


class Requests(Protocol[RequestT_co]):
    """Makes requests, of its own kind."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
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
        """Make a request and send nothing; the time-outs: connect, read, write, pool."""
        ...


class HttpClient(Requests[RequestT], Protocol[RequestT]):
    """An `httpx.Client`, httpx2's, or what else has these methods of theirs."""

    def send(
        self, request: RequestT, *, stream: bool, auth: None, follow_redirects: bool
    ) -> HttpResponse:
        """Send a request and give its reply, the body not yet read."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class AsyncHttpClient(Requests[RequestT], Protocol[RequestT]):
    """An `httpx.AsyncClient`, httpx2's, or what else has these methods of theirs."""

    async def send(
        self, request: RequestT, *, stream: bool, auth: None, follow_redirects: bool
    ) -> AsyncHttpResponse:
        """Send a request and give its reply, the body not yet read."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class HttpHead(Protocol):
    """How a reply begins."""

    @property
    def status_code(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; one that comes twice is one list."""
        ...

    @property
    def is_stream_consumed(self) -> bool:
        """Whether the body is there already, as in a double that was made with it."""
        ...

    @property
    def extensions(self) -> Mapping[str, Any]:
        """What else is known of it, such as the connection it came on."""
        ...


class HttpResponse(HttpHead, Protocol):
    """A reply whose body is read by waiting for it."""

    def iter_bytes(self) -> Iterator[bytes]:
        """The body as it comes in, decoded."""
        ...

    def iter_raw(self) -> Iterator[bytes]:
        """The body as it comes in."""
        ...

    def close(self) -> None:
        """Leave the rest of the body unread."""
        ...


class AsyncHttpResponse(HttpHead, Protocol):
    """A reply whose body is awaited."""

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it comes in, decoded."""
        ...

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """The body as it comes in."""
        ...

    async def aclose(self) -> None:
        """Leave the rest of the body unread."""
        ...
