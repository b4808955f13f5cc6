"""Every write with a good answer to it, and what shows the effect of those that a read shows."""

from __future__ import annotations

from tests.engine.replies import booking, ticket
from tests.support.samples import (
    BOOKING_CANCELLATION,
    BOOKING_CONFIRMATION,
    BOOKING_CREATED,
    PAYMENT_RECORDED,
    TICKET_CANCELLATION,
)
from tests.support.tables import each

ANSWERS = {
    "bookings.create": BOOKING_CREATED,
    "bookings.confirm": BOOKING_CONFIRMATION,
    "bookings.cancel": BOOKING_CANCELLATION,
    "tickets.cancel": TICKET_CANCELLATION,
    "tickets.mark_paid": PAYMENT_RECORDED,
    "mcp.create_booking": BOOKING_CREATED,
    "mcp.confirm_booking": BOOKING_CONFIRMATION,
    "mcp.cancel_ticket": TICKET_CANCELLATION,
    "mcp.call_tool": {"painted": True},
}
SHOWN = {
    "bookings.confirm": booking("ticketed", "Issued"),
    "bookings.cancel": booking("voided", "Canceled"),
    "tickets.cancel": ticket("Canceled"),
    "tickets.mark_paid": ticket("Issued"),
    "mcp.confirm_booking": booking("ticketed", "Issued"),
    "mcp.cancel_ticket": ticket("Canceled"),
}

every_write = each("name", ANSWERS)
every_shown = each("name", SHOWN)
