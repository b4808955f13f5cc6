"""The model of the details that each kind of fault accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferry_sdk.sandbox.faults import reply_faults, request_faults, value_faults
from ferry_sdk.sandbox.faults.kinds import Delay, Details, FaultKind, PriceChange, TicketFails
from ferry_sdk.sandbox.faults.mcp_options import McpOptions

if TYPE_CHECKING:
    from pydantic import BaseModel

DETAILS: dict[FaultKind, type[BaseModel]] = {
    FaultKind.CUT_BEFORE: request_faults.CutBefore,
    FaultKind.DELAY_BEFORE: Delay,
    FaultKind.RATE_LIMITED: request_faults.RateLimited,
    FaultKind.SERVER_ERROR: request_faults.FailBefore,
    FaultKind.REQUEST_TIMEOUT: request_faults.RequestTimeout,
    FaultKind.UNAUTHORIZED: request_faults.Unauthorized,
    FaultKind.NOT_ACCEPTABLE: request_faults.NotAcceptable,
    FaultKind.REDIRECT: request_faults.Redirect,
    FaultKind.SESSION_EXPIRED: Details,
    FaultKind.SESSION_REQUIRED: Details,
    FaultKind.LOSE_REPLY: reply_faults.LoseReply,
    FaultKind.TRUNCATE: reply_faults.Truncate,
    FaultKind.DELAY_AFTER: Delay,
    FaultKind.TRICKLE: reply_faults.Trickle,
    FaultKind.LEFT_OPEN: reply_faults.LeaveOpen,
    FaultKind.CLOSE_CONNECTION: reply_faults.CloseConnection,
    FaultKind.SERVER_ERROR_AFTER: reply_faults.FailAfter,
    FaultKind.REQUEST_TIMEOUT_AFTER: reply_faults.RequestTimeoutAfter,
    FaultKind.HTML_PAGE: reply_faults.HtmlPage,
    FaultKind.NOT_JSON: reply_faults.NotJson,
    FaultKind.NOT_UTF8: reply_faults.NotUtf8,
    FaultKind.EMPTY_BODY: reply_faults.EmptyBody,
    FaultKind.WRONG_SHAPE: value_faults.WrongShape,
    FaultKind.UNKNOWN_ENUM: value_faults.UnknownEnum,
    FaultKind.MISSING_FIELD: value_faults.MissingField,
    FaultKind.NULL_FIELD: value_faults.NullField,
    FaultKind.PRICE_CHANGE: PriceChange,
    FaultKind.OPTION_EXPIRED: Details,
    FaultKind.TICKET_FAILS: TicketFails,
    FaultKind.MCP_ENVELOPE: McpOptions,
}
