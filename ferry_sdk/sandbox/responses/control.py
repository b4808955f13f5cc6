"""What the controls of the service answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
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


class RecordedRequest(TypedDict):
    """A request and its reply, without their bodies."""

    at: Timestamp
    method: str
    path: Annotated[str, Field(description="Parts that may be secret or personal are `…`.")]
    operation: str | None
    status: int | None
    milliseconds: float
    correlation_id: str
    request_id: str
    faults: Annotated[list[str], Field(description="The kinds of the faults that occurred.")]
    booking_id: Annotated[str | None, Field(description="The booking that the answer names.")]
    ticket_id: Annotated[str | None, Field(description="The ticket that the answer names.")]


class RequestsState(TypedDict):
    """The latest requests, oldest first."""

    requests: list[RecordedRequest]


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
    stage: Stage
    payment_status: PaymentStatus
    total_price: float
    currency: str
    tickets: list[TicketSummary]


class BookingsState(TypedDict):
    """The latest bookings, newest first, and the number of all."""

    bookings: list[BookingSummary]
    total: int


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
    connections: Annotated[int, Field(description="The accepted connections.")]
