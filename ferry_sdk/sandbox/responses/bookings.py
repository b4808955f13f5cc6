"""Bookings and tickets, and what the operations on them answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue
from typing_extensions import NotRequired, TypedDict

from ferry_sdk.models.enums import ActionType, PaymentStatus, Stage, TicketDirection, TicketStatus
from ferry_sdk.sandbox.responses.fields import (
    Amount,
    BookingId,
    Day,
    JourneyId,
    Localized,
    Minutes,
    PortCode,
    TicketId,
    Timestamp,
    Url,
)

BookingStatus = TicketStatus | Literal["pending"]
Currency = Annotated[str, Field(description="The ISO 4217 code of the currency.")]


class Action(TypedDict):
    """What can be done with a booking now."""

    type: ActionType
    timeLimit: Annotated[Timestamp | None, Field(description="Until when; null for always.")]
    requestedItems: Annotated[dict[str, JsonValue], Field(description="Always empty.")]


class PossibleActions(TypedDict, total=False):
    """What can be done with a booking now, by name."""

    Pay: Action
    Issue: Action
    Retry: Action
    Cancel: Action
    Download: Action


class CreatedBooking(TypedDict):
    """A booking that was created."""

    booking_id: BookingId
    booking_reference: Annotated[str, Field(description="The reference that people use.")]
    stage: Stage
    possible_actions: PossibleActions
    status: Annotated[BookingStatus, Field(description="The status of its least advanced ticket.")]
    total_price: Annotated[float, Field(description="The price of all tickets.")]
    currency: Currency


class ConfirmedBooking(TypedDict):
    """The first ticket that a confirmation issued."""

    booking_id: BookingId
    status: Literal["confirmed"]
    ticket_id: TicketId
    ticket_number: Annotated[str, Field(description="The company's number of the ticket.")]


class CancelledBooking(TypedDict):
    """A booking that was cancelled."""

    booking_id: BookingId
    status: Literal["cancelled"]
    refund_amount: Annotated[float, Field(description="What is refunded.")]


class CancellationFee(TypedDict):
    """What a cancellation costs now; nothing is cancelled."""

    penalty_amount: Annotated[float, Field(description="What the company keeps.")]
    refund_amount: Annotated[float, Field(description="What is refunded.")]
    currency: Currency
    ticket_status: TicketStatus


class CancelledTicket(TypedDict):
    """A ticket that was cancelled."""

    ticket_id: TicketId
    status: Literal["cancelled"]


class PaidTicket(TypedDict):
    """A ticket whose payment was recorded."""

    ticket_id: TicketId
    payment_status: Literal["paid"]


class VoucherAddress(TypedDict):
    """The address of a voucher."""

    url: Annotated[Url | None, Field(description="Null if the voucher is not available here.")]


class TicketVehicle(TypedDict):
    """The vehicle of a ticket."""

    code: Annotated[str, Field(description="The code of the type, such as CAR.")]
    vehicule_code: Annotated[str, Field(description="The company's code of the vehicle.")]
    brand_name: str
    model: str
    type: Annotated[str, Field(description="The name of the type.")]


class TicketPassenger(TypedDict):
    """A passenger of a ticket."""

    first_name: str
    last_name: str
    birth_date: Day | None
    nationality: Annotated[str | None, Field(description="The two-letter code of the country.")]
    doc_type: Literal["Passport", "IdentityCard"] | None
    doc_number: Annotated[str | None, Field(description="The number of the document.")]
    doc_expiration: Annotated[Day | None, Field(description="The last day of its validity.")]


class Journey(TypedDict):
    """The times and ports of a crossing."""

    depart_at: Timestamp
    arrive_at: Timestamp
    depart_port_name: Localized
    arrive_port_name: Localized
    duration_minutes: Minutes


class Validity(TypedDict):
    """The validity of an open crossing; a fixed one has none."""

    is_open: NotRequired[Annotated[Literal[True], Field(description="The ticket is open.")]]
    valid_until: NotRequired[Annotated[Timestamp, Field(description="The end of an open ticket.")]]


class Crossing(Validity):
    """One direction of a ticket."""

    journey: Journey


Crossings = TypedDict("Crossings", {"outward": Crossing, "return": Crossing}, total=False)


class Ticket(TypedDict):
    """A ticket."""

    id: TicketId
    status: TicketStatus
    ticket_number: Annotated[str | None, Field(description="Null until it is issued.")]
    pdf_url: Annotated[Url | None, Field(description="Null if the voucher is not available here.")]
    direction: TicketDirection
    vehicle: Annotated[TicketVehicle | None, Field(description="Null for foot passengers.")]
    passengers: list[TicketPassenger]
    availability: Annotated[Crossings, Field(description="The crossings by direction.")]
    qr_code: Annotated[str, Field(description="A PNG image as a data URI.")]
    boarding_time: Annotated[Timestamp, Field(description="When boarding starts.")]


class BookingSummary(TypedDict):
    """The booking of a ticket."""

    booking_id: BookingId
    booking_reference: Annotated[str, Field(description="The reference that people use.")]
    stage: Stage
    payment_status: PaymentStatus


class ViewedTicket(Ticket):
    """A ticket with a summary of its booking."""

    booking: BookingSummary


class Received(TypedDict):
    """What was received, less refunds."""

    amount: Amount
    currency: Currency
    from_label: Annotated[str, Field(description="Who it is.")]
    from_kind: Literal["customer"]


class KeptLine(TypedDict):
    """One part of what is kept."""

    key: Literal["commission"]
    label: str
    amount: Amount


class Kept(TypedDict):
    """What the viewer keeps."""

    total: Amount
    lines: list[KeptLine]


class Reverse(TypedDict):
    """What goes on to the company."""

    amount: Amount
    currency: Currency
    to_label: Annotated[str, Field(description="Who it is.")]
    to_kind: Literal["carrier"]


class Balance(TypedDict):
    """What the buyer owed at first and owes now."""

    mutated: Annotated[bool, Field(description="Whether anything was paid.")]
    before: Amount
    after: Amount


class Pricing(TypedDict):
    """The money of a booking, as the viewer sees it."""

    viewer_role: Literal["agency", "organisation"]
    currency: Currency
    received: Received
    kept: Kept
    reverse: Reverse
    balance: Balance


class JourneyDetails(Journey, Validity):
    """One direction of a booking."""

    ticket_id: TicketId
    journey_id: JourneyId
    company: str
    ship_name: str
    place_name: Localized
    depart_code: PortCode
    arrive_code: PortCode


DetailsByDirection = TypedDict(
    "DetailsByDirection", {"outward": JourneyDetails, "return": JourneyDetails}, total=False
)


class Booking(CreatedBooking):
    """A booking with its tickets."""

    payment_status: PaymentStatus
    all_tickets_paid: Annotated[bool, Field(description="Whether every open ticket is paid.")]
    ticket_count: Annotated[int, Field(description="The number of tickets.")]
    expire_at: Annotated[
        Timestamp | None, Field(description="The earliest deadline of a ticket, if any.")
    ]
    pricing: Annotated[Pricing | None, Field(description="Null for a token that can only read.")]
    tickets: list[Ticket]
    journey_details: Annotated[DetailsByDirection, Field(description="The crossings by direction.")]
