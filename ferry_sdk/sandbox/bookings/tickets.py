"""One ticket: the crossings it covers, its money, and the way it goes through its states."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.bookings.fees import NO_FEE, ZERO, Fee, cancellation_fee, cents
from ferry_sdk.sandbox.bookings.stages import WAITING, State, TicketStatus
from ferry_sdk.sandbox.network.company_rules import CompanyRules, company_rules
from ferry_sdk.sandbox.requests.errors import conflict

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from ferry_sdk.sandbox.network.geography import Company
    from ferry_sdk.sandbox.offers.offers import Offer, Place, Tariff


_ON_FOOT, _WITH_VEHICLE = timedelta(minutes=45), timedelta(minutes=90)


@dataclass(frozen=True, slots=True)
class Leg:
    """One crossing as it was chosen: an availability with a tariff, a place and a price."""

    offer: Offer
    tariff: Tariff
    place: Place
    price: Decimal


@dataclass(slots=True)
class Ticket:
    """One ticket; time is let do its work by `settle` before anything else is asked of it.

    Attributes:
        legs: The crossings, in the order sailed.
        deadline: Until when it may be paid, or once paid be issued.
        settled: What was kept and paid back when it was cancelled or expired.
        key: The part of the voucher's address that nobody can guess.
    """

    legs: tuple[Leg, ...]
    deadline: datetime
    status: TicketStatus
    id: str
    key: str = field(repr=False)
    paid: bool = False
    payment_ref: str | None = None
    number: str | None = None
    issued_at: datetime | None = None
    settlement: Fee | None = None

    @property
    def company(self) -> Company:
        """Who carries."""
        return self.legs[0].offer.sailing.company

    @property
    def rules(self) -> CompanyRules:
        """How the carrier goes about it."""
        return company_rules(self.company)

    @property
    def departs_at(self) -> datetime:
        """When the first crossing sails."""
        return self.legs[0].offer.sailing.depart_at

    @property
    def ends_at(self) -> datetime:
        """Until when it can be issued and cancelled: it sails, or is open no longer."""
        return min(leg.offer.ends_at for leg in self.legs)

    @property
    def boards_at(self) -> datetime:
        """When to be at the quay, by the port's clock."""
        with_vehicle = self.legs[0].offer.vehicle is not None
        return self.departs_at - (_WITH_VEHICLE if with_vehicle else _ON_FOOT)

    @property
    def state(self) -> State:
        """What it adds to the booking's stage."""
        return State(self.status, self.paid)

    @property
    def price(self) -> Decimal:
        """What all of it costs."""
        return sum((leg.price for leg in self.legs), start=ZERO)

    @property
    def charged(self) -> Decimal:
        """What was paid, whether or not some of it was paid back."""
        return self.price if self.paid else ZERO

    @property
    def visible_number(self) -> str | None:
        """The carrier's number, which a reader does not see before the ticket is issued."""
        return None if self.status is TicketStatus.PENDING else self.number

    def voucher_ready(self, now: datetime) -> bool:
        """Whether the voucher can be fetched: the ticket is issued, the carrier made it ready."""
        delay = self.rules.voucher_delay
        if self.status is not TicketStatus.ISSUED or self.issued_at is None or delay is None:
            return False
        return now >= self.issued_at + delay

    def settle(self, now: datetime) -> None:
        """Let time do its work: what was pending is issued, what is overdue expires."""
        if self.status is TicketStatus.PENDING and self.issued_at and now >= self.issued_at:
            self.status = TicketStatus.ISSUED
        elif self.status in WAITING and now >= self.deadline:
            self.expire()

    def expire(self) -> None:
        """Give up a ticket that was not issued in time; what was paid is paid back in full."""
        self.status = TicketStatus.EXPIRED
        self.settlement = Fee(ZERO, self.charged)

    def pay(self, reference: str) -> bool:
        """Record a payment made elsewhere; False where this very payment is recorded already.

        Raises:
            RefusedError: It is paid by other means, or can no longer be paid.
        """
        if self.paid and self.payment_ref == reference:
            return False
        if self.paid:
            raise conflict("ticket_paid")
        if self.status not in WAITING:
            raise conflict("ticket_not_payable", status=self.status.value)
        self.paid = True
        self.payment_ref = reference
        self.deadline = self.ends_at
        return True

    def reprice(self, factor: Decimal, addition: Decimal) -> None:
        """Change the price of every crossing by a factor, and of the first by an addition."""
        prices = [cents(leg.price * factor) for leg in self.legs]
        prices[0] = max(prices[0] + cents(addition), ZERO)
        self.legs = tuple(
            dataclasses.replace(leg, price=price)
            for leg, price in zip(self.legs, prices, strict=True)
        )

    def issue(self, now: datetime, number: str) -> None:
        """Have the carrier issue it, which takes some carriers a moment; what is due is paid."""
        self.paid = True
        self.number = number
        self.issued_at = now + self.rules.issuing_time
        self.status = TicketStatus.PENDING
        self.settle(now)

    def fail(self) -> None:
        """Have the carrier refuse to issue it; nothing is charged for it."""
        self.status = TicketStatus.FAILED

    def fee(self, now: datetime) -> Fee:
        """What cancelling it now would cost, or what was settled when it ended."""
        if self.settlement is not None:
            return self.settlement
        if not self.paid:
            return NO_FEE
        if self.status is not TicketStatus.ISSUED:
            return Fee(ZERO, self.charged)
        fees = [
            cancellation_fee(
                leg.price,
                family=leg.tariff.family,
                notice=self.rules.notice,
                left=self.ends_at - now,
            )
            for leg in self.legs
        ]
        return sum(fees, start=NO_FEE)

    def check_cancellable(self, now: datetime) -> None:
        """Do nothing where it can be cancelled.

        Raises:
            RefusedError: It is cancelled or expired already, is being issued, or has sailed.
        """
        hindrance = _NOT_CANCELLABLE.get(self.status)
        if hindrance is None and now >= self.ends_at:
            hindrance = "ticket_sailed"
        if hindrance is not None:
            raise conflict(hindrance)

    def cancel(self, now: datetime) -> Fee:
        """Cancel it and say what is kept and paid back.

        Raises:
            RefusedError: It cannot be cancelled.
        """
        self.check_cancellable(now)
        self.settlement = self.fee(now)
        self.status = TicketStatus.CANCELED
        return self.settlement


_NOT_CANCELLABLE = {
    TicketStatus.CANCELED: "ticket_cancelled",
    TicketStatus.EXPIRED: "ticket_expired",
    TicketStatus.PENDING: "ticket_pending",
}
