"""Replies, which give their connection back when they are closed."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import httpcore

from ferry_sdk._transport.http_client import parse_headers


class _Head:
    """Status and headers of a reply.

    Args:
        response: The reply.
        end: Called, or awaited, when the reply is closed.
    """

    is_stream_consumed = False

    def __init__(self, response: httpcore.Response, end: Callable[[], Any]) -> None:
        self._response = response
        self._end = end

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


class Response(_Head):
    """A reply with a body that is read synchronously."""

    def iter_raw(self) -> Iterator[bytes]:
        """Return the pieces of the body."""
        return iter(cast("Iterable[bytes]", self._response.stream))

    iter_bytes = iter_raw

    def close(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        self._end()


class AsyncResponse(_Head):
    """A reply with a body that is read asynchronously."""

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """Return the pieces of the body."""
        return aiter(cast("AsyncIterable[bytes]", self._response.stream))

    aiter_bytes = aiter_raw

    async def aclose(self) -> None:
        """Close the reply; the rest of the body stays unread."""
        await self._end()
