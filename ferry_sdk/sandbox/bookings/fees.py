"""Cancellation fees."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from ferry_sdk.sandbox.offers.fares import round_to_cents

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
