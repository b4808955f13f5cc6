"""What cancelling costs: ladders by fare family and the time left before departure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

ZERO = Decimal("0.00")
_CENT = Decimal("0.01")


class Step(NamedTuple):
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

LADDERS: dict[str, tuple[Step, ...]] = {
    "flex": (
        Step(timedelta(hours=24), Decimal(0)),
        Step(timedelta(hours=2), Decimal("0.20")),
        Step(timedelta(0), Decimal("0.50")),
    ),
    "standard": (
        Step(timedelta(days=7), Decimal("0.20")),
        Step(timedelta(hours=48), Decimal("0.50")),
        Step(timedelta(0), Decimal(1)),
    ),
    "saver": (Step(timedelta(0), Decimal(1)),),
}
"""The steps of each fare family, the longest notice first."""


def cents(amount: Decimal) -> Decimal:
    """An amount in whole cents, halves rounded up."""
    return amount.quantize(_CENT, ROUND_HALF_UP)


def cancellation(paid: Decimal, *, family: str, notice: float, left: timedelta) -> Fee:
    """What cancelling costs.

    Args:
        paid: What was paid.
        family: The fare family.
        notice: The carrier's factor on the hours of the ladder.
        left: The time left before departure; after it everything is kept.
    """
    rate = next(
        (step.rate for step in LADDERS[family] if left >= step.notice * notice),
        Decimal(1),
    )
    penalty = cents(paid * rate)
    return Fee(penalty, paid - penalty)
