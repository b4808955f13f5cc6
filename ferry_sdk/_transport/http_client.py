"""The interface of an HTTP client: the part of httpx's API that httpx2 shares."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Final, Protocol

LOWEST_FINAL: Final = 200
"""The lowest status of a final reply; lower ones are of interim replies."""

Request = Any
"""A request, of the client's own type."""


class Requests(Protocol):
    """Builds requests from a method and a URL, with the arguments that `Exchange` names."""

    @property
    def is_closed(self) -> bool: ...

    @property
    def build_request(self) -> Callable[..., Request]: ...


class HttpClient(Requests, Protocol):
    """An `httpx.Client`, httpx2's, or an object with the same methods."""

    def send(
        self, request: Request, *, stream: bool, auth: None, follow_redirects: bool
    ) -> HttpResponse: ...

    def close(self) -> None: ...


class AsyncHttpClient(Requests, Protocol):
    """An `httpx.AsyncClient`, httpx2's, or an object with the same methods."""

    async def send(
        self, request: Request, *, stream: bool, auth: None, follow_redirects: bool
    ) -> HttpResponse: ...

    async def aclose(self) -> None: ...


class HttpResponse(Protocol):
    """A reply with a body that threads or tasks read; `iter_bytes` decompresses it.

    Repeated headers are joined with a comma. If a mock has loaded the body already, the stream is
    consumed. `extensions` has more, such as the connection. If a reply is closed early, the rest of
    its body stays unread.
    """

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def is_stream_consumed(self) -> bool: ...

    @property
    def extensions(self) -> Mapping[str, Any]: ...

    def iter_bytes(self) -> Iterator[bytes]: ...

    def iter_raw(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...

    def aiter_raw(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...
