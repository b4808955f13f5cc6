"""Amounts of money as text."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

_MAX_DIGITS: Final = 50
"""Digits of an amount. A longer one, such as 1E+999999, is shown with an exponent."""


def format_amount(amount: Decimal) -> str:
    """Format an amount with all its digits, and at least two decimal places."""
    _, digits, exponent = amount.as_tuple()
    if len(digits) > _MAX_DIGITS:
        return f"{amount:.{_MAX_DIGITS}E}"
    if abs(amount.adjusted()) > _MAX_DIGITS:
        return str(amount)
    return f"{amount:.2f}" if isinstance(exponent, int) and exponent > -2 else f"{amount:f}"  # noqa: PLR2004 -- digits


def money(amount: Decimal, currency: str) -> str:
    """Format an amount with its currency."""
    return f"{format_amount(amount)} {currency}"
