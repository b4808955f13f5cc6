"""Prices, balances and cancellation fees of bookings and tickets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.errors import text

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ferry_sdk.sandbox.bookings.bookings import Booking


ZERO = Decimal("0.00")
_CENT = Decimal("0.01")


class FeeStep(NamedTuple):
    """With at least `notice` before departure, cancelling keeps this `rate` of what was paid."""

    notice: timedelta
    rate: Decimal


@dataclass(frozen=True, slots=True)
class Fee:
    """What is kept and what is paid back; together what was paid."""

    penalty: Decimal
    refund: Decimal

    def __add__(self, other: Fee) -> Fee:
        return Fee(self.penalty + other.penalty, self.refund + other.refund)


NO_FEE = Fee(ZERO, ZERO)

FEE_SCHEDULES: dict[str, tuple[FeeStep, ...]] = {
    "flex": (
        FeeStep(timedelta(hours=24), Decimal(0)),
        FeeStep(timedelta(hours=2), Decimal("0.20")),
        FeeStep(timedelta(0), Decimal("0.50")),
    ),
    "standard": (
        FeeStep(timedelta(days=7), Decimal("0.20")),
        FeeStep(timedelta(hours=48), Decimal("0.50")),
        FeeStep(timedelta(0), Decimal(1)),
    ),
    "saver": (FeeStep(timedelta(0), Decimal(1)),),
}
"""The steps of each fare family, the longest notice first."""


def cents(amount: Decimal) -> Decimal:
    """An amount in whole cents, halves rounded up."""
    return amount.quantize(_CENT, ROUND_HALF_UP)


def cancellation_fee(paid: Decimal, *, family: str, notice: float, left: timedelta) -> Fee:
    """What cancelling costs.

    Args:
        paid: What was paid.
        family: The fare family.
        notice: The carrier's factor on the hours of the ladder.
        left: The time left before departure; after it everything is kept.
    """
    rate = next(
        (step.rate for step in FEE_SCHEDULES[family] if left >= step.notice * notice),
        Decimal(1),
    )
    penalty = cents(paid * rate)
    return Fee(penalty, paid - penalty)


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
    settlement = [ticket.settlement for ticket in booking.tickets if ticket.settlement is not None]
    charged = sum((ticket.charged for ticket in booking.tickets), start=ZERO)
    received = charged - sum((fee.refund for fee in settlement), start=ZERO)
    commission = cents(received * _COMMISSION[access])
    buyer = booking.contact.name if booking.contact else booking.lead_passenger
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
