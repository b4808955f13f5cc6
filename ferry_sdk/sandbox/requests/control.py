"""The arguments of the controls, and what they share with options and profiles."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from ferry_sdk.models.docstrings import describe_properties
from ferry_sdk.models.enums import Stage
from ferry_sdk.sandbox.requests.fields import Moment

StructuredResult = Literal["structured_and_text", "structured"]
ArrayResult = Literal["structured_array", "text", "n_blocks"]
BareResult = Literal["bare", "naked", "batch"]
ToolError = Literal["is_error", "is_error_text", "is_error_prose", "tool_error_text"]
ProtocolError = Literal["json_rpc_error", "json_rpc_error_data", "bare"]
TextContent = Literal["text", "text_without_type", "text_without_uri", "blob", "split"]
BareContent = Literal["bare_list", "bare_object"]
"""Shapes of replies of `/mcp`; an option and a profile can select them."""
_CENTURY = 100 * 366 * 24 * 3600.0
_LONGEST_WAIT = timedelta(days=3650)


def _known(stage: Stage) -> Stage:
    if not stage.is_known:
        raise ValueError(f"{stage.value!r} is not one of {', '.join(Stage)}")
    return stage


class ControlModel(BaseModel):
    """Fields of a control, an option or a profile; unknown ones are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", json_schema_extra=describe_properties
    )


class ClockUpdate(ControlModel, strict=True):
    """Changes to the clock, applied in the order of the fields.

    Attributes:
        frozen: Whether it stands still.
        travel_to: The new time: ISO 8601 with a UTC offset.
        advance: Seconds to move forward.
    """

    frozen: bool | None = None
    travel_to: Moment | None = None
    advance: Annotated[float, Field(ge=0, le=_CENTURY, allow_inf_nan=False)] | None = None


class BookingToMake(ControlModel, strict=True):
    """A booking to test with.

    Attributes:
        stage: The stage that it is in.
        tickets: 1, or 2 for a round trip; a stage of a part of the tickets has 2.
        company: The company, by its code or its id; one with many sailings by default.
        departs_in: Seconds until the earliest departure; the next sailing is booked.
        account: The name of the account that it belongs to; by default the first.
    """

    stage: Annotated[Stage, Field(strict=False), AfterValidator(_known)] = Stage.TICKETED
    tickets: Literal[1, 2] = 1
    company: str | None = None
    departs_in: Annotated[
        timedelta,
        Field(strict=False, ge=timedelta(), le=_LONGEST_WAIT),
        WithJsonSchema({"type": "number", "minimum": 0, "maximum": _LONGEST_WAIT.total_seconds()}),
    ] = timedelta(days=30)
    account: str | None = None


class RequestsQuery(ControlModel):
    """The requests to list.

    Attributes:
        correlation_id: Only the requests with this id; all by default.
    """

    correlation_id: str | None = None


class CountersQuery(ControlModel):
    """The page of effects to return.

    Attributes:
        after: The number of effects to skip.
    """

    after: Annotated[int, Field(ge=0)] = 0
