"""The kinds of fault, and the details of the simplest ones."""

from __future__ import annotations

from enum import Enum
from pkgutil import resolve_name
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import Self


class FaultKind(str, Enum):
    """A kind of failure; the value is its name in fault requests."""

    # Each member is written with the place of the model of its details, which is imported when it
    # is used: some models need the extra.
    _details: str

    def __new__(cls, name: str, details: str) -> Self:  # noqa: D102 -- no name of users
        member = str.__new__(cls, name)
        member._value_ = name
        member._details = details  # noqa: SLF001 -- its own
        return member

    @property
    def details(self) -> type[BaseModel]:
        """The model of its details."""
        model: type[BaseModel] = resolve_name(f"{__package__}.{self._details.replace('.', ':')}")
        return model

    CUT_BEFORE = "cut_before", "socket_faults.CutBefore"
    """The request is read, nothing is done, and the connection is cut."""
    DELAY_BEFORE = "delay_before", "kinds.DelayBefore"
    """The work starts some seconds late."""
    RATE_LIMITED = "rate_limited", "reply_faults.RateLimited"
    """The reply is 429, with or without `Retry-After`; nothing is done."""
    SERVER_ERROR = "server_error", "reply_faults.FailBefore"
    """The reply has a status of 500 or above; nothing is done."""
    REQUEST_TIMEOUT = "request_timeout", "reply_faults.RequestTimeout"
    """The reply is 408; nothing is done."""
    UNAUTHORIZED = "unauthorized", "reply_faults.Unauthorized"
    """The reply is 401 or 403 although the token is valid; nothing is done."""
    NOT_ACCEPTABLE = "not_acceptable", "reply_faults.NotAcceptable"
    """The reply is 406 or 415; nothing is done."""
    REDIRECT = "redirect", "reply_faults.Redirect"
    """The reply is a redirect; nothing is done."""
    SESSION_EXPIRED = "session_expired", "kinds.SessionExpired"
    """The MCP session of the request ends and the reply is 404; nothing is done."""
    SESSION_REQUIRED = "session_required", "kinds.SessionRequired"
    """The reply is 400, as if the MCP request needed a session; nothing is done."""

    LOSE_REPLY = "lose_reply", "socket_faults.LoseReply"
    """The work is done, then the connection is cut without a reply."""
    TRUNCATE = "truncate", "socket_faults.Truncate"
    """The work is done, then the connection ends within the reply."""
    DELAY_AFTER = "delay_after", "kinds.DelayAfter"
    """The work is done at once; the reply comes some seconds late."""
    TRICKLE = "trickle", "socket_faults.Trickle"
    """The work is done; the body of the reply comes in small pieces."""
    LEFT_OPEN = "left_open", "socket_faults.LeaveOpen"
    """The work is done; the reply is sent, but its end comes some seconds late."""
    CLOSE_CONNECTION = "close_connection", "socket_faults.CloseConnection"
    """The work is done and answered; then the connection closes without notice."""
    SERVER_ERROR_AFTER = "server_error_after", "reply_faults.FailAfter"
    """The work is done; the reply has a status of 500 or above."""
    REQUEST_TIMEOUT_AFTER = "request_timeout_after", "reply_faults.RequestTimeoutAfter"
    """The work is done; the reply is 408."""
    HTML_PAGE = "html_page", "reply_faults.HtmlPage"
    """The work is done; the reply is an HTML page."""
    NOT_JSON = "not_json", "reply_faults.NotJson"
    """The work is done; the reply claims to be JSON but is not."""
    NOT_UTF8 = "not_utf8", "reply_faults.NotUtf8"
    """The work is done; the JSON reply contains bytes that are not UTF-8."""
    EMPTY_BODY = "empty_body", "reply_faults.EmptyBody"
    """The work is done; the reply has no body."""

    WRONG_SHAPE = "wrong_shape", "value_faults.WrongShape"
    """The work is done; the reply is valid JSON with an unexpected type."""
    UNKNOWN_ENUM = "unknown_enum", "value_faults.UnknownEnum"
    """One enumeration of the reply has an unknown value."""
    MISSING_FIELD = "missing_field", "value_faults.MissingField"
    """One field of one record in the reply is missing."""
    NULL_FIELD = "null_field", "value_faults.NullField"
    """One field of one record in the reply is null."""

    PRICE_CHANGE = "price_change", "kinds.PriceChange"
    """A booking is created at a different price from the search."""
    OPTION_EXPIRED = "option_expired", "kinds.OptionExpired"
    """The booking has expired when it is confirmed."""
    TICKET_FAILS = "ticket_fails", "kinds.TicketFails"
    """One ticket fails when the booking is confirmed."""

    REFUSED = "refused", "kinds.Refused"
    """The service refuses a valid request with a status and a code; nothing is done."""
    PLACE_TAKEN = "place_taken", "kinds.PlaceTaken"
    """Somebody else takes the selected place before the booking is created."""
    FAILS_LATER = "fails_later", "kinds.FailsLater"
    """One ticket is Pending after the confirmation, and fails some seconds later."""
    SAILING_CANCELLED = "sailing_cancelled", "kinds.SailingCancelled"
    """The company has cancelled a sailing when its booking or ticket is next used."""
    DEPARTURE_MOVED = "departure_moved", "kinds.DepartureMoved"
    """The company has moved a departure when its booking or ticket is next used."""

    MCP_ENVELOPE = "mcp_envelope", "mcp_options.McpOptions"
    """One MCP reply uses other options than the current ones."""


