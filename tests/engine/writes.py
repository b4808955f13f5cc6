"""Every write with a good answer to it, and what shows the effect of those that a read shows."""

import pytest

from tests.engine.replies import booking, ticket
from tests.support import samples

ANSWERS = {
    "bookings.create": samples.BOOKING_CREATED,
    "bookings.confirm": samples.BOOKING_CONFIRMATION,
    "bookings.cancel": samples.BOOKING_CANCELLATION,
    "tickets.cancel": samples.TICKET_CANCELLATION,
    "tickets.mark_paid": samples.PAYMENT_RECORDED,
    "mcp.create_booking": samples.BOOKING_CREATED,
    "mcp.confirm_booking": samples.BOOKING_CONFIRMATION,
    "mcp.cancel_ticket": samples.TICKET_CANCELLATION,
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

every_write = pytest.mark.parametrize("name", ANSWERS)
every_shown = pytest.mark.parametrize("name", SHOWN)
