"""A fault: its kind, its details, and the requests that it hits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import PydanticCustomError

from ferry_sdk.models.docstrings import describe_properties
from ferry_sdk.sandbox.faults import kinds, reply_faults, socket_faults, value_faults
from ferry_sdk.sandbox.faults.kinds import FaultKind
from ferry_sdk.sandbox.faults.mcp_options import McpOptions
from ferry_sdk.sandbox.requests.errors import parse_fields
from ferry_sdk.sandbox.requests.operations import OPERATIONS

DETAILS: dict[FaultKind, type[BaseModel]] = {
    FaultKind.CUT_BEFORE: socket_faults.CutBefore,
    FaultKind.DELAY_BEFORE: kinds.Delay,
    FaultKind.RATE_LIMITED: reply_faults.RateLimited,
    FaultKind.SERVER_ERROR: reply_faults.FailBefore,
    FaultKind.REQUEST_TIMEOUT: reply_faults.RequestTimeout,
    FaultKind.UNAUTHORIZED: reply_faults.Unauthorized,
    FaultKind.NOT_ACCEPTABLE: reply_faults.NotAcceptable,
    FaultKind.REDIRECT: reply_faults.Redirect,
    FaultKind.SESSION_EXPIRED: kinds.Details,
    FaultKind.SESSION_REQUIRED: kinds.Details,
    FaultKind.LOSE_REPLY: socket_faults.LoseReply,
    FaultKind.TRUNCATE: socket_faults.Truncate,
    FaultKind.DELAY_AFTER: kinds.Delay,
    FaultKind.TRICKLE: socket_faults.Trickle,
    FaultKind.LEFT_OPEN: socket_faults.LeaveOpen,
    FaultKind.CLOSE_CONNECTION: socket_faults.CloseConnection,
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
    FaultKind.PRICE_CHANGE: kinds.PriceChange,
    FaultKind.OPTION_EXPIRED: kinds.Details,
    FaultKind.TICKET_FAILS: kinds.TicketFails,
    FaultKind.REFUSED: kinds.Refused,
    FaultKind.PLACE_TAKEN: kinds.PlaceTaken,
    FaultKind.FAILS_LATER: kinds.FailsLater,
    FaultKind.SAILING_CANCELLED: kinds.SailingCancelled,
    FaultKind.DEPARTURE_MOVED: kinds.DepartureMoved,
    FaultKind.MCP_ENVELOPE: McpOptions,
}
"""The model of the details of each kind of fault."""


def _check_operation(pattern: str) -> str:
    if not any(fnmatchcase(name, pattern) for name in OPERATIONS):
        raise PydanticCustomError("operation", "No operation matches this name or pattern")
    return pattern


class FaultRequest(BaseModel):
    """The fields of every fault request; the others are the details of its kind.

    Attributes:
        kind: The kind of failure.
        operation: An operation, or a pattern with `*`, `?` and `[…]`; all by default.
        company: Only searches of this company fail.
        times: How often the fault occurs, once by default; null for always.
        after: How many matching requests pass first.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="allow", strict=True, json_schema_extra=describe_properties
    )

    kind: Annotated[FaultKind, Field(strict=False)]
    operation: Annotated[str, AfterValidator(_check_operation)] = "*"
    company: Annotated[str, Field(min_length=1)] | None = None
    times: Annotated[int, Field(ge=1)] | None = 1
    after: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A requested fault: what fails, for which operations, when and how often.

    Attributes:
        kind: The kind of failure.
        operation: A name of `OPERATIONS`, or a pattern with `*`, `?` and `[…]`.
        company: The company of the searches that fail; `None` for any request.
        times: How often the fault occurs; `None` for always.
        after: How many matching requests pass before it first occurs.
        details: The details of the kind.
    """

    kind: FaultKind
    operation: str
    company: str | None
    times: int | None
    after: int
    details: BaseModel

    @staticmethod
    def read(request: Mapping[str, object]) -> Fault:
        """Return the fault that a fault request describes.

        Raises:
            InvalidOrderError: A field is unknown or has an invalid value; a `ValueError`.
        """
        head = parse_fields(FaultRequest, request)
        details = parse_fields(DETAILS[head.kind], head.model_extra or {})
        return Fault(head.kind, head.operation, head.company, head.times, head.after, details)

    def to_wire(self) -> dict[str, JsonValue]:
        """Return the fault request as JSON."""
        return {
            "kind": self.kind.value,
            "operation": self.operation,
            **({} if self.company is None else {"company": self.company}),
            "times": self.times,
            "after": self.after,
            **self.details.model_dump(mode="json", exclude_unset=True),
        }
