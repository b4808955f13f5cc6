"""The money of a booking from the viewpoint of whoever reads it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.bookings.fees import ZERO, cents
from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.messages import text

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ferry_sdk.sandbox.bookings.bookings import Booking

_ROLES = {Access.READ_WRITE: "agency", Access.ORGANISATION: "organisation"}
_COMMISSION = {Access.READ_WRITE: Decimal("0.05"), Access.ORGANISATION: Decimal("0.08")}


def pricing(booking: Booking, access: Access, language: str) -> JsonValue:
    """What came in, what is kept of it and what goes on to the carrier; None without a role.

    What came in is what was paid less what was paid back, so that it is always what is kept and
    what goes on together. The balance is what the buyer owes: first all, then what is not paid.
    """
    role = _ROLES.get(access)
    if role is None:
        return None
    settled = [ticket.settled for ticket in booking.tickets if ticket.settled is not None]
    charged = sum((ticket.charged for ticket in booking.tickets), start=ZERO)
    received = charged - sum((fee.refund for fee in settled), start=ZERO)
    commission = cents(received * _COMMISSION[access])
    buyer = booking.contact.name if booking.contact else booking.lead_passenger
    carriers = dict.fromkeys(ticket.operator.name for ticket in booking.tickets)
    return {
        "viewer_role": role,
        "currency": "EUR",
        "received": {
            "amount": float(received),
            "currency": "EUR",
            "from_label": buyer,
            "from_kind": "customer",
        },
        "kept": {
            "total": float(commission),
            "lines": [
                {
                    "key": "commission",
                    "label": text("label_commission", language),
                    "amount": float(commission),
                }
            ],
        },
        "reverse": {
            "amount": float(received - commission),
            "currency": "EUR",
            "to_label": ", ".join(carriers),
            "to_kind": "carrier",
        },
        "balance": {
            "mutated": charged > ZERO,
            "before": float(booking.total),
            "after": float(booking.total - charged),
        },
    }
