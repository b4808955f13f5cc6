"""What the controls of the service answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from ferry_sdk.sandbox.responses.fields import Timestamp

JsonObject = dict[str, JsonValue]


class ClockReading(TypedDict):
    """The time of the service."""

    now: Timestamp
    frozen: bool


class FaultsState(TypedDict):
    """The faults that are pending, and those that have occurred."""

    pending: list[JsonObject]
    taken: list[JsonObject]


class TrialRoute(TypedDict):
    """A journey that always misbehaves in one way."""

    company: str
    depart_code: str
    arrive_code: str
    journey_id: str
    route: Annotated[str, Field(description="The names of both ports.")]
    happens: Annotated[str, Field(description="What goes wrong.")]


class TrialRoutes(TypedDict):
    """The routes that each misbehave in one way."""

    routes: list[TrialRoute]


class RecordedEffect(TypedDict):
    """A change that the service made."""

    operation: str
    subject: Annotated[str, Field(description="The id of the booking or ticket.")]
    at: Timestamp


class CountersState(TypedDict):
    """What the service was asked, and what it changed."""

    requests: Annotated[dict[str, int], Field(description="The requests by operation.")]
    effects: Annotated[list[RecordedEffect], Field(description="A page of the changes, in order.")]
    totals: Annotated[dict[str, int], Field(description="The changes by operation.")]
    next: Annotated[int | None, Field(description="The next `after`; null at the end.")]
    connections: int
