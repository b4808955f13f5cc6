"""The kinds of fault, each with the model of its details."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import BaseModel

from ferry_sdk.sandbox.faults.details import (
    DelayAfter,
    DelayBefore,
    DepartureMoved,
    FailsLater,
    OptionExpired,
    PlaceTaken,
    PriceChange,
    Refused,
    SailingCancelled,
    SessionExpired,
    SessionRequired,
    TicketFails,
)
from ferry_sdk.sandbox.faults.mcp_options import McpOptions
from ferry_sdk.sandbox.faults.reply_faults import (
    EmptyBody,
    FailAfter,
    FailBefore,
    HtmlPage,
    NotAcceptable,
    NotJson,
    NotUtf8,
    RateLimited,
    Redirect,
    RequestTimeout,
    RequestTimeoutAfter,
    Unauthorized,
)
from ferry_sdk.sandbox.faults.socket_faults import (
    CloseConnection,
    CutBefore,
    LeaveOpen,
    LoseReply,
    Trickle,
    Truncate,
)
from ferry_sdk.sandbox.faults.value_faults import (
    FareChange,
    MissingField,
    NullField,
    UnknownEnum,
    WrongShape,
)


class FaultKind(StrEnum):
    """A kind of failure; the value is its name in fault requests."""

    # A member is written as its value and its model, so that the value alone names it in JSON.
    _details: type[BaseModel]

    def __new__(cls, name: str, details: type[BaseModel]) -> Self:  # noqa: D102 -- no name of users
        member = str.__new__(cls, name)
        member._value_ = name
        member._details = details  # noqa: SLF001 -- its own
        return member

    @property
    def details(self) -> type[BaseModel]:
        """The model of its details."""
        return self._details

    CUT_BEFORE = "cut_before", CutBefore
    """The request is read, nothing is done, and the connection is cut."""
    DELAY_BEFORE = "delay_before", DelayBefore
    """The work starts some seconds late."""
    RATE_LIMITED = "rate_limited", RateLimited
    """The reply is 429, with or without `Retry-After`; nothing is done."""
    SERVER_ERROR = "server_error", FailBefore
    """The reply has a status of 500 or above; nothing is done."""
    REQUEST_TIMEOUT = "request_timeout", RequestTimeout
    """The reply is 408; nothing is done."""
    UNAUTHORIZED = "unauthorized", Unauthorized
    """The reply is 401 or 403 although the token is valid; nothing is done."""
    NOT_ACCEPTABLE = "not_acceptable", NotAcceptable
    """The reply is 406 or 415; nothing is done."""
    REDIRECT = "redirect", Redirect
    """The reply is a redirect; nothing is done."""
    SESSION_EXPIRED = "session_expired", SessionExpired
    """The MCP session of the request ends and the reply is 404; nothing is done."""
    SESSION_REQUIRED = "session_required", SessionRequired
    """The reply is 400, as if the MCP request needed a session; nothing is done."""

    LOSE_REPLY = "lose_reply", LoseReply
    """The work is done, then the connection is cut without a reply."""
    TRUNCATE = "truncate", Truncate
    """The work is done, then the connection ends within the reply."""
    DELAY_AFTER = "delay_after", DelayAfter
    """The work is done at once; the reply comes some seconds late."""
    TRICKLE = "trickle", Trickle
    """The work is done; the body of the reply comes in small pieces."""
    LEFT_OPEN = "left_open", LeaveOpen
    """The work is done; the reply is sent, but its end comes some seconds late."""
    CLOSE_CONNECTION = "close_connection", CloseConnection
    """The work is done and answered; then the connection closes without notice."""
    SERVER_ERROR_AFTER = "server_error_after", FailAfter
    """The work is done; the reply has a status of 500 or above."""
    REQUEST_TIMEOUT_AFTER = "request_timeout_after", RequestTimeoutAfter
    """The work is done; the reply is 408."""
    HTML_PAGE = "html_page", HtmlPage
    """The work is done; the reply is an HTML page."""
    NOT_JSON = "not_json", NotJson
    """The work is done; the reply claims to be JSON but is not."""
    NOT_UTF8 = "not_utf8", NotUtf8
    """The work is done; the JSON reply contains bytes that are not UTF-8."""
    EMPTY_BODY = "empty_body", EmptyBody
    """The work is done; the reply has no body."""

    WRONG_SHAPE = "wrong_shape", WrongShape
    """The work is done; the reply is valid JSON with an unexpected type."""
    UNKNOWN_ENUM = "unknown_enum", UnknownEnum
    """One enumeration of the reply has an unknown value."""
    MISSING_FIELD = "missing_field", MissingField
    """One field of one record in the reply is missing."""
    NULL_FIELD = "null_field", NullField
    """One field of one record in the reply is null."""

    FARE_CHANGE = "fare_change", FareChange
    """A search finds its sailings at other prices."""
    PRICE_CHANGE = "price_change", PriceChange
    """A booking is created at a different price from the search."""
    OPTION_EXPIRED = "option_expired", OptionExpired
    """The booking has expired when it is confirmed."""
    TICKET_FAILS = "ticket_fails", TicketFails
    """One ticket fails when the booking is confirmed."""

    REFUSED = "refused", Refused
    """The service refuses a valid request with a status and a code; nothing is done."""
    PLACE_TAKEN = "place_taken", PlaceTaken
    """Somebody else takes the selected place before the booking is created."""
    FAILS_LATER = "fails_later", FailsLater
    """One ticket is Pending after the confirmation, and fails some seconds later."""
    SAILING_CANCELLED = "sailing_cancelled", SailingCancelled
    """The company has cancelled a sailing when its booking or ticket is next used."""
    DEPARTURE_MOVED = "departure_moved", DepartureMoved
    """The company has moved a departure when its booking or ticket is next used."""

    MCP_ENVELOPE = "mcp_envelope", McpOptions
    """One MCP reply uses other options than the current ones."""
