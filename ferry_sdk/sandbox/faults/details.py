"""Which details go with which kind of fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferry_sdk.sandbox.faults import refusals as fault_refusals
from ferry_sdk.sandbox.faults import replies as fault_replies
from ferry_sdk.sandbox.faults import values as fault_values
from ferry_sdk.sandbox.faults.kinds import Delay, Details, FaultKind, PriceChange, TicketFails
from ferry_sdk.sandbox.faults.mcp_options import McpOptions

if TYPE_CHECKING:
    from pydantic import BaseModel

DETAILS: dict[FaultKind, type[BaseModel]] = {
    FaultKind.CUT_BEFORE: fault_refusals.CutBefore,
    FaultKind.DELAY_BEFORE: Delay,
    FaultKind.RATE_LIMITED: fault_refusals.RateLimited,
    FaultKind.SERVER_ERROR: fault_refusals.FailBefore,
    FaultKind.REQUEST_TIMEOUT: fault_refusals.RequestTimeout,
    FaultKind.UNAUTHORIZED: fault_refusals.Unauthorized,
    FaultKind.NOT_ACCEPTABLE: fault_refusals.NotAcceptable,
    FaultKind.REDIRECT: fault_refusals.Redirect,
    FaultKind.SESSION_EXPIRED: Details,
    FaultKind.SESSION_REQUIRED: Details,
    FaultKind.LOSE_REPLY: fault_replies.LoseReply,
    FaultKind.TRUNCATE: fault_replies.Truncate,
    FaultKind.DELAY_AFTER: Delay,
    FaultKind.TRICKLE: fault_replies.Trickle,
    FaultKind.LEFT_OPEN: fault_replies.LeaveOpen,
    FaultKind.CLOSE_CONNECTION: fault_replies.CloseConnection,
    FaultKind.SERVER_ERROR_AFTER: fault_replies.FailAfter,
    FaultKind.REQUEST_TIMEOUT_AFTER: fault_replies.RequestTimeoutAfter,
    FaultKind.HTML_PAGE: fault_replies.HtmlPage,
    FaultKind.NOT_JSON: fault_replies.NotJson,
    FaultKind.NOT_UTF8: fault_replies.NotUtf8,
    FaultKind.EMPTY_BODY: fault_replies.EmptyBody,
    FaultKind.WRONG_SHAPE: fault_values.WrongShape,
    FaultKind.UNKNOWN_ENUM: fault_values.UnknownEnum,
    FaultKind.MISSING_FIELD: fault_values.MissingField,
    FaultKind.NULL_FIELD: fault_values.NullField,
    FaultKind.PRICE_CHANGE: PriceChange,
    FaultKind.OPTION_EXPIRED: Details,
    FaultKind.TICKET_FAILS: TicketFails,
    FaultKind.MCP_ENVELOPE: McpOptions,
}
