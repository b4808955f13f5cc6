"""The arguments of the controls."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ferry_sdk.models.docstrings import describe_properties
from ferry_sdk.sandbox.requests.fields import Moment

_CENTURY = 100 * 366 * 24 * 3600.0


class ClockUpdate(BaseModel):
    """Changes to the clock, applied in the order of the fields.

    Attributes:
        frozen: Whether it stands still.
        travel_to: The new time: ISO 8601 with a UTC offset.
        advance: Seconds to move forward.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, json_schema_extra=describe_properties
    )

    frozen: bool | None = None
    travel_to: Moment | None = None
    advance: Annotated[float, Field(ge=0, le=_CENTURY, allow_inf_nan=False)] | None = None


class RequestsQuery(BaseModel):
    """The requests to list.

    Attributes:
        correlation_id: Only the requests with this id; all by default.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", json_schema_extra=describe_properties
    )

    correlation_id: str | None = None


class CountersQuery(BaseModel):
    """The page of effects to return.

    Attributes:
        after: The number of effects to skip.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", json_schema_extra=describe_properties
    )

    after: Annotated[int, Field(ge=0)] = 0
