"""What the controls of the service answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from ferry_sdk.sandbox.counters import Effect
from ferry_sdk.sandbox.request_log import LoggedRequest
from ferry_sdk.sandbox.responses.fields import JsonObject, Timestamp


class ClockReading(TypedDict):
    """The time of the service."""

    now: Timestamp
    frozen: Annotated[bool, Field(description="Whether it stands still.")]


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


class RequestsState(TypedDict):
    """The latest requests, oldest first."""

    requests: list[LoggedRequest]


class TicketSummary(TypedDict):
    """A ticket without travellers."""

    id: str
    status: TicketStatus
    company: str
    depart_code: str
    arrive_code: str
    depart_at: Timestamp


class BookingSummary(TypedDict):
    """A booking without travellers."""

    booking_id: str
    booking_reference: str
    account: Annotated[str, Field(description="The name of its account.")]
    stage: Stage
    payment_status: PaymentStatus
    total_price: float
    currency: str
    tickets: list[TicketSummary]


class BookingsState(TypedDict):
    """The latest bookings, newest first, and the number of all."""

    bookings: list[BookingSummary]
    total: int


class CountersState(TypedDict):
    """What the service was asked, and what it changed."""

    requests: Annotated[dict[str, int], Field(description="The requests by operation.")]
    effects: Annotated[list[Effect], Field(description="A page of the changes, in order.")]
    totals: Annotated[dict[str, int], Field(description="The changes by operation.")]
    next: Annotated[int | None, Field(description="The next `after`; null at the end.")]
    connections: Annotated[int, Field(description="The accepted connections.")]
