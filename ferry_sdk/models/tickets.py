"""Tickets, vouchers, and the results of cancelling and paying."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pydantic import Field

from ferry_sdk.models.base import Amount, Currency, Identifier, LooseDay, LooseMoment, Model, Text
from ferry_sdk.models.enums import PaymentStatus, TicketDirection, TicketStatus


class TicketVehicle(Model):
    """The vehicle on a ticket. Interface: Ticket, member vehicle."""

    code: str | None = None
    vehicule_code: str | None = None
    brand_name: str | None = None
    model: str | None = None
    type: str | None = None


class TicketPassenger(Model):
    """A traveller on a ticket; personal fields are not in its repr. Interface: Ticket."""

    first_name: str = Field(repr=False)
    last_name: str = Field(repr=False)
    birth_date: LooseDay | None = Field(default=None, repr=False)
    nationality: str | None = Field(default=None, repr=False)
    doc_type: str | None = Field(default=None, repr=False)
    doc_number: str | None = Field(default=None, repr=False)
    doc_expiration: LooseDay | None = Field(default=None, repr=False)


class TicketJourney(Model):
    """One crossing on a ticket. Interface: Ticket, member availability."""

    depart_at: LooseMoment
    arrive_at: LooseMoment
    depart_port_name: str
    arrive_port_name: str
    duration_minutes: int

    @property
    def duration(self) -> timedelta:
        """`duration_minutes` as a time span."""
        return timedelta(minutes=self.duration_minutes)


class TicketLeg(Model):
    """One way of a ticket. Interface: Ticket, member availability."""

    journey: TicketJourney | None = None


class TicketJourneys(Model):
    """The crossings of a ticket by direction. Interface: Ticket, member availability."""

    outward: TicketLeg | None = None
    return_: TicketLeg | None = Field(default=None, alias="return")


class Ticket(Model):
    """One journey of a booking. Interface: Ticket.

    Attributes:
        ticket_number: The company's reference; None before it is issued.
        pdf_url: Address of the voucher; None before it is issued, or if it is sent by e-mail.
        qr_code: A QR code, usually as an image data URI; empty if there is none.
        boarding_time: A moment, or the text from the company; empty if there is none.
    """

    id: Identifier
    status: TicketStatus
    ticket_number: str | None
    pdf_url: str | None
    direction: TicketDirection
    vehicle: TicketVehicle | None
    passengers: tuple[TicketPassenger, ...]
    availability: TicketJourneys
    qr_code: Text = Field(default="", repr=False)
    boarding_time: LooseMoment | Text = ""


class CancellationFee(Model):
    """The cost of cancelling now. Interface: POST /api/booking/cancel-fee.

    Attributes:
        penalty_amount: Kept by the company, in `currency`.
        refund_amount: Paid back, in `currency`.
        ticket_status: The raw status of the ticket.
    """

    penalty_amount: Amount
    refund_amount: Amount
    currency: Currency
    ticket_status: str

    @property
    def is_free(self) -> bool:
        """Whether the penalty is zero."""
        return self.penalty_amount == Decimal(0)


class TicketCancellation(Model):
    """A cancelled ticket. Interface: POST /api/ticket/cancel.

    Attributes:
        read_back: Whether the reply was lost and the effect was confirmed by reading.
        previewed: The fee that was read before cancelling; None if it was not read.
    """

    ticket_id: Identifier
    status: str
    read_back: bool = False
    previewed: CancellationFee | None = None


class Voucher(Model):
    """The address of a boarding voucher. Interface: GET /api/ticket/{id}/pdf.

    Attributes:
        url: Address of the PDF; None if it is not available yet or is sent by e-mail. The service
            does not distinguish these cases.
    """

    url: str | None


class PaymentRecorded(Model):
    """A recorded payment. Interface: POST /api/ticket/{id}/mark-paid.

    Attributes:
        read_back: Whether the reply was lost and the effect was confirmed by reading.
    """

    ticket_id: Identifier
    payment_status: PaymentStatus
    read_back: bool = False
