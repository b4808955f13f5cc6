"""Cancellation fees."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from ferry_sdk.sandbox.network.network import load_records
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

FEE_SCHEDULES: dict[str, list[tuple[int, int]]] = {
    row["code"]: row["steps"] for row in load_records("tariffs.json")["families"]
}
"""The steps of each fare family: the least hours left, and the percentage that is kept.

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
    percentage = _kept_percentage(family, notice, left)
    penalty = round_to_cents(paid * percentage / 100)
    return Fee(penalty, paid - penalty)


def _kept_percentage(family: str, notice: float, left: timedelta) -> int:
    for hours, percentage in FEE_SCHEDULES[family]:
        if left >= timedelta(hours=hours) * notice:
            return percentage
    return 100
