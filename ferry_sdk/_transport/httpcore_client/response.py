"""The replies to requests, which give their connection back in the end."""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from typing import Any, cast

import httpcore

from ferry_sdk._transport.headers import parse_headers


class ResponseHead:
    """How a reply begins."""

    __slots__ = ("_response",)

    is_stream_consumed = False

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    @property
    def status_code(self) -> int:
        """The status."""
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; one that comes twice is one list."""
        return parse_headers(self._response.headers)

    @property
    def extensions(self) -> Mapping[str, Any]:
        """What else is known of it, such as the connection it came on."""
        known: Any = vars(self._response)["extensions"]
        return cast("Mapping[str, Any]", known)


class Response(ResponseHead):
    """A reply whose body is read by waiting for it.

    Args:
        response: The reply.
        end: Called when it is read, or not wanted any longer.
    """

    __slots__ = ("_end",)

    def __init__(self, response: httpcore.Response, end: Callable[[], None]) -> None:
        super().__init__(response)
        self._end = end

    def iter_raw(self) -> Iterator[bytes]:
        """The body as it comes in."""
        return iter(cast("Iterable[bytes]", self._response.stream))

    iter_bytes = iter_raw

    def close(self) -> None:
        """Leave the rest of the body unread."""
        self._end()


class AsyncResponse(ResponseHead):
    """A reply whose body is awaited.

    Args:
        response: The reply.
        end: Awaited when it is read, or not wanted any longer.
    """

    __slots__ = ("_end",)

    def __init__(self, response: httpcore.Response, end: Callable[[], Awaitable[None]]) -> None:
        super().__init__(response)
        self._end = end

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """The body as it comes in."""
        return aiter(cast("AsyncIterable[bytes]", self._response.stream))

    aiter_bytes = aiter_raw

    async def aclose(self) -> None:
        """Leave the rest of the body unread."""
        await self._end()