class Details(BaseModel):
    """The details of a fault; none, unless a subclass adds some."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)


Duration = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]


class Delay(Details):
    """A delay of the work or of the reply.

    Attributes:
        seconds: The delay in real seconds.
    """

    seconds: Duration = 1.0


class DelayBefore(Delay):
    """A delay of the work."""


class DelayAfter(Delay):
    """A delay of the reply."""


class SessionExpired(Details):
    """The end of an MCP session."""


class SessionRequired(Details):
    """A request that lacks an MCP session."""


class OptionExpired(Details):
    """The end of a booking before its confirmation."""


class PriceChange(Details):
    """A price change between search and booking.

    Attributes:
        factor: Multiplies the price.
        amount: Added afterwards, in euros.
    """

    factor: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 1.1
    amount: Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)] = 0.0


class Refused(Details):
    """A refusal of a valid request.

    Attributes:
        status: The HTTP status.
        code: The error code; by default the operation's, else that of the status.
        message: The message; by default a sentence in the caller's language.
    """

    status: Literal[400, 402, 403, 404, 409, 410, 422] = 409
    code: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")] | None = None
    message: Annotated[str, Field(min_length=1, max_length=500)] | None = None


class PlaceTaken(Details):
    """The loss of a selected place to somebody else.

    Attributes:
        index: The crossing of the booking, in order of departure.
        sold_out: Whether later searches no longer offer this kind of place on the sailing.
    """

    index: Annotated[int, Field(ge=0, le=1)] = 0
    sold_out: bool = True


class FailsLater(Details):
    """The failure of one ticket some time after the confirmation.

    Attributes:
        index: The index of the ticket in the booking; -1 is the last.
        seconds: How long the ticket is Pending, by the service's clock.
    """

    index: Annotated[int, Field(ge=-1)] = -1
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 3.0


class Disruption(Details):
    """A change by the company of a sailing that is booked.

    Attributes:
        index: The crossing of the booking, in order of departure.
        only_issued: Whether to wait until the ticket is issued.
    """

    index: Annotated[int, Field(ge=0, le=1)] = 0
    only_issued: bool = False


class SailingCancelled(Disruption):
    """The cancellation of a sailing, with a full refund of its ticket."""


class DepartureMoved(Disruption):
    """Another time of departure and arrival; a crossing moves once.

    Attributes:
        minutes: How much later it departs; earlier if negative.
    """

    minutes: Annotated[int, Field(ge=-10_080, le=10_080)] = 60


class TicketFails(Details):
    """The failure of one ticket of a booking.

    Attributes:
        index: The index of the ticket in the booking; -1 is the last.
    """

    index: Annotated[int, Field(ge=-1)] = -1
