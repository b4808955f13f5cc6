"""Faults that corrupt a reply after the work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from starlette.responses import Response

from ferry_sdk.sandbox.faults.kinds import Details, Duration
from ferry_sdk.sandbox.faults.request_faults import Failure, request_timeout
from ferry_sdk.sandbox.faults.socket_faults import (
    CloseAfterReply,
    DropReply,
    HoldEnd,
    TrickleBody,
    TruncateReply,
)
from ferry_sdk.sandbox.http.connection import connection_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from ferry_sdk.sandbox.http.connection import Plan

_PAGE = b"<!doctype html><title>Maintenance</title><p>We are back soon."


class ReplyFault(Details):
    """A fault that replaces a good reply."""

    def corrupt(self, request: Request, response: Response) -> Response:
        """Return the response to send instead of `response`."""
        raise NotImplementedError


class ConnectionFault(ReplyFault):
    """A fault of the connection: the reply is good, but is not sent normally."""

    def plan(self) -> Plan:
        """Return the way to send the reply."""
        raise NotImplementedError

    def corrupt(self, request: Request, response: Response) -> Response:
        """Return the same response, to be sent by the plan."""
        connection_of(request.scope).plan = self.plan()
        return response


class LoseReply(ConnectionFault):
    """The connection is cut without a reply.

    Attributes:
        reset: Whether the connection ends with a reset instead of an orderly close.
    """

    reset: bool = False

    def plan(self) -> Plan:
        """Drop the reply."""
        return DropReply(reset=self.reset)


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

    def plan(self) -> Plan:
        """Truncate the reply."""
        return TruncateReply(self.keep, self.chunked, self.reset)


class Trickle(ConnectionFault):
    """The body arrives slowly.

    Attributes:
        seconds: The real seconds from the first piece to the last.
        pieces: The number of pieces.
    """

    seconds: Duration = 1.0
    pieces: Annotated[int, Field(ge=2, le=10_000)] = 10

    def plan(self) -> Plan:
        """Send the body in pieces."""
        return TrickleBody(self.seconds, self.pieces)


class LeaveOpen(ConnectionFault):
    """The end of the reply is delayed.

    Attributes:
        seconds: The delay in real seconds.
    """

    seconds: Duration = 60.0

    def plan(self) -> Plan:
        """Delay the end of the reply."""
        return HoldEnd(self.seconds)


class CloseConnection(ConnectionFault):
    """The connection closes after the reply, without a `Connection: close`."""

    def plan(self) -> Plan:
        """Close the connection after the reply."""
        return CloseAfterReply()


class FailAfter(Failure, ReplyFault):
    """The server reports an error although the work is done."""

    def corrupt(self, request: Request, response: Response) -> Response:
        """Return the error response."""
        del request, response
        return self.answer()


class RequestTimeoutAfter(ReplyFault):
    """The server reports a timeout although the work is done."""

    def corrupt(self, request: Request, response: Response) -> Response:
        """Return a 408."""
        del request, response
        return request_timeout()


class BodyFault(ReplyFault):
    """The reply has another body.

    Attributes:
        status: The HTTP status; `None` keeps the status of the reply.
    """

    status: Annotated[int, Field(ge=200, le=599)] | None = None
    _media_type = "application/json"

    def body(self, good: bytes) -> bytes:
        """Return the body to send instead of the good one."""
        raise NotImplementedError

    def corrupt(self, request: Request, response: Response) -> Response:
        """Return a response with the other body."""
        del request
        body = self.body(bytes(response.body))
        return Response(body, self.status or response.status_code, media_type=self._media_type)


class HtmlPage(BodyFault):
    """An HTML page."""

    _media_type = "text/html"

    def body(self, good: bytes) -> bytes:
        """Return the page."""
        del good
        return _PAGE


class NotJson(BodyFault):
    """Invalid JSON."""

    def body(self, good: bytes) -> bytes:
        """Return the body without its last byte."""
        return good[:-1] or b"{"


class NotUtf8(BodyFault):
    """Invalid UTF-8."""

    def body(self, good: bytes) -> bytes:
        """Return the body with an invalid byte in its first string."""
        return good.replace(b'"', b'"\xff', 1) if b'"' in good else b'"\xff"'


class EmptyBody(BodyFault):
    """An empty body."""

    def body(self, good: bytes) -> bytes:
        """Return no bytes."""
        del good
        return b""
