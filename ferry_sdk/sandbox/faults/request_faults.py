"""Faults that answer a request before its work is done."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field
from starlette.responses import JSONResponse, Response

from ferry_sdk.sandbox.faults.kinds import Details
from ferry_sdk.sandbox.faults.socket_faults import DropReply
from ferry_sdk.sandbox.http.connection import connection_of

if TYPE_CHECKING:
    from starlette.requests import Request

_UNAUTHORIZED: Final = 401


class RequestFault(Details):
    """A fault that answers instead of the work."""

    def respond(self, request: Request) -> Response:
        """Return the response."""
        raise NotImplementedError


class CutBefore(RequestFault):
    """The connection is cut.

    Attributes:
        reset: Whether the connection ends with a reset instead of an orderly close.
    """

    reset: bool = False

    def respond(self, request: Request) -> Response:
        """Drop the reply."""
        connection_of(request.scope).plan = DropReply(reset=self.reset)
        return Response()


class Failure(Details):
    """An error of the server.

    Attributes:
        status: The HTTP status.
        retry_after: The value of `Retry-After` in seconds; `None` omits the header.
        as_date: Whether the header contains an HTTP date.
    """

    status: Annotated[int, Field(ge=500, le=599)] = 503
    retry_after: Annotated[int, Field(ge=0, le=86_400)] | None = None
    as_date: bool = False

    def answer(self) -> Response:
        """Return the error response."""
        headers = _retry_after_header(self.retry_after, as_date=self.as_date)
        return _problem(self.status, "SERVER_ERROR", "The service failed", headers)


class FailBefore(Failure, RequestFault):
    """The server fails, and the work is not done."""

    def respond(self, request: Request) -> Response:
        """Return the error response."""
        del request
        return self.answer()


class RateLimited(RequestFault):
    """Too many requests.

    Attributes:
        retry_after: The value of `Retry-After` in seconds; `None` omits the header.
        as_date: Whether the header contains an HTTP date.
    """

    retry_after: Annotated[int, Field(ge=0, le=86_400)] | None = None
    as_date: bool = False

    def respond(self, request: Request) -> Response:
        """Return a 429."""
        del request
        headers = _retry_after_header(self.retry_after, as_date=self.as_date)
        return _problem(429, "RATE_LIMITED", "Too many requests", headers)


class RequestTimeout(RequestFault):
    """The server times out while it waits for the request."""

    def respond(self, request: Request) -> Response:
        """Return a 408."""
        del request
        return request_timeout()


class Unauthorized(RequestFault):
    """A valid token is rejected.

    Attributes:
        status: 401, as if the token were unknown; 403, as if its access were insufficient.
    """

    status: Literal[401, 403] = 401

    def respond(self, request: Request) -> Response:
        """Return the status with a `WWW-Authenticate` header."""
        del request
        unknown = self.status == _UNAUTHORIZED
        error = "invalid_token" if unknown else "insufficient_scope"
        return _problem(
            self.status,
            "UNAUTHORIZED" if unknown else "FORBIDDEN",
            "The token is unknown" if unknown else "The token does not allow this",
            {"www-authenticate": f'Bearer error="{error}"'},
        )


class NotAcceptable(RequestFault):
    """The requested or the sent content type is rejected.

    Attributes:
        status: The HTTP status.
    """

    status: Literal[406, 415] = 406

    def respond(self, request: Request) -> Response:
        """Return the status."""
        del request
        return _problem(self.status, "NOT_ACCEPTABLE", "Not in this form")


class Redirect(RequestFault):
    """The client is redirected.

    Attributes:
        status: The HTTP status.
        location: The target, absolute or relative.
    """

    status: Literal[301, 302, 303, 307, 308] = 307
    location: Annotated[str, Field(pattern=r"^[!-~]+$")] = "/elsewhere"

    def respond(self, request: Request) -> Response:
        """Return the redirect."""
        del request
        return Response(status_code=self.status, headers={"location": self.location})


def request_timeout() -> Response:
    """Return the 408 response."""
    return _problem(408, "REQUEST_TIMEOUT", "The request took too long")


def _problem(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> Response:
    return JSONResponse({"error": True, "code": code, "message": message}, status, headers)


def _retry_after_header(seconds: int | None, *, as_date: bool) -> dict[str, str]:
    if seconds is None:
        return {}
    again = formatdate(time.time() + seconds, usegmt=True) if as_date else str(seconds)
    return {"retry-after": again}
