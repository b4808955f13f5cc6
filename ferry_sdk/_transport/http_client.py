"""The interface of an HTTP client: the part of httpx's API that httpx2 shares."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Protocol, TypeVar

RequestT = TypeVar("RequestT")
RequestT_co = TypeVar("RequestT_co", covariant=True)


class Requests(Protocol[RequestT_co]):
    """Builds requests of its own type; `timeout` is connect, read, write, pool."""

    @property
    def is_closed(self) -> bool: ...

    def build_request(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: tuple[float | None, float | None, float | None, float | None],
        extensions: dict[str, Any] | None = None,
    ) -> RequestT_co: ...


class HttpClient(Requests[RequestT], Protocol[RequestT]):
    """An `httpx.Client`, httpx2's, or an object with the same methods."""

    def send(
        self, request: RequestT, *, stream: bool, auth: None, follow_redirects: bool
    ) -> HttpResponse: ...

    def close(self) -> None: ...


class AsyncHttpClient(Requests[RequestT], Protocol[RequestT]):
    """An `httpx.AsyncClient`, httpx2's, or an object with the same methods."""

    async def send(
        self, request: RequestT, *, stream: bool, auth: None, follow_redirects: bool
    ) -> AsyncHttpResponse: ...

    async def aclose(self) -> None: ...


class HttpHead(Protocol):
    """Status and headers of a reply.

    Repeated headers are joined with a comma. A mock may have loaded the body already, so that the
    stream is consumed. The extensions have more, such as the connection.
    """

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def is_stream_consumed(self) -> bool: ...

    @property
    def extensions(self) -> Mapping[str, Any]: ...


class HttpResponse(HttpHead, Protocol):
    """A reply with a body that is read synchronously; `iter_bytes` decompresses it.

    A reply that is closed early leaves the rest of its body unread.
    """

    def iter_bytes(self) -> Iterator[bytes]: ...

    def iter_raw(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class AsyncHttpResponse(HttpHead, Protocol):
    """The same, read asynchronously."""

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...

    def aiter_raw(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...
