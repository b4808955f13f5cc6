"""Faults that answer a request before its work is done, or corrupt the reply afterwards."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from typing import Annotated, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from ferry_sdk.sandbox.faults.kinds import Details, Duration
from ferry_sdk.sandbox.http.conventions import problem
from ferry_sdk.sandbox.http.server import Connection, Reply, connection_of

_ACCESS_ERRORS = {
    401: ("invalid_token", "UNAUTHORIZED", "The token is unknown"),
    403: ("insufficient_scope", "FORBIDDEN", "The token does not allow this"),
}


class ErrorFault(Details):
    """A fault that sends a response of its own."""

    def answer(self) -> Response:
        """Return the response."""
        raise NotImplementedError


class RequestFault(ErrorFault):
    """A fault that answers instead of the work."""

    def respond(self, _: Request, /) -> Response:
        """Return the response."""
        return self.answer()


class ReplyFault(ErrorFault):
    """A fault that replaces a good reply."""

    def corrupt(self, _: Request, _response: Response, /) -> Response:
        """Return the response to send instead of the good one."""
        return self.answer()


class Cut(Details):
    """A fault that cuts the connection without a reply.

    Attributes:
        reset: Whether the connection ends with a reset instead of an orderly close.
    """

    reset: bool = False

    async def __call__(self, connection: Connection, _: Reply, /) -> None:
        """Cut the connection."""
        await connection.cut(reset=self.reset)


class CutBefore(Cut, RequestFault):
    """The connection is cut before the work."""

    def respond(self, request: Request, /) -> Response:
        """Let the fault send nothing."""
        connection_of(request.scope).plan = self
        return Response()


class RetryAfter(ErrorFault):
    """A fault whose reply can say when to retry.

    Attributes:
        retry_after: The value of `Retry-After` in seconds; `None` omits the header.
        as_date: Whether the header contains an HTTP date.
    """

    retry_after: Annotated[int, Field(ge=0, le=86_400)] | None = None
    as_date: bool = False

    def headers(self) -> dict[str, str]:
        """Return the header, if any."""
        if self.retry_after is None:
            return {}
        moment = formatdate(time.time() + self.retry_after, usegmt=True)
        return {"retry-after": moment if self.as_date else str(self.retry_after)}


class Failure(RetryAfter):
    """An error of the server.

    Attributes:
        status: The HTTP status.
    """

    status: Annotated[int, Field(ge=500, le=599)] = 503

    def answer(self) -> Response:
        """Return the error response."""
        return problem(self.status, "SERVER_ERROR", "The service failed", self.headers())


class FailBefore(Failure, RequestFault):
    """The server fails, and the work is not done."""


class RateLimited(RetryAfter, RequestFault):
    """Too many requests."""

    def answer(self) -> Response:
        """Return a 429."""
        return problem(429, "RATE_LIMITED", "Too many requests", self.headers())


class Timeout(ErrorFault):
    """The server reports a timeout."""

    def answer(self) -> Response:
        """Return a 408."""
        return problem(408, "REQUEST_TIMEOUT", "The request took too long")


class RequestTimeout(Timeout, RequestFault):
    """The server times out while it waits for the request."""


class Unauthorized(RequestFault):
    """A valid token is rejected.

    Attributes:
        status: 401, as if the token were unknown; 403, as if its access were insufficient.
    """

    status: Literal[401, 403] = 401

    def answer(self) -> Response:
        """Return the status with a `WWW-Authenticate` header."""
        error, code, message = _ACCESS_ERRORS[self.status]
        challenge = {"www-authenticate": f'Bearer error="{error}"'}
        return problem(self.status, code, message, challenge)


class NotAcceptable(RequestFault):
    """The requested or the sent content type is rejected.

    Attributes:
        status: The HTTP status.
    """

    status: Literal[406, 415] = 406

    def answer(self) -> Response:
        """Return the status."""
        return problem(self.status, "NOT_ACCEPTABLE", "Not in this form")


class Redirect(RequestFault):
    """The client is redirected.

    Attributes:
        status: The HTTP status.
        location: The target, absolute or relative.
    """

    status: Literal[301, 302, 303, 307, 308] = 307
    location: Annotated[str, Field(pattern=r"^[!-~]+$")] = "/elsewhere"

    def answer(self) -> Response:
        """Return the redirect."""
        return Response(status_code=self.status, headers={"location": self.location})


class ConnectionFault(ReplyFault):
    """A fault of the connection: the reply is good, but the fault itself sends it."""

    async def __call__(self, connection: Connection, reply: Reply, /) -> None:
        """Send the reply, or a part of it."""
        raise NotImplementedError

    def corrupt(self, request: Request, response: Response, /) -> Response:
        """Return the same response, to be sent by the fault."""
        connection_of(request.scope).plan = self
        return response


class LoseReply(Cut, ConnectionFault):
    """The connection is cut after the work, without a reply."""


class Truncate(ConnectionFault):
    """The reply is truncated.

    Attributes:
        keep: The fraction of the body that is sent, always without the last byte.
        chunked: Whether the body is chunked, without a content length.
        reset: Whether the connection ends with a reset instead of an orderly close.
    """

    keep: Annotated[float, Field(ge=0, le=1)] = 0.5
    chunked: bool = False
    reset: bool = False

    async def __call__(self, connection: Connection, reply: Reply, /) -> None:
        """Send the start of the body, then end the connection."""
        kept = min(int(len(reply.body) * self.keep), max(len(reply.body) - 1, 0))
        await connection.start(reply.without_length() if self.chunked else reply.start)
        await connection.body(reply.body[:kept], more=True)
        if self.reset:
            await connection.cut(reset=True)
        else:
            await connection.close()
            await connection.wait_closed()


class Trickle(ConnectionFault):
    """The body arrives slowly.

    Attributes:
        seconds: The real seconds from the first piece to the last.
        pieces: The number of pieces.
    """

    seconds: Duration = 1.0
    pieces: Annotated[int, Field(ge=2, le=10_000)] = 10

    async def __call__(self, connection: Connection, reply: Reply, /) -> None:
        """Send the body in equal pieces at equal intervals."""
        size = max(-(-len(reply.body) // self.pieces), 1)
        await connection.start(reply.start)
        for begin in range(0, len(reply.body), size):
            if begin:
                await asyncio.sleep(self.seconds / (self.pieces - 1))
            await connection.body(reply.body[begin : begin + size], more=True)
        await connection.body(b"", more=False)


class LeaveOpen(ConnectionFault):
    """The end of the reply is delayed.

    Attributes:
        seconds: The delay in real seconds.
    """

    seconds: Duration = 60.0

    async def __call__(self, connection: Connection, reply: Reply, /) -> None:
        """Send the reply in chunks and delay the last, empty chunk."""
        await connection.start(reply.without_length())
        await connection.body(reply.body, more=True)
        try:
            await asyncio.wait_for(connection.wait_closed(), self.seconds)
        except asyncio.TimeoutError:
            await connection.body(b"", more=False)


class CloseConnection(ConnectionFault):
    """The connection closes after the reply, without a `Connection: close`."""

    async def __call__(self, connection: Connection, reply: Reply, /) -> None:
        """Send the reply and close the connection."""
        await connection.start(reply.start)
        await connection.body(reply.body, more=False)
        await connection.close()


class FailAfter(Failure, ReplyFault):
    """The server reports an error although the work is done."""


class RequestTimeoutAfter(Timeout, ReplyFault):
    """The server reports a timeout although the work is done."""


class BodyFault(ReplyFault):
    """The reply has another body.

    Attributes:
        status: The HTTP status; `None` keeps the status of the reply.
    """

    status: Annotated[int, Field(ge=200, le=599)] | None = None
    _media_type = "application/json"

    def body(self, good: bytes, /) -> bytes:
        """Return the body to send instead of the good one."""
        raise NotImplementedError

    def corrupt(self, _: Request, response: Response, /) -> Response:
        """Return a response with the other body."""
        body = self.body(bytes(response.body))
        return Response(body, self.status or response.status_code, media_type=self._media_type)


class HtmlPage(BodyFault):
    """An HTML page."""

    _media_type = "text/html"

    def body(self, _: bytes, /) -> bytes:
        """Return the page."""
        return b"<!doctype html><title>Maintenance</title><p>We are back soon."


class NotJson(BodyFault):
    """Invalid JSON."""

    def body(self, good: bytes, /) -> bytes:
        """Return the body without its last byte."""
        return good[:-1] or b"{"


class NotUtf8(BodyFault):
    """Invalid UTF-8."""

    def body(self, good: bytes, /) -> bytes:
        """Return the body with an invalid byte in its first string."""
        return good.replace(b'"', b'"\xff', 1) if b'"' in good else b'"\xff"'


class EmptyBody(BodyFault):
    """An empty body."""

    def body(self, _: bytes, /) -> bytes:
        """Return no bytes."""
        return b""
