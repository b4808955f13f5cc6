"""Replies, which give their connection back when they are closed."""

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

from ferry_sdk._transport.http_client import parse_headers


class ResponseHead:
    """Status and headers of a reply."""

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
        """The headers; repeated ones are joined with a comma."""
        return parse_headers(self._response.headers)

    @property
    def extensions(self) -> Mapping[str, Any]:
        """Additional information, such as the connection."""
        known: Any = vars(self._response)["extensions"]
        return cast("Mapping[str, Any]", known)


class Response(ResponseHead):
    """A reply with a body that is read synchronously.

    Args:
        response: The reply.
        end: Called when the reply is closed.
    """

    __slots__ = ("_end",)

    def __init__(self, response: httpcore.Response, end: Callable[[], None]) -> None:
        super().__init__(response)
        self._end = end

    def iter_raw(self) -> Iterator[bytes]:
        """Return the pieces of the body."""
        return iter(cast("Iterable[bytes]", self._response.stream))

    iter_bytes = iter_raw

    def close(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        self._end()


class AsyncResponse(ResponseHead):
    """A reply with a body that is read asynchronously.

    Args:
        response: The reply.
        end: Awaited when the reply is closed.
    """

    __slots__ = ("_end",)

    def __init__(self, response: httpcore.Response, end: Callable[[], Awaitable[None]]) -> None:
        super().__init__(response)
        self._end = end

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """Return the pieces of the body."""
        return aiter(cast("AsyncIterable[bytes]", self._response.stream))

    aiter_bytes = aiter_raw

    async def aclose(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        await self._end()
