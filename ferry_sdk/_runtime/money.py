"""Amounts of money as text, with the digits of their currency."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from ferry_sdk._runtime.data import data_beside

_MAX_DIGITS: Final = 50
"""Digits of an amount. A longer one, such as 1E+999999, is shown with an exponent."""

_USUAL_DECIMALS: Final = 2
_DECIMALS: Final[dict[str, int]] = data_beside(__file__)
"""The decimals of the minor unit of ISO 4217, of currencies that do not have two."""


def exact_amount(amount: Decimal, currency: str = "") -> str:
    """Format an amount with all its digits, and at least the decimals of its currency."""
    if len(amount.as_tuple().digits) > _MAX_DIGITS or abs(amount.adjusted()) > _MAX_DIGITS:
        return str(amount)
    whole, _, decimals = f"{amount:f}".partition(".")
    decimals = decimals.rstrip("0").ljust(_DECIMALS.get(currency, _USUAL_DECIMALS), "0")
    return f"{whole}.{decimals}" if decimals else whole


def format_amount(amount: Decimal, currency: str = "") -> str:
    """Format an amount for people: as `exact_amount`, but no longer than a line."""
    if len(amount.as_tuple().digits) > _MAX_DIGITS:
        return f"{amount:.{_MAX_DIGITS}E}"
    return exact_amount(amount, currency)


def money(amount: Decimal, currency: str) -> str:
    """Format an amount with its currency."""
    return f"{format_amount(amount, currency)} {currency}"
