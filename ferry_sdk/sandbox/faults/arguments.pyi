# scripts/api-map writes this file from `FaultKind`.

from typing import Literal, TypeAlias

from pydantic import JsonValue
from typing_extensions import TypedDict

FaultName: TypeAlias = Literal[
    "cut_before",
    "delay_before",
    "rate_limited",
    "server_error",
    "request_timeout",
    "unauthorized",
    "not_acceptable",
    "redirect",
    "session_expired",
    "session_required",
    "lose_reply",
    "truncate",
    "delay_after",
    "trickle",
    "left_open",
    "close_connection",
    "server_error_after",
    "request_timeout_after",
    "html_page",
    "not_json",
    "not_utf8",
    "empty_body",
    "wrong_shape",
    "unknown_enum",
    "missing_field",
    "null_field",
    "fare_change",
    "price_change",
    "option_expired",
    "ticket_fails",
    "refused",
    "place_taken",
    "fails_later",
    "sailing_cancelled",
    "departure_moved",
    "mcp_envelope",
]

class FaultDetails(TypedDict, total=False):
    amount: float
    as_date: bool
    chunked: bool
    code: str | None
    comments: bool
    ended_early: bool
    error: str
    error_id: str
    factor: float
    field: str | None
    handshake: str
    index: int
    is_absent: bool
    keep: float
    left_open: bool
    line_end: str
    location: str
    message: str | None
    minutes: int
    notification_first: bool
    only_issued: bool
    pieces: int
    raw_separators: bool
    reply: str
    request_first: bool
    reset: bool
    resource: str
    result: str
    retry_after: int | None
    seconds: float
    session: str
    session_seconds: float
    several_lines: bool
    sold_out: bool
    status: int | None
    stray_session_ids: bool
    unknown_resource_code: int
    value: JsonValue | str
