"""Faults that spoil a reply after the work is done."""

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
    """A fault that takes the good reply and gives another."""

    def corrupt(self, request: Request, response: Response) -> Response:
        """The reply in place of `response`."""
        raise NotImplementedError


class ConnectionFault(ReplyFault):
    """A fault of the connection: the reply is good, its way is not."""

    def plan(self) -> Plan:
        """How the reply is put on the wire."""
        raise NotImplementedError

    def corrupt(self, request: Request, response: Response) -> Response:
        """The same reply, with a plan for its way."""
        connection_of(request.scope).plan = self.plan()
        return response


class LoseReply(ConnectionFault):
    """The connection is cut.

    Attributes:
        reset: Whether the client sees a reset rather than an orderly end.
    """

    reset: bool = False

    def plan(self) -> Plan:
        """No reply."""
        return DropReply(reset=self.reset)


class Truncate(ConnectionFault):
    """The reply breaks off.

    Attributes:
        keep: The part of the body that is sent; at least its last byte is kept back.
        chunked: Whether the body comes in chunks, its length not announced.
        reset: Whether the client sees a reset rather than an orderly end.
    """

    keep: Annotated[float, Field(ge=0, le=1)] = 0.5
    chunked: bool = False
    reset: bool = False

    def plan(self) -> Plan:
        """The beginning of the reply."""
        return TruncateReply(self.keep, self.chunked, self.reset)


class Trickle(ConnectionFault):
    """The body comes slowly.

    Attributes:
        seconds: Real seconds from the first piece to the last.
        pieces: How many pieces.
    """

    seconds: Duration = 1.0
    pieces: Annotated[int, Field(ge=2, le=10_000)] = 10

    def plan(self) -> Plan:
        """The reply in pieces."""
        return TrickleBody(self.seconds, self.pieces)


class LeaveOpen(ConnectionFault):
    """The end of the reply is held back.

    Attributes:
        seconds: For how many real seconds.
    """

    seconds: Duration = 60.0

    def plan(self) -> Plan:
        """The reply without its end."""
        return HoldEnd(self.seconds)


class CloseConnection(ConnectionFault):
    """The connection is not kept alive, and nobody said so."""

    def plan(self) -> Plan:
        """The reply, then the end of the connection."""
        return CloseAfterReply()


class FailAfter(Failure, ReplyFault):
    """The server says that it failed, though the work is done."""

    def corrupt(self, request: Request, response: Response) -> Response:
        """Answer the status."""
        del request, response
        return self.answer()


class RequestTimeoutAfter(ReplyFault):
    """The server says that it was tired of waiting, though the work is done."""

    def corrupt(self, request: Request, response: Response) -> Response:
        """Answer 408."""
        del request, response
        return request_timeout()


class BodyFault(ReplyFault):
    """The reply has another body.

    Attributes:
        status: The HTTP status; `None` keeps the one the reply had.
    """

    status: Annotated[int, Field(ge=200, le=599)] | None = None
    _media_type = "application/json"

    def body(self, good: bytes) -> bytes:
        """The body in place of the good one."""
        raise NotImplementedError

    def corrupt(self, request: Request, response: Response) -> Response:
        """The other body under the status."""
        del request
        body = self.body(bytes(response.body))
        return Response(body, self.status or response.status_code, media_type=self._media_type)


class HtmlPage(BodyFault):
    """A page for people."""

    _media_type = "text/html"

    def body(self, good: bytes) -> bytes:
        """The page."""
        del good
        return _PAGE


class NotJson(BodyFault):
    """Nearly JSON."""

    def body(self, good: bytes) -> bytes:
        """All but the last byte."""
        return good[:-1] or b"{"


class NotUtf8(BodyFault):
    """Nearly UTF-8."""

    def body(self, good: bytes) -> bytes:
        """A byte that UTF-8 does not have, in the first string."""
        return good.replace(b'"', b'"\xff', 1) if b'"' in good else b'"\xff"'


class EmptyBody(BodyFault):
    """Nothing."""

    def body(self, good: bytes) -> bytes:
        """No body."""
        del good
        return b""
