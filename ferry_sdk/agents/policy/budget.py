"""Limits on what an agent may spend, and on what a cancellation may cost."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

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
    """An amount that counts as spent, or as a penalty; `before` is what it replaced.

    `other` is a second amount of the same write.
    """

    table: Literal["spent", "penalties"]
    key: str
    before: Amount | None
    other: Hold | None = None


class Budget:
    """Count what a toolkit spends; safe to share between threads.

    A cancellation of a paid booking gives nothing back, so that a loop that books, pays and cancels
    ends at the limit, too.

    Args:
        spend_limit: The most that may be spent, by currency; None: no limit.
        penalty_limit: The most that cancelling one booking with all its tickets may cost, by
            currency; None: no limit.
        state: Where the amounts are kept; None: in memory.

    Attributes:
        approved: The prices at which bookings were approved, by their ids.

    Raises:
        ConfigurationError: A limit is not an amount, or its currency is not a currency code.
    """

    def __init__(
        self, spend_limit: Limits | None, penalty_limit: Limits | None, state: State | None = None
    ) -> None:
        self._spend = _parse_limits(spend_limit, "spend_limit")
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
            RefusedError: The total would exceed the limit.
        """
        with self._state.transaction():
            before = self._held.get(key)
            others = [held for its_key, held in self._held.items() if its_key != key]
            total = exact_sum([amount, *(held for held, its in others if its == currency)])
            limit = None if self._spend is None else self._spend.get(currency)
            if self._spend is not None and (limit is None or total > limit):
                spent = str(exact_sum(its for its, of in self._held.values() if of == currency))
                raise _limit_error("spend_limit", self._spend, amount, currency, spent=spent)
            self._held[key] = max(amount, Decimal(0)), currency
            return Hold("spent", key, before)

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

    def give_back(self, result: object, whole: tuple[str, Collection[str]] | None) -> str | None:
        """Stop counting the booking that a result ends, if it was certainly never paid.

        If it was paid, its price is either kept as a penalty or paid back.

        Args:
            result: The result of a call.
            whole: The booking of the ticket that the result names, and the ids of all tickets of
                that booking; None if they are not known.

        Returns:
            The id of the booking that has ended; None if the result ends none.
        """
        with self._state.transaction():
            if isinstance(result, Booking) and result.stage in {Stage.VOIDED, Stage.LAPSED}:
                ended, is_unpaid = result.booking_id, result.stage == Stage.LAPSED
            elif isinstance(result, BookingCancellation):
                ended = result.booking_id
                is_unpaid = _costs_nothing(result.previewed) and not result.refund_amount
            elif isinstance(result, TicketCancellation) and whole is not None:
                self._unpaid[result.ticket_id] = _costs_nothing(result.previewed)
                ended, tickets = whole
                is_unpaid = all(self._unpaid.get(ticket) for ticket in tickets)
                if not is_unpaid:
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
            key = json.dumps([booking_id, subject])
            kept = exact_sum(
                amount
                for its_key, (amount, its) in self._kept.items()
                for its_booking, its_subject in [json.loads(its_key)]
                if its_subject != subject
                and its == currency
                and (its_booking == booking_id or None in (its_booking, booking_id))
            )
            limit = None if self._penalty is None else self._penalty.get(currency)
            if self._penalty is not None and (limit is None or exact_sum((kept, penalty)) > limit):
                amounts = {"penalty": str(penalty), "kept": str(kept)}
                raise _limit_error("penalty_limit", self._penalty, penalty, currency, **amounts)
            before = self._kept.get(key)
            self._kept[key] = max(penalty, Decimal(0)), currency
            return Hold("penalties", key, before)


def _limit_error(
    code: str, limits: Mapping[str, Decimal], amount: Decimal, currency: str, **amounts: str
) -> RefusedError:
    """Return the refusal of an amount above its limit, or without a limit in its currency."""
    amounts = {"limit": str(limits.get(currency, 0)), **amounts, "currency": currency}
    if currency in limits:
        return RefusedError(code, amount, currency, **amounts)
    others = " or ".join(limits) or "no currency"
    return RefusedError(f"{code}_elsewhere", amount, currency, others, **amounts)


def _costs_nothing(fee: CancellationFee | None) -> bool:
    return fee is not None and not (fee.penalty_amount or fee.refund_amount)


def _parse_limits(limits: Limits | None, setting: str) -> dict[str, Decimal] | None:
    if limits is None:
        return None
    try:
        return _LIMITS.validate_python(limits)
    except ValidationError as error:
        raise ConfigurationError(f"{setting}: {path_of(error)[1]}") from None
