"""Sums of amounts with all their digits. Python's operators round them to 28."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import reduce

from ferry_sdk._runtime.money import exact_amount

# An amount has at most some thousand digits, so a sum never needs the memory that this allows.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def exact_sum(amounts: Iterable[Decimal]) -> Decimal:
    """Return the sum; 0 of no amounts."""
    return reduce(_EXACT.add, amounts, Decimal(0))


def price_of(amounts: Iterable[Decimal], currency: str) -> Decimal:
    """Return the sum with at least the decimals of its currency, as `print` then shows it."""
    return Decimal(exact_amount(exact_sum(amounts), currency))


def exact_difference(amount: Decimal, other: Decimal) -> Decimal:
    """Return the first amount minus the other."""
    return _EXACT.subtract(amount, other)
