"""Read back the effect of a write, and build the write's result from what is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from ferry_sdk._engine.operation import Call, Guard, Operation, ReadBack, Wait, Write
from ferry_sdk._engine.parsing import Record
from ferry_sdk._engine.safety import SAFETY, Safety
from ferry_sdk._protocols.json_body import members_of
from ferry_sdk._protocols.mcp.call import Mcp
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.models.base import Amount
from ferry_sdk.models.bookings import (
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
)
from ferry_sdk.models.enums import PaymentStatus, TicketStatus
from ferry_sdk.models.tickets import PaymentRecorded, Ticket, TicketCancellation
from ferry_sdk.resources.arguments import identifier

ModelT = TypeVar("ModelT", bound=BaseModel)

Recovered = (
    BookingCreated
    | BookingConfirmation
    | BookingCancellation
    | TicketCancellation
    | PaymentRecorded
)


def read_back_created(booking_id: str) -> ReadBack[BookingCreated]:
    """Return how to read back what a create made, by the id that its reply named.

    If the service has the booking, it was created, whatever has become of it since.
    """
    booking_id = identifier(booking_id, "booking_id")  # an error may have an id of any origin
    return ReadBack(reading=read_booking(booking_id), shows=lambda _: True, result=_created)


def read_back(row: Safety, subject: Mapping[str, str]) -> ReadBack[Any] | None:
    """Return how to read back a write on these ids; None if no read can confirm it."""
    for proof in row.confirmed_by:
        if proof.subject in subject:
            make_result = _RESULTS[row.effect or ""]
            complete = _with_refund if row.effect == "bookings.cancel" else None
            read = read_booking if proof.subject == "booking_id" else read_ticket
            return ReadBack(
                reading=read(subject[proof.subject], SAFETY[proof.read]),
                shows=partial(proof.is_confirmed_by, ticket_id=subject.get("ticket_id")),
                result=partial(make_result, dict(subject)),
                complete=complete,
            )
    return None


def change(
    operation: str,
    call: Call,
    model: type[ModelT],
    *,
    subject: Mapping[str, str],
    guard: Guard[Any] | None = None,
) -> Operation[ModelT]:
    """Return a write that changes a booking or a ticket, with how its effect is read back.

    Args:
        operation: Its name in the safety table.
        call: The request.
        model: The model of the reply.
        subject: The id of what is changed, by the name of the argument.
        guard: The check before it is sent; None without one.
    """
    row = SAFETY[operation]
    write = Write(subject, subject, read_back=read_back(row, subject), guard=guard)
    (argument,) = subject
    names = {"id": argument}
    return Operation(call, Record(model, **subject), row, write=write, argument_names=names)


def read_booking(
    booking_id: str, row: Safety = SAFETY["bookings.get"], wait: Wait | None = None
) -> Operation[Booking]:
    """Return the read of a booking, or a poll of it."""
    call = Rest.get("booking", booking_id)
    answer = Record(Booking, booking_id=booking_id)
    return Operation(call, answer, row, wait=wait, argument_names={"id": "booking_id"})


def read_ticket(ticket_id: str, row: Safety) -> Operation[Ticket]:
    """Return the read of a ticket, in the protocol of the row."""
    call: Call = Rest.get("ticket", ticket_id)
    if row.operation == "mcp.view_ticket":
        call = Mcp.tool("view_ticket", {"id": ticket_id})
    return Operation(call, Record(Ticket, id=ticket_id), row, argument_names={"id": "ticket_id"})


def _created(booking: Booking) -> BookingCreated:
    return BookingCreated.model_construct(  # the values of a booking are valid already
        booking_id=booking.booking_id,
        booking_reference=booking.booking_reference,
        stage=booking.stage,
        possible_actions=booking.possible_actions,
        status=booking.status,
        total_price=booking.total_price,
        currency=booking.currency,
        read_back=True,
    )


def _confirmation(subject: Mapping[str, str], booking: Booking) -> BookingConfirmation:
    issued = [ticket for ticket in booking.tickets if ticket.status == TicketStatus.ISSUED]
    tickets = issued or booking.tickets
    return BookingConfirmation(
        booking_id=subject["booking_id"],
        status="confirmed",
        ticket_id=tickets[0].id,
        ticket_number=tickets[0].ticket_number,
        read_back=True,
    )


def _booking_cancellation(subject: Mapping[str, str], _: object) -> BookingCancellation:
    return BookingCancellation(
        booking_id=subject["booking_id"], status="cancelled", refund_amount=None, read_back=True
    )


def _ticket_cancellation(subject: Mapping[str, str], _: object) -> TicketCancellation:
    return TicketCancellation(ticket_id=subject["ticket_id"], status="cancelled", read_back=True)


def _payment(subject: Mapping[str, str], _: object) -> PaymentRecorded:
    return PaymentRecorded(
        ticket_id=subject["ticket_id"], payment_status=PaymentStatus.PAID, read_back=True
    )


def _with_refund(cancellation: BookingCancellation, reply: object) -> BookingCancellation:
    """Add the refund that the reply names, although the rest of it cannot be read."""
    try:
        refund = _refund.validate_python(members_of(reply).get("refund_amount"))
    except ValidationError:
        return cancellation
    return cancellation.model_copy(update={"refund_amount": refund})


_refund: Final[TypeAdapter[Decimal | None]] = TypeAdapter(Amount | None)
_RESULTS: Final[Mapping[str, Callable[[Mapping[str, str], Any], Recovered]]] = {
    "bookings.confirm": _confirmation,
    "bookings.cancel": _booking_cancellation,
    "tickets.cancel": _ticket_cancellation,
    "tickets.mark_paid": _payment,
}
"""Make the result of a write, by its effect, from its ids and the record that was read."""
