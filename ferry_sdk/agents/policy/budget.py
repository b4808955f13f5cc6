"""Limits on what an agent may spend, and on what a cancellation may cost.

An amount counts before anybody is asked, so that two writes cannot both pass the limit. For
example, with a limit of 100 EUR:

1. `hold` counts 60 EUR for a booking. A second booking of 60 EUR is refused from here on.
2. If the booking is not made, `release` gives the 60 EUR back.
3. If it is made, `settle` counts its real price under its id, such as 62 EUR for ``b-1``.
4. `give_back` stops counting it if it ends unpaid. Of a paid booking nothing is given back.

A limit for each booking is checked in step 1, too. It counts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from ferry_sdk._runtime.money import format_amount, money
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.state import State, Table
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.models.base import Money, path_of
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.sums import exact_sum
from ferry_sdk.models.tickets import CancellationFee, TicketCancellation

Limits = Mapping[str, Decimal | int | str]
_LIMITS: Final = TypeAdapter(
    dict[Annotated[str, Field(pattern="^[A-Z]{3}$")], Annotated[Money, Field(ge=0)]]
)
Amount = tuple[Decimal, str]
"""An amount and its currency."""


@dataclass(frozen=True, slots=True)
class Hold:
    """An amount that counts.

    Attributes:
        table: Whether it counts as spent or as a penalty.
        key: Its key in that table.
        before: The amount that it replaced, if any.
        other: A second amount of the same write.
    """

    table: Literal["spent", "penalties"]
    key: str
    before: Amount | None
    other: Hold | None = None


class _PenaltyKey(NamedTuple):
    """Identifies a penalty: the booking, if it is known, and the booking or ticket cancelled."""

    booking_id: str | None
    subject: str

    @property
    def text(self) -> str:
        """The key as the state stores it."""
        return json.dumps([self.booking_id, self.subject])

    @classmethod
    def of(cls, text: str) -> _PenaltyKey:
        """Return the key of a stored text."""
        booking_id, subject = json.loads(text)
        return cls(booking_id, subject)

    def may_share_booking(self, other: _PenaltyKey) -> bool:
        """Return whether two penalties may be of one booking; an unknown one may be any."""
        return self.booking_id == other.booking_id or None in {self.booking_id, other.booking_id}


class Budget:
    """Count what a toolkit spends; safe to share between threads.

    A cancellation of a paid booking gives nothing back, so that a loop that books, pays and cancels
    ends at the limit, too.

    Args:
        spend_limit: The most that may be spent, by currency; None: no limit.
        penalty_limit: The most that cancelling one booking with all its tickets may cost, by
            currency; None: no limit.
        state: Where the amounts are kept; None: in memory.
        per_booking: The most that one booking may cost, by currency; None: no limit.

    Attributes:
        approved: The prices at which bookings were approved, by their ids.

    Raises:
        ConfigurationError: A limit is not an amount, or its currency is not a currency code.
    """

    def __init__(
        self,
        spend_limit: Limits | None,
        penalty_limit: Limits | None,
        state: State | None = None,
        *,
        per_booking: Limits | None = None,
    ) -> None:
        self._spend = _parse_limits(spend_limit, "spend_limit")
        self._per_booking = _parse_limits(per_booking, "per_booking")
        self._penalty = _parse_limits(penalty_limit, "penalty_limit")
        self._state = state or State()
        self._held = self._state.table("spent", tuple[Decimal, str])
        self.approved: Table[Amount] = self._state.table("approved", tuple[Decimal, str])
        self._kept = self._state.table("penalties", tuple[Decimal, str])
        self._amounts = {"spent": self._held, "penalties": self._kept}
        self._unpaid = self._state.table("unpaid_tickets", bool)

    def hold(self, key: str, amount: Decimal, currency: str) -> Hold:
        """Count an amount as spent, in place of an earlier amount for the same key.

        Raises:
            RefusedError: The amount exceeds the limit for one booking, or the total its limit.
        """
        if self._per_booking is not None:
            most = self._per_booking.get(currency)
            if most is None or amount > most:
                raise _limit_error(
                    "per_booking", self._per_booking, amount=amount, currency=currency
                )

        with self._state.transaction():
            before = self._held.get(key)
            if self._spend is not None:
                limit = self._spend.get(currency)
                total = exact_sum([amount, *self._spent(currency, except_for=key)])
                if limit is None or total > limit:
                    spent = exact_sum(self._spent(currency))
                    raise _limit_error(
                        "spend_limit",
                        self._spend,
                        amount=amount,
                        currency=currency,
                        spent=str(spent),
                    )

            self._held[key] = max(amount, Decimal(0)), currency
            return Hold("spent", key, before)

    def limits(self, currency: str) -> dict[str, str]:
        """Return the limits in a currency, for a person."""
        limits: dict[str, str] = {}
        if self._spend is not None:
            spent = format_amount(exact_sum(self._spent(currency)))
            limits["Spending limit"] = f"{_limit(self._spend, currency)}, {spent} of it used"
        if self._per_booking is not None:
            limits["Limit for one booking"] = _limit(self._per_booking, currency)
        if self._penalty is not None:
            limits["Limit for a cancellation"] = _limit(self._penalty, currency)
        return limits

    def _spent(self, currency: str, except_for: str | None = None) -> list[Decimal]:
        """Return the amounts that count in a currency, perhaps except for that of a key."""
        return [
            amount
            for key, (amount, its_currency) in self._held.items()
            if its_currency == currency and key != except_for
        ]

    def release(self, hold: Hold) -> None:
        """Undo a hold of an amount that was not spent: put back what it replaced."""
        with self._state.transaction():
            amounts = self._amounts[hold.table]
            is_held = amounts.pop(hold.key, None) is not None
            if is_held and hold.before is not None:
                amounts[hold.key] = hold.before

            if hold.other is not None:
                self.release(hold.other)

    def settle(self, hold: Hold, key: str, amount: Decimal, currency: str) -> None:
        """Replace a hold by the real price, even above the limit, under a new key."""
        with self._state.transaction():
            self.approved[key] = self._amounts[hold.table].get(hold.key, (amount, currency))
            self.release(hold)
            self._held[key] = max(amount, Decimal(0)), currency

    def give_back(self, result: object, booking: tuple[str, Collection[str]] | None) -> str | None:
        """Stop counting the booking that a result ends, if it was certainly never paid.

        If it was paid, its price is either kept as a penalty or paid back.

        Args:
            result: The result of a call.
            booking: The booking of the ticket that the result names, and the ids of all tickets of
                that booking; None if they are not known.

        Returns:
            The id of the booking that has ended; None if the result ends none.
        """
        with self._state.transaction():
            if isinstance(result, Booking) and result.stage in {Stage.VOIDED, Stage.LAPSED}:
                ended = result.booking_id
                is_unpaid = result.stage == Stage.LAPSED
            elif isinstance(result, BookingCancellation):
                ended = result.booking_id
                is_unpaid = _costs_nothing(result.previewed) and not result.refund_amount
            elif isinstance(result, TicketCancellation) and booking is not None:
                self._unpaid[result.ticket_id] = _costs_nothing(result.previewed)
                ended, tickets = booking
                is_unpaid = all(self._unpaid.get(ticket) for ticket in tickets)
                if not is_unpaid:  # other tickets may stand
                    return None
            else:
                return None

            if is_unpaid:
                self._held.pop(ended, None)
            return ended

    def hold_penalty(
        self, booking_id: str | None, subject: str, penalty: Decimal, currency: str
    ) -> Hold:
        """Count a penalty, together with the other penalties of its booking.

        If a ticket's booking is not known (None), its penalty counts for every booking.

        Raises:
            RefusedError: The total would exceed the limit for one booking.
        """
        with self._state.transaction():
            key = _PenaltyKey(booking_id, subject)
            if self._penalty is not None:
                limit = self._penalty.get(currency)
                kept = exact_sum(self._kept_beside(key, currency))
                if limit is None or exact_sum((kept, penalty)) > limit:
                    raise _limit_error(
                        "penalty_limit",
                        self._penalty,
                        amount=penalty,
                        currency=currency,
                        penalty=str(penalty),
                        kept=str(kept),
                    )

            before = self._kept.get(key.text)
            self._kept[key.text] = max(penalty, Decimal(0)), currency
            return Hold("penalties", key.text, before)

    def _kept_beside(self, key: _PenaltyKey, currency: str) -> list[Decimal]:
        """Return the penalties in a currency that may be of the same booking, except its own."""
        kept: list[Decimal] = []
        for text, (amount, its_currency) in self._kept.items():
            other = _PenaltyKey.of(text)
            is_same_currency = its_currency == currency
            if is_same_currency and other.subject != key.subject and key.may_share_booking(other):
                kept.append(amount)
        return kept


def _limit(limits: Mapping[str, Decimal], currency: str) -> str:
    return money(limits.get(currency, Decimal(0)), currency)


def _limit_error(
    code: str, limits: Mapping[str, Decimal], *, amount: Decimal, currency: str, **amounts: str
) -> RefusedError:
    """Return the refusal of an amount above its limit, or without a limit in its currency.

    Args:
        code: The limit, which is also the code of the answer.
        limits: Its amounts, by currency.
        amount: What exceeds it.
        currency: The currency of `amount`.
        amounts: Further amounts that the answer names, such as what is spent.
    """
    details = {"limit": str(limits.get(currency, 0)), **amounts, "currency": currency}
    if currency in limits:
        return RefusedError(code, amount, currency, **details)
    others = " or ".join(limits) or "no currency"
    return RefusedError(f"{code}_elsewhere", amount, currency, others, **details)


def _costs_nothing(fee: CancellationFee | None) -> bool:
    return fee is not None and not (fee.penalty_amount or fee.refund_amount)


def _parse_limits(limits: Limits | None, setting: str) -> dict[str, Decimal] | None:
    if limits is None:
        return None
    try:
        return _LIMITS.validate_python(limits)
    except ValidationError as error:
        raise ConfigurationError(f"{setting}: {path_of(error)[1]}") from None
