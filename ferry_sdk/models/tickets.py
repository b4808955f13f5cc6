"""Tickets, vouchers, and the results of cancelling and paying."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pydantic import Field

from ferry_sdk.models.base import (
    Amount,
    Count,
    Currency,
    Identifier,
    LooseDay,
    LooseMoment,
    Model,
    Price,
    PricedModel,
)
from ferry_sdk.models.enums import PaymentStatus, TicketDirection, TicketStatus


class TicketVehicle(Model):
    """The vehicle on a ticket. Interface: Ticket, member vehicle.

    Attributes:
        code: Code of the vehicle's type, such as CAR, as `catalogue.vehicle_types` lists them.
        vehicule_code: The provider's vehicle code (the wire's spelling).
        brand_name: Name of the make.
        model: Name of the model.
        type: Type of the vehicle, in words.
    """

    code: str | None = None
    vehicule_code: str | None = None
    brand_name: str | None = None
    model: str | None = None
    type: str | None = None


class TicketPassenger(Model):
    """A traveller on a ticket; personal fields are not in its repr. Interface: Ticket.

    Attributes:
        first_name: All given names.
        last_name: The family name.
        birth_date: Date of birth; a text if it cannot be parsed.
        nationality: Two-letter country code.
        doc_type: Kind of travel document, such as Passport.
        doc_number: Number of the travel document.
        doc_expiration: Last day of its validity; a text if it cannot be parsed.
    """

    first_name: str = Field(default="", repr=False)
    last_name: str = Field(default="", repr=False)
    birth_date: LooseDay | None = Field(default=None, repr=False)
    nationality: str | None = Field(default=None, repr=False)
    doc_type: str | None = Field(default=None, repr=False)
    doc_number: str | None = Field(default=None, repr=False)
    doc_expiration: LooseDay | None = Field(default=None, repr=False)


class TicketJourney(Model):
    """One crossing on a ticket. Interface: Ticket, member availability.

    Attributes:
        depart_at: Departure with the offset of the port; a text if it cannot be parsed.
        arrive_at: Arrival with the offset of the port; a text if it cannot be parsed.
        depart_port_name: Departure port, in the client's language.
        arrive_port_name: Arrival port, in the client's language.
        duration_minutes: Duration in minutes.
    """

    depart_at: LooseMoment = ""
    arrive_at: LooseMoment = ""
    depart_port_name: str = ""
    arrive_port_name: str = ""
    duration_minutes: Count | None = None

    @property
    def duration(self) -> timedelta | None:
        """`duration_minutes` as a time span."""
        minutes = self.duration_minutes
        return None if minutes is None else timedelta(minutes=minutes)


class TicketLeg(Model):
    """One way of a ticket. Interface: Ticket, member availability.

    Attributes:
        journey: The crossing; None if the ticket has none in this direction.
    """

    journey: TicketJourney | None = None


class TicketJourneys(Model):
    """The crossings of a ticket by direction. Interface: Ticket, member availability.

    Attributes:
        outward: The way out; None on a ticket for the way back alone.
        return_: The way back (`return` on the wire); None on a ticket for the way out alone.
    """

    outward: TicketLeg | None = None
    return_: TicketLeg | None = Field(default=None, alias="return")


class Ticket(Model):
    """One journey of a booking. Interface: Ticket.

    Attributes:
        id: The id that every later call takes.
        status: Init, Blocked, Pending, Issued, Canceled, Failed or Expired; decide on the booking's
            `stage`.
        ticket_number: The company's reference; None before it is issued.
        pdf_url: Address of the voucher; None before it is issued, or if it is sent by e-mail.
        direction: OUTWARD, RETURN or OUTWARD+RETURN.
        vehicle: The vehicle; None without one.
        passengers: The travellers.
        availability: The crossings, by direction.
        qr_code: A QR code, usually as an image data URI; empty if there is none.
        boarding_time: A moment, or the text from the company; empty if there is none.
    """

    id: Identifier
    status: TicketStatus
    ticket_number: str | None = None
    pdf_url: str | None = None
    direction: TicketDirection = TicketDirection("")
    vehicle: TicketVehicle | None = None
    passengers: tuple[TicketPassenger, ...] = ()
    availability: TicketJourneys = TicketJourneys.model_construct()
    qr_code: str = Field(default="", repr=False)
    boarding_time: LooseMoment = ""

    @property
    def ticket_id(self) -> str:
        """The ticket's `id`, under the name that other records and arguments use."""
        return self.id


class CancellationFee(PricedModel):
    """The cost of cancelling now. Interface: POST /api/booking/cancel-fee.

    Attributes:
        penalty_amount: Kept by the company, in `currency`.
        refund_amount: Paid back, in `currency`.
        currency: ISO 4217, upper case.
        ticket_status: The raw status of the ticket.
    """

    penalty_amount: Price
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
        ticket_id: The ticket.
        status: cancelled, as sent by the service.
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

    url: str | None = None


class PaymentRecorded(Model):
    """A recorded payment. Interface: POST /api/ticket/{id}/mark-paid.

    Attributes:
        ticket_id: The ticket.
        payment_status: paid, as sent by the service.
        read_back: Whether the reply was lost and the effect was confirmed by reading.
    """

    ticket_id: Identifier
    payment_status: PaymentStatus
    read_back: bool = False
