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
    """A fault that refuses the request."""

    def respond(self, request: Request) -> Response:
        """The answer in place of the work."""
        raise NotImplementedError


class CutBefore(RequestFault):
    """The connection is cut.

    Attributes:
        reset: Whether the client sees a reset rather than an orderly end.
    """

    reset: bool = False

    def respond(self, request: Request) -> Response:
        """Answer nothing."""
        connection_of(request.scope).plan = DropReply(reset=self.reset)
        return Response()


class Failure(Details):
    """The server says that it failed.

    Attributes:
        status: The HTTP status.
        retry_after: What `Retry-After` says, in seconds; `None` leaves the header out.
        as_date: Whether the header gives that moment as an HTTP date.
    """

    status: Annotated[int, Field(ge=500, le=599)] = 503
    retry_after: Annotated[int, Field(ge=0, le=86_400)] | None = None
    as_date: bool = False

    def answer(self) -> Response:
        """The answer that says so."""
        headers = _retry_after_header(self.retry_after, as_date=self.as_date)
        return _problem(self.status, "SERVER_ERROR", "The service failed", headers)


class FailBefore(Failure, RequestFault):
    """The server says that it failed, and it did."""

    def respond(self, request: Request) -> Response:
        """Answer the status."""
        del request
        return self.answer()


class RateLimited(RequestFault):
    """Too many requests.

    Attributes:
        retry_after: What `Retry-After` says, in seconds; `None` leaves the header out.
        as_date: Whether the header gives that moment as an HTTP date.
    """

    retry_after: Annotated[int, Field(ge=0, le=86_400)] | None = None
    as_date: bool = False

    def respond(self, request: Request) -> Response:
        """Answer 429."""
        del request
        headers = _retry_after_header(self.retry_after, as_date=self.as_date)
        return _problem(429, "RATE_LIMITED", "Too many requests", headers)


class RequestTimeout(RequestFault):
    """The server was tired of waiting."""

    def respond(self, request: Request) -> Response:
        """Answer 408."""
        del request
        return request_timeout()


class Unauthorized(RequestFault):
    """A good token is refused.

    Attributes:
        status: 401, as if the token were unknown; 403, as if it allowed too little.
    """

    status: Literal[401, 403] = 401

    def respond(self, request: Request) -> Response:
        """Answer the status and how to authenticate."""
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
    """The form asked for, or the form of the request, is refused.

    Attributes:
        status: The HTTP status.
    """

    status: Literal[406, 415] = 406

    def respond(self, request: Request) -> Response:
        """Answer the status."""
        del request
        return _problem(self.status, "NOT_ACCEPTABLE", "Not in this form")


class Redirect(RequestFault):
    """The client is sent elsewhere.

    Attributes:
        status: The HTTP status.
        location: The address, absolute or not.
    """

    status: Literal[301, 302, 303, 307, 308] = 307
    location: Annotated[str, Field(pattern=r"^[!-~]+$")] = "/elsewhere"

    def respond(self, request: Request) -> Response:
        """Answer the status and the address."""
        del request
        return Response(status_code=self.status, headers={"location": self.location})


def request_timeout() -> Response:
    """The answer of a server that was tired of waiting."""
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
