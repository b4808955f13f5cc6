"""One ticket: its crossings, its payment and its status.

No task runs in the background. Before a ticket is read, `settle` compares its deadline and its
time of issue with the service's clock, and changes the status if they have passed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from ferry_sdk.models.enums import TicketStatus
from ferry_sdk.sandbox.bookings.fees import NO_FEE, ZERO, Fee, cancellation_fee
from ferry_sdk.sandbox.network.geography import Company
from ferry_sdk.sandbox.offers.accommodation import Place
from ferry_sdk.sandbox.offers.fares import Tariff, round_to_cents
from ferry_sdk.sandbox.offers.offer import OfferInputs
from ferry_sdk.sandbox.requests.errors import conflict

_BOARDING_ON_FOOT = timedelta(minutes=45)
_BOARDING_WITH_VEHICLE = timedelta(minutes=90)
WAITING = frozenset({TicketStatus.INIT, TicketStatus.BLOCKED})
"""Not yet issued and subject to a deadline."""
GONE = frozenset({TicketStatus.CANCELED, TicketStatus.EXPIRED})
"""Final."""


@dataclass(frozen=True, slots=True)
class Leg:
    """A booked crossing: an availability with a tariff, a place and a price.

    Attributes:
        moved: Whether the company has moved its departure.
    """

    offer: OfferInputs
    tariff: Tariff
    place: Place
    price: Decimal
    moved: bool = False

    def move(self, by: timedelta) -> Leg:
        """Return the crossing at another time, as the company has moved it."""
        old = self.offer.sailing
        # In UTC, because local times skip or repeat an hour where summer time begins or ends.
        sailing = dataclasses.replace(
            old,
            depart_at=old.depart_at.astimezone(UTC) + by,
            arrive_at=old.arrive_at.astimezone(UTC) + by,
        )
        offer = dataclasses.replace(self.offer, sailing=sailing)
        return dataclasses.replace(self, offer=offer, moved=True)


@dataclass(slots=True)
class Ticket:
    """A ticket; call `settle` before reading it, so that deadlines take effect.

    Attributes:
        legs: The crossings, in order.
        deadline: The last moment to pay or, once paid, to issue it.
        settlement: The amounts kept and refunded when it was cancelled or expired.
        fails_at: When a Pending ticket fails instead of being issued.
        key: The secret part of the voucher's URL.
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
    fails_at: datetime | None = None

    @property
    def company(self) -> Company:
        """The company that sails."""
        return self.legs[0].offer.sailing.company

    @property
    def ends_at(self) -> datetime:
        """The last moment to issue or cancel it: departure, or the end of an open ticket."""
        return min(leg.offer.ends_at for leg in self.legs)

    @property
    def boards_at(self) -> datetime:
        """When boarding starts, in the port's time zone."""
        first = self.legs[0].offer
        before = _BOARDING_WITH_VEHICLE if first.vehicle else _BOARDING_ON_FOOT
        return first.sailing.depart_at - before

    @property
    def price(self) -> Decimal:
        """The price of all crossings."""
        return sum((leg.price for leg in self.legs), start=ZERO)

    @property
    def charged(self) -> Decimal:
        """The amount paid, before refunds."""
        return self.price if self.paid else ZERO

    def voucher_ready(self, now: datetime) -> bool:
        """Tell whether the voucher can be fetched."""
        delay = self.company.voucher_minutes
        if self.status is not TicketStatus.ISSUED or self.issued_at is None or delay is None:
            return False
        return now >= self.issued_at + timedelta(minutes=delay)

    def settle(self, now: datetime) -> None:
        """Apply the passage of time: fail or issue a pending ticket, expire an overdue one."""
        if self.status is TicketStatus.PENDING:
            if self.fails_at is not None:
                if now >= self.fails_at:
                    self._fail()
            elif self.issued_at is not None and now >= self.issued_at:
                self.status = TicketStatus.ISSUED
        elif self.status in WAITING and now >= self.deadline:
            self.end(TicketStatus.EXPIRED)

    def _fail(self) -> None:
        """Undo the issue; of the payments, only an external one stays."""
        self.status = TicketStatus.FAILED
        self.paid = self.payment_ref is not None
        self.number = None
        self.issued_at = None
        self.fails_at = None

    def holds_place(self, now: datetime) -> bool:
        """Tell whether the company keeps its places, without changing the ticket."""
        if self.status is TicketStatus.BLOCKED:
            return now < self.deadline
        if self.status is TicketStatus.PENDING:
            return self.fails_at is None or now < self.fails_at
        return self.status is TicketStatus.ISSUED

    def move(self, leg: Leg, by: timedelta) -> None:
        """Move a crossing.

        A deadline at the departure moves with it; an earlier one stays, unless the ship now sails
        before it.
        """
        was_due_at_end = self.deadline == self.ends_at
        self.legs = tuple(each.move(by) if each is leg else each for each in self.legs)
        if was_due_at_end:
            self.deadline = self.ends_at
        else:
            self.deadline = min(self.deadline, self.ends_at)

    def end(self, status: TicketStatus) -> None:
        """End the ticket without a wish of its buyer, and refund its payment in full."""
        self.status = status
        self.settlement = Fee(ZERO, self.charged)

    def pay(self, reference: str) -> bool:
        """Record an external payment; return False if this payment is already recorded.

        Raises:
            RefusedError: The ticket has another payment, or can no longer be paid.
        """
        if self.paid:
            if self.payment_ref == reference:
                return False
            raise conflict("ticket_paid")
        if self.status not in WAITING:
            raise conflict("ticket_not_payable", status=self.status.value)

        self.paid = True
        self.payment_ref = reference
        self.deadline = self.ends_at
        return True

    def reprice(self, factor: Decimal, addition: Decimal) -> None:
        """Multiply the price of every crossing by `factor`; add `addition` to the first."""
        prices = [round_to_cents(leg.price * factor) for leg in self.legs]
        prices[0] = max(prices[0] + round_to_cents(addition), ZERO)
        self.legs = tuple(
            dataclasses.replace(leg, price=price)
            for leg, price in zip(self.legs, prices, strict=True)
        )

    def issue(self, now: datetime, number: str, delay: timedelta | None = None) -> None:
        """Pay and issue the ticket.

        Args:
            now: The time.
            number: The number of the ticket.
            delay: How long it is pending; by default as long as with its company.
        """
        if delay is None:
            delay = timedelta(seconds=self.company.issuing_seconds)
        self.paid = True
        self.number = number
        self.issued_at = now + delay
        self.status = TicketStatus.PENDING
        self.settle(now)

    def fail_after(self, now: datetime, delay: timedelta) -> None:
        """Let an issued ticket be pending, and fail after the delay."""
        self.status = TicketStatus.PENDING
        self.fails_at = now + delay
        self.settle(now)

    def fee(self, now: datetime) -> Fee:
        """Return the fee of cancelling now, or the fee already settled."""
        if self.settlement is not None:
            return self.settlement
        if not self.paid:
            return NO_FEE
        if self.status is not TicketStatus.ISSUED:
            return Fee(ZERO, self.charged)

        fees = [
            cancellation_fee(
                leg.price,
                family=leg.tariff.level.family,
                notice=self.company.notice,
                left=self.ends_at - now,
            )
            for leg in self.legs
        ]
        return sum(fees, start=NO_FEE)

    def check_cancellable(self, now: datetime) -> None:
        """Raise an error if the ticket cannot be cancelled.

        Raises:
            RefusedError: The ticket is cancelled, expired, being issued, or has sailed.
        """
        if self.status in _NOT_CANCELLABLE:
            raise conflict(_NOT_CANCELLABLE[self.status])
        if now >= self.ends_at:
            raise conflict("ticket_sailed")

    def cancel(self, now: datetime) -> Fee:
        """Cancel the ticket and return the amounts kept and refunded.

        Raises:
            RefusedError: The ticket cannot be cancelled.
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
