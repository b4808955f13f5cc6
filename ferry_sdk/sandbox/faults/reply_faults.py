"""Faults that answer a request before its work is done, or corrupt the reply afterwards.

The web framework is of the extra `sandbox`. It is loaded when a fault answers, so that the names of
the faults are there without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from ferry_sdk.sandbox.faults.details import Details

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_ACCESS_ERRORS = {
    401: ("invalid_token", "UNAUTHORIZED", "The token is unknown"),
    403: ("insufficient_scope", "FORBIDDEN", "The token does not allow this"),
}


def _problem(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with an error of the service."""
    from ferry_sdk.sandbox.http.conventions import problem  # noqa: PLC0415 -- of the extra

    return problem(status, code, message, headers)


def _response(
    body: bytes,
    *,
    status: int,
    headers: Mapping[str, str] | None = None,
    media_type: str | None = None,
) -> Response:
    """Return a response with any body."""
    from starlette.responses import Response  # noqa: PLC0415 -- of the extra

    return Response(body, status_code=status, headers=headers, media_type=media_type)


class ErrorFault(Details):
    """A fault that sends a response of its own."""

    def respond(self, _request: Request, _good: Response, /) -> Response:
        """Return the response to send instead of the good one."""
        raise NotImplementedError


class RequestFault(ErrorFault):
    """A fault that answers instead of the work."""


class ReplyFault(ErrorFault):
    """A fault that replaces a good reply."""


class RetryAfter(ErrorFault):
    """A fault whose reply can say when to retry.

    Attributes:
        retry_after: The value of `Retry-After` in seconds; `None` omits the header.
        as_date: Whether the header contains an HTTP date.
    """

    retry_after: Annotated[int, Field(ge=0, le=86_400)] | None = None
    as_date: bool = False

    def headers(self, request: Request) -> dict[str, str]:
        """Return the header, if any; a date is one of the service's clock."""
        if self.retry_after is None:
            return {}
        if not self.as_date:
            return {"retry-after": str(self.retry_after)}
        moment = request.app.state.clock.now() + timedelta(seconds=self.retry_after)
        return {"retry-after": format_datetime(moment, usegmt=True)}


class Failure(RetryAfter):
    """An error of the server.

    Attributes:
        status: The HTTP status.
    """

    status: Annotated[int, Field(ge=500, le=599)] = 503

    def respond(self, request: Request, _: Response, /) -> Response:
        """Return the error response."""
        return _problem(self.status, "SERVER_ERROR", "The service failed", self.headers(request))


class FailBefore(Failure, RequestFault):
    """The server fails, and the work is not done."""


class RateLimited(RetryAfter, RequestFault):
    """Too many requests."""

    def respond(self, request: Request, _: Response, /) -> Response:
        """Return a 429."""
        return _problem(429, "RATE_LIMITED", "Too many requests", self.headers(request))


class Timeout(ErrorFault):
    """The server reports a timeout."""

    def respond(self, _request: Request, _: Response, /) -> Response:
        """Return a 408."""
        return _problem(408, "REQUEST_TIMEOUT", "The request took too long")


class RequestTimeout(Timeout, RequestFault):
    """The server times out while it waits for the request."""


class Unauthorized(RequestFault):
    """A valid token is rejected.

    Attributes:
        status: 401, as if the token were unknown; 403, as if its access were insufficient.
    """

    status: Literal[401, 403] = 401

    def respond(self, _request: Request, _: Response, /) -> Response:
        """Return the status with a `WWW-Authenticate` header."""
        error, code, message = _ACCESS_ERRORS[self.status]
        challenge = {"www-authenticate": f'Bearer error="{error}"'}
        return _problem(self.status, code, message, challenge)


class NotAcceptable(RequestFault):
    """The requested or the sent content type is rejected.

    Attributes:
        status: The HTTP status.
    """

    status: Literal[406, 415] = 406

    def respond(self, _request: Request, _: Response, /) -> Response:
        """Return the status."""
        return _problem(self.status, "NOT_ACCEPTABLE", "Not in this form")


class Redirect(RequestFault):
    """The client is redirected.

    Attributes:
        status: The HTTP status.
        location: The target, absolute or relative.
    """

    status: Literal[301, 302, 303, 307, 308] = 307
    location: Annotated[str, Field(pattern=r"^[!-~]+$")] = "/elsewhere"

    def respond(self, _request: Request, _: Response, /) -> Response:
        """Return the redirect."""
        return _response(b"", status=self.status, headers={"location": self.location})


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

    def respond(self, _: Request, good: Response, /) -> Response:
        """Return a response with the other body."""
        return _response(
            self.body(bytes(good.body)),
            status=self.status or good.status_code,
            media_type=self._media_type,
        )


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
        if b'"' not in good:
            return b'"\xff"'
        return good.replace(b'"', b'"\xff', 1)


class EmptyBody(BodyFault):
    """An empty body."""

    def body(self, _: bytes, /) -> bytes:
        """Return no bytes."""
        return b""
