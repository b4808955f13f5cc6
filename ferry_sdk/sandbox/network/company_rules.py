"""How a company issues tickets, delivers vouchers and counts the notice of a cancellation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.sandbox.network.geography import Company


class Delivery(Enum):
    """How a voucher is delivered."""

    AT_ONCE = "at once"
    LATER = "later"
    BY_EMAIL = "by e-mail"


@dataclass(frozen=True, slots=True)
class CompanyRules:
    """The rules of one company.

    Attributes:
        one_ticket: Whether a round trip is one ticket instead of two.
        issuing_time: How long a ticket is Pending after confirmation.
        delivery: How the voucher is delivered.
        notice: The factor on the hours of the cancellation schedule.
    """

    one_ticket: bool
    issuing_time: timedelta
    delivery: Delivery
    notice: float

    @property
    def voucher_delay(self) -> timedelta | None:
        """The time from issue until the voucher can be fetched; None for never."""
        return _DELAYS[self.delivery]


_DELAYS = {
    Delivery.AT_ONCE: timedelta(),
    Delivery.LATER: timedelta(minutes=10),
    Delivery.BY_EMAIL: None,
}
_INSTANT, _SLOW = timedelta(), timedelta(seconds=3)
_EASY, _USUAL, _STRICT = 0.5, 1.0, 2.0

# By company code: one ticket, issuing time, voucher later, notice.
_KNOWN = {
    "CTN": (True, _INSTANT, False, _USUAL),
    "CORSICALINEA": (False, _INSTANT, False, _EASY),
    "CORSICAFERRIES": (True, _INSTANT, False, _USUAL),
    "GNV": (False, _INSTANT, True, _USUAL),
    "GRIMALDI": (True, _SLOW, False, _STRICT),
    "MOBY": (False, _SLOW, False, _USUAL),
    "BALEARIA": (False, _INSTANT, False, _EASY),
    "BRITTANY": (True, _INSTANT, False, _USUAL),
    "DFDS": (False, _SLOW, True, _STRICT),
    "POFERRIES": (True, _INSTANT, False, _EASY),
    "BLUESTAR": (False, _INSTANT, False, _USUAL),
}


@cache
def company_rules(company: Company) -> CompanyRules:
    """Return the rules of a company: known ones from the table, others from its code."""
    random = hashlib.sha256(company.code.encode()).digest()
    one_ticket, issuing_time, later, notice = _KNOWN.get(
        company.code,
        (
            random[0] % 2 == 0,
            _SLOW if random[1] % 4 == 0 else _INSTANT,
            random[2] % 4 == 0,
            (_EASY, _USUAL, _STRICT)[random[3] % 3],
        ),
    )
    if company.mails_vouchers:
        delivery = Delivery.BY_EMAIL
    else:
        delivery = Delivery.LATER if later else Delivery.AT_ONCE
    return CompanyRules(one_ticket, issuing_time, delivery, notice)
