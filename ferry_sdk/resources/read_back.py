"""Read back the effect of a write, and build the write's result from what is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ferry_sdk._engine.operation import Call, Operation, ReadBack, Wait
from ferry_sdk._engine.parsing import Record
from ferry_sdk._engine.safety import SAFETY, Proof, Safety
from ferry_sdk._protocols.mcp.call import Mcp
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.models.bookings import Booking, BookingCancellation, BookingConfirmation
from ferry_sdk.models.enums import PaymentStatus, TicketStatus
from ferry_sdk.models.tickets import PaymentRecorded, Ticket, TicketCancellation

Recovered = BookingConfirmation | BookingCancellation | TicketCancellation | PaymentRecorded


def read_back(row: Safety, subject: Mapping[str, str]) -> ReadBack[Any] | None:
    """Return how to read back a write on these ids; None if no read can confirm it."""
    for proof in row.confirmed_by:
        if proof.subject in subject:
            make = _RESULTS[row.effect or ""]
            return ReadBack(
                reading=_read_operation(proof, subject[proof.subject]),
                shows=partial(proof.is_confirmed_by, ticket_id=subject.get("ticket_id")),
                result=partial(make, dict(subject)),
            )
    return None


def read_booking(
    booking_id: str, row: Safety = SAFETY["bookings.get"], wait: Wait | None = None
) -> Operation[Booking]:
    """Return the read of a booking, or a poll of it."""
    call = Rest.get("booking", booking_id)
    return Operation(
        call,
        Record(Booking, booking_id=booking_id),
        row,
        wait=wait,
        argument_names={"id": "booking_id"},
    )


def _read_operation(proof: Proof, identifier: str) -> Operation[Booking] | Operation[Ticket]:
    if proof.read == "bookings.get":
        return read_booking(identifier)
    call: Call = Rest.get("ticket", identifier)
    if proof.read == "mcp.view_ticket":
        call = Mcp.tool("view_ticket", {"id": identifier})
    return Operation(call, Record(Ticket, id=identifier), SAFETY[proof.read])


def _confirmation(subject: Mapping[str, str], booking: Booking) -> BookingConfirmation:
    issued = [ticket for ticket in booking.tickets if ticket.status == TicketStatus.ISSUED]
    first = (issued or booking.tickets)[0]
    return BookingConfirmation(
        booking_id=subject["booking_id"],
        status="confirmed",
        ticket_id=first.id,
        ticket_number=first.ticket_number,
        read_back=True,
    )


_RESULTS: Final[Mapping[str, Callable[[Mapping[str, str], Any], Recovered]]] = {
    "bookings.confirm": _confirmation,
    "bookings.cancel": lambda subject, _: BookingCancellation(
        booking_id=subject["booking_id"], status="cancelled", refund_amount=None, read_back=True
    ),
    "tickets.cancel": lambda subject, _: TicketCancellation(
        ticket_id=subject["ticket_id"], status="cancelled", read_back=True
    ),
    "tickets.mark_paid": lambda subject, _: PaymentRecorded(
        ticket_id=subject["ticket_id"], payment_status=PaymentStatus.PAID, read_back=True
    ),
}
