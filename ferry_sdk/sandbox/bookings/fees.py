"""Prices, balances and cancellation fees."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.offers.fares import round_to_cents
from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.errors import text

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ferry_sdk.sandbox.bookings.bookings import Booking


ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class Fee:
    """The amounts kept and refunded; their sum is the payment."""

    penalty: Decimal
    refund: Decimal

    def __add__(self, other: Fee) -> Fee:
        return Fee(self.penalty + other.penalty, self.refund + other.refund)


NO_FEE = Fee(ZERO, ZERO)

FEE_SCHEDULES: dict[str, tuple[tuple[timedelta, Decimal], ...]] = {
    "flex": (
        (timedelta(hours=24), Decimal(0)),
        (timedelta(hours=2), Decimal("0.20")),
        (timedelta(0), Decimal("0.50")),
    ),
    "standard": (
        (timedelta(days=7), Decimal("0.20")),
        (timedelta(hours=48), Decimal("0.50")),
    ),
    "saver": (),
}
"""The steps of each fare family: the least time left, and the rate that is kept of the payment.

The longest time comes first. With less time than in the last step, everything is kept.
"""


def cancellation_fee(paid: Decimal, *, family: str, notice: float, left: timedelta) -> Fee:
    """Return the fee of a cancellation.

    Args:
        paid: The amount paid.
        family: The fare family.
        notice: The company's factor on the hours of the schedule.
        left: The time left before departure; after departure everything is kept.
    """
    rates = (rate for least, rate in FEE_SCHEDULES[family] if left >= least * notice)
    rate = next(rates, Decimal(1))
    penalty = round_to_cents(paid * rate)
    return Fee(penalty, paid - penalty)


_ROLES = {
    Access.READ_WRITE: ("agency", Decimal("0.05")),
    Access.ORGANISATION: ("organisation", Decimal("0.08")),
}
"""The role of a token's owner, and their commission."""


def pricing(booking: Booking, access: Access, language: str) -> JsonValue:
    """Return the `pricing` object; None for a token without a role.

    `received` is the payments less the refunds. The commission is kept, and the rest is passed on
    to the company. `balance` is what the buyer owed at first and owes now.
    """
    if access not in _ROLES:
        return None
    role, rate = _ROLES[access]
    settlement = [ticket.settlement for ticket in booking.tickets if ticket.settlement is not None]
    charged = sum((ticket.charged for ticket in booking.tickets), start=ZERO)
    received = charged - sum((fee.refund for fee in settlement), start=ZERO)
    commission = round_to_cents(received * rate)
    first = booking.passengers[0]
    buyer = booking.contact.name if booking.contact else f"{first.first_name} {first.last_name}"
    companies = dict.fromkeys(ticket.company.name for ticket in booking.tickets)
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
            "to_label": ", ".join(companies),
            "to_kind": "carrier",
        },
        "balance": {
            "mutated": charged > ZERO,
            "before": float(booking.total),
            "after": float(booking.total - charged),
        },
    }
