"""Everything that can be made to go wrong, by name."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field


class FaultKind(str, Enum):
    """What goes wrong; the value is the name to order it by."""

    CUT_BEFORE = "cut_before"
    """The request is read, nothing is done, the connection is cut."""
    DELAY_BEFORE = "delay_before"
    """The work begins some seconds late."""
    RATE_LIMITED = "rate_limited"
    """Refused with 429, with or without `Retry-After`; nothing is done."""
    SERVER_ERROR = "server_error"
    """Refused with a status of 500 and above; nothing is done."""
    REQUEST_TIMEOUT = "request_timeout"
    """Refused with 408; nothing is done."""
    UNAUTHORIZED = "unauthorized"
    """Refused with 401 or 403 although the token is good; nothing is done."""
    NOT_ACCEPTABLE = "not_acceptable"
    """Refused with 406 or 415; nothing is done."""
    REDIRECT = "redirect"
    """Sent elsewhere; nothing is done."""
    SESSION_EXPIRED = "session_expired"
    """The MCP session the request names ends, and the request meets 404; nothing is done."""
    SESSION_REQUIRED = "session_required"
    """The MCP request is refused with 400 as if it needed a session; nothing is done."""

    LOSE_REPLY = "lose_reply"
    """The work is done, the connection is cut instead of a reply."""
    TRUNCATE = "truncate"
    """The work is done, the reply breaks off and the connection with it."""
    DELAY_AFTER = "delay_after"
    """The work is done at once, its reply comes some seconds late."""
    TRICKLE = "trickle"
    """The work is done, the body of the reply comes piece by piece."""
    LEFT_OPEN = "left_open"
    """The work is done, the whole reply is sent, but its end is not for some seconds."""
    CLOSE_CONNECTION = "close_connection"
    """The work is done and answered, then the kept-alive connection is closed unannounced."""
    SERVER_ERROR_AFTER = "server_error_after"
    """The work is done, the reply is a status of 500 and above."""
    REQUEST_TIMEOUT_AFTER = "request_timeout_after"
    """The work is done, the reply is 408."""
    HTML_PAGE = "html_page"
    """The work is done, the reply is an HTML page."""
    NOT_JSON = "not_json"
    """The work is done, the reply calls itself JSON and is none."""
    NOT_UTF8 = "not_utf8"
    """The work is done, the reply's JSON holds bytes that are not UTF-8."""
    EMPTY_BODY = "empty_body"
    """The work is done, the reply has no body."""

    WRONG_SHAPE = "wrong_shape"
    """The work is done, the reply is good JSON of another shape."""
    UNKNOWN_ENUM = "unknown_enum"
    """A value that no list of values knows stands in one field of the reply."""
    MISSING_FIELD = "missing_field"
    """One field of one record of the reply is missing."""
    NULL_FIELD = "null_field"
    """One field of one record of the reply is null."""

    PRICE_CHANGE = "price_change"
    """A booking is created at another price than was searched."""
    OPTION_EXPIRED = "option_expired"
    """A booking that is confirmed turns out to have expired."""
    TICKET_FAILS = "ticket_fails"
    """One ticket of a booking fails when the booking is confirmed."""

    MCP_ENVELOPE = "mcp_envelope"
    """One MCP reply is shaped by other options than those in force."""


class Details(BaseModel):
    """What may be said about a fault; nothing, unless its kind says more."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)


Duration = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]


class Delay(Details):
    """A request or its reply is held.

    Attributes:
        seconds: For how many real seconds.
    """

    seconds: Duration = 1.0


class PriceChange(Details):
    """A price is another by the time of booking.

    Attributes:
        factor: What the price is multiplied by.
        amount: What is added to it, in euros, after that.
    """

    factor: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 1.1
    amount: Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)] = 0.0


class TicketFails(Details):
    """One ticket of a booking fails.

    Attributes:
        index: Its place among the booking's tickets, counted from 0; -1 is the last.
    """

    index: Annotated[int, Field(ge=-1)] = -1
