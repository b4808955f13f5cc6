"""Changes by a company after the sale: it cancels a sailing, or moves a departure.

The interface has no event for either, so a client learns of it when it reads the booking again.
"""

from __future__ import annotations

from datetime import timedelta

from ferry_sdk.models.enums import TicketStatus
from ferry_sdk.sandbox.bookings.bookings import Booking
from ferry_sdk.sandbox.bookings.tickets import GONE
from ferry_sdk.sandbox.faults.details import DepartureMoved, Disruption, SailingCancelled
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.requests.access import CallContext


def apply_disruptions(booking: Booking, faults: Faults, context: CallContext) -> None:
    """Cancel a sailing or move a departure of a booking, if a fault says so."""

    def applies(details: Disruption) -> bool:
        if details.index >= len(booking.crossings):
            return False
        ticket, leg = booking.crossings[details.index]
        if isinstance(details, DepartureMoved) and leg.moved:
            return False
        if details.only_issued and ticket.status is not TicketStatus.ISSUED:
            return False
        return ticket.status not in GONE and context.now < leg.offer.ends_at

    if cancelled := faults.take(SailingCancelled, context.operation, applies):
        ticket, _ = booking.crossings[cancelled.index]
        ticket.end(TicketStatus.CANCELED)
    if moved := faults.take(DepartureMoved, context.operation, applies):
        ticket, leg = booking.crossings[moved.index]
        ticket.move(leg, timedelta(minutes=moved.minutes))
