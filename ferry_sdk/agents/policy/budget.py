"""Limits on what an agent may spend, and on what a cancellation may cost."""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.errors import ConfigurationError, InvalidInputError
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.enums import Stage
from ferry_sdk.resources.arguments import money

Limits = Mapping[str, Decimal | int | str]

Amounts = dict[Hashable, tuple[Decimal, str]]


@dataclass(frozen=True, slots=True)
class Hold:
    """An amount that counts as spent, or as a penalty, in a table; `before` is what it replaced."""

    amounts: Amounts = field(repr=False)
    key: Hashable
    before: tuple[Decimal, str] | None


class Budget:
    """Count what a toolkit spends; safe to share between threads.

    A cancellation of a paid booking gives nothing back, so that a loop that books, pays and cancels
    ends at the limit, too.

    Args:
        spend_limit: The most that may be spent, by currency; None: no limit.
        penalty_limit: The most that cancelling one booking with all its tickets may cost, by
            currency; None: no limit.

    Raises:
        ConfigurationError: A limit is not an amount, or its currency is not a currency code.
    """

    def __init__(self, spend_limit: Limits | None, penalty_limit: Limits | None) -> None:
        self._spend = _parse_limits(spend_limit, "spend_limit")
        self._penalty = _parse_limits(penalty_limit, "penalty_limit")
        self._held: Amounts = {}
        self._approved: dict[str, tuple[Decimal, str]] = {}
        self._kept: dict[tuple[str | None, str], tuple[Decimal, str]] = {}
        self._lock = threading.RLock()

    def hold(self, key: str, amount: Decimal, currency: str) -> Hold:
        """Count an amount as spent, in place of an earlier amount for the same key.

        Raises:
            RefusedError: The total would exceed the limit.
        """
        with self._lock:
            before = self._held.get(key)
            others = [held for its_key, held in self._held.items() if its_key != key]
            spent = sum((held for held, its in others if its == currency), Decimal(0))
            limit = None if self._spend is None else self._spend.get(currency)
            if self._spend is not None and (limit is None or spent + amount > limit):
                raise RefusedError(
                    "spend_limit",
                    f"{amount} {currency} is more than may still be spent",
                    limit=str(limit or 0),
                    spent=str(spent + (before[0] if before and before[1] == currency else 0)),
                    currency=currency,
                )
            self._held[key] = max(amount, Decimal(0)), currency
            return Hold(self._held, key, before)

    def release(self, hold: Hold) -> None:
        """Undo a hold of an amount that was not spent: put back what it replaced."""
        with self._lock:
            is_held = hold.amounts.pop(hold.key, None) is not None
            if is_held and hold.before is not None:
                hold.amounts[hold.key] = hold.before

    def settle(self, hold: Hold, key: str, amount: Decimal, currency: str) -> None:
        """Replace a hold by the real price, even above the limit, under a new key."""
        with self._lock:
            self._approved[key] = hold.amounts.get(hold.key, (amount, currency))
            self.release(hold)
            self._held[key] = max(amount, Decimal(0)), currency

    def approved(self, booking_id: str) -> tuple[Decimal, str] | None:
        """Return the price at which a booking was approved, if it was made here."""
        with self._lock:
            return self._approved.get(booking_id)

    def give_back(self, ended: Booking | BookingCancellation) -> None:
        """Stop counting a booking that has ended and was certainly never paid.

        If it was paid, its price is either kept as a penalty or paid back.
        """
        if isinstance(ended, Booking):
            is_unpaid = ended.stage == Stage.LAPSED
        else:
            fee = ended.previewed
            paid = ended.refund_amount or (fee and (fee.penalty_amount or fee.refund_amount))
            is_unpaid = fee is not None and not paid
        if is_unpaid:
            with self._lock:
                self._held.pop(ended.booking_id, None)

    def hold_penalty(
        self, booking_id: str | None, subject: str, penalty: Decimal, currency: str
    ) -> Hold:
        """Count a penalty, together with the other penalties of its booking.

        If a ticket's booking is not known (None), its penalty counts for every booking.

        Raises:
            RefusedError: The total would exceed the limit for one booking.
        """
        with self._lock:
            key = booking_id, subject
            kept = sum(
                (
                    amount
                    for (its_booking, its_subject), (amount, its) in self._kept.items()
                    if its_subject != subject
                    and its == currency
                    and (its_booking == booking_id or None in (its_booking, booking_id))
                ),
                Decimal(0),
            )
            limit = None if self._penalty is None else self._penalty.get(currency)
            if self._penalty is not None and (limit is None or kept + penalty > limit):
                raise RefusedError(
                    "penalty_limit",
                    f"cancelling costs {penalty} {currency}, which is more than allowed",
                    limit=str(limit or 0),
                    penalty=str(penalty),
                    kept=str(kept),
                    currency=currency,
                )
            before = self._kept.get(key)
            self._kept[key] = max(penalty, Decimal(0)), currency
            return Hold(cast("Amounts", self._kept), key, before)


def _parse_limits(given: Limits | None, setting: str) -> dict[str, Decimal] | None:
    if given is None:
        return None
    limits: dict[str, Decimal] = {}
    for currency, limit in given.items():
        if not re.fullmatch(r"[A-Z]{3}", currency):
            raise ConfigurationError(f"{setting}: expected a currency such as EUR")
        try:
            limits[currency] = money(limit, setting)
        except InvalidInputError as error:
            raise ConfigurationError(str(error)) from None
        if limits[currency] < 0:
            raise ConfigurationError(f"{setting}: expected at least 0")
    return limits
