"""Every call that schedules make, with arguments that make a good one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support import summer

if TYPE_CHECKING:
    from ferry_sdk.models import SelectionDict

_LIMITS = {"max_penalty": 9999, "min_refund": 0, "currency": "EUR"}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call is about."""

    selection: list[SelectionDict]
    booking_id: Any = None
    ticket_id: Any = None
    total: Any = None
    traveller: Any = field(default_factory=lambda: summer.TRAVELLER)

    @property
    def sailing(self):
        """What makes a booking."""
        return {"availabilities": self.selection, "passengers": [self.traveller]}


CALLS = {
    "bookings.create": lambda ferry, it: ferry.bookings.create(**it.sailing),
    "bookings.confirm": lambda ferry, it: ferry.bookings.confirm(it.booking_id),
    "bookings.cancel": lambda ferry, it: ferry.bookings.cancel(it.booking_id),
    "tickets.cancel": lambda ferry, it: ferry.tickets.cancel(it.ticket_id),
    "tickets.mark_paid": lambda ferry, it: ferry.tickets.mark_paid(
        it.ticket_id, external_payment_ref="pay-1"
    ),
    "mcp.create_booking": lambda ferry, it: ferry.mcp.create_booking(**it.sailing),
    "mcp.confirm_booking": lambda ferry, it: ferry.mcp.confirm_booking(it.booking_id),
    "mcp.cancel_ticket": lambda ferry, it: ferry.mcp.cancel_ticket(it.ticket_id),
    "availability.search": lambda ferry, _: ferry.availability.search(**summer.search()),
    "bookings.get": lambda ferry, it: ferry.bookings.get(it.booking_id),
    "tickets.get": lambda ferry, it: ferry.tickets.get(it.ticket_id),
    "tickets.pdf": lambda ferry, it: ferry.tickets.pdf(it.ticket_id),
    "catalogue.ports": lambda ferry, _: ferry.catalogue.ports(),
    "mcp.view_ticket": lambda ferry, it: ferry.mcp.view_ticket(it.ticket_id),
    "mcp.ports": lambda ferry, _: ferry.mcp.ports(),
}
"""The calls, by their public names; made by a client, or begun by an async one."""

GUARDED = {
    **CALLS,
    "bookings.confirm": lambda ferry, it: ferry.bookings.confirm(
        it.booking_id, expect_total=it.total, currency="EUR"
    ),
    "bookings.cancel": lambda ferry, it: ferry.bookings.cancel(it.booking_id, **_LIMITS),
    "tickets.cancel": lambda ferry, it: ferry.tickets.cancel(it.ticket_id, **_LIMITS),
    "tickets.mark_paid": lambda ferry, it: ferry.tickets.mark_paid(
        it.ticket_id, external_payment_ref="pay-1", booking_id=it.booking_id
    ),
}
"""The same; where they can, they look before they act, or name what can be looked at after."""
