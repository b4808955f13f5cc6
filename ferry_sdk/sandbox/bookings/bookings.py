"""One booking, and its stage, status and payment status, which follow from its tickets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from ferry_sdk.sandbox.bookings.fees import NO_FEE, ZERO, Fee
from ferry_sdk.sandbox.bookings.tickets import GONE, WAITING, Leg, Ticket
from ferry_sdk.sandbox.requests.access import ONLY_ACCOUNT
from ferry_sdk.sandbox.requests.bookings import Contact, Passenger, Vehicle
from ferry_sdk.sandbox.requests.errors import conflict


@dataclass(slots=True)
class Booking:
    """A booking; call `settle` before reading it, so that deadlines take effect.

    Attributes:
        account: The name of the account that it belongs to.
    """

    tickets: tuple[Ticket, ...]
    passengers: tuple[Passenger, ...]
    vehicle: Vehicle | None
    contact: Contact | None
    id: str
    reference: str
    account: str = ONLY_ACCOUNT

    @property
    def stage(self) -> Stage:
        """The stage of the whole booking."""
        return stage_of(self.tickets)

    @property
    def open_tickets(self) -> list[Ticket]:
        """The tickets that are neither cancelled nor expired."""
        return [ticket for ticket in self.tickets if ticket.status not in GONE]

    @property
    def crossings(self) -> list[tuple[Ticket, Leg]]:
        """The crossings with their tickets, in order of departure."""
        crossings: list[tuple[Ticket, Leg]] = []
        for ticket in self.tickets:
            crossings += [(ticket, leg) for leg in ticket.legs]
        return crossings

    @property
    def total(self) -> Decimal:
        """The price of all tickets."""
        return sum((ticket.price for ticket in self.tickets), start=ZERO)

    @property
    def expires_at(self) -> datetime | None:
        """The earliest deadline of a ticket that awaits payment or issue."""
        waiting = (ticket.deadline for ticket in self.tickets if ticket.status in WAITING)
        return min(waiting, default=None)

    @property
    def cancellable_until(self) -> datetime | None:
        """When the booking can no longer be cancelled; None if it cannot be cancelled now."""
        if any(ticket.status is TicketStatus.PENDING for ticket in self.tickets):
            return None
        return min((ticket.ends_at for ticket in self.open_tickets), default=None)

    def settle(self, now: datetime) -> None:
        """Apply the deadlines that have passed to every ticket."""
        for ticket in self.tickets:
            ticket.settle(now)

    def expire(self) -> None:
        """Expire every ticket that awaits payment or issue."""
        for ticket in self.tickets:
            if ticket.status in WAITING:
                ticket.end(TicketStatus.EXPIRED)

    def issuable_tickets(self, now: datetime) -> list[Ticket]:
        """Return the tickets that a confirmation issues: those that wait or have failed.

        Raises:
            RefusedError: The booking has no such tickets, or has sailed.
        """
        issuable = WAITING | {TicketStatus.FAILED}
        tickets = [ticket for ticket in self.tickets if ticket.status in issuable]
        if not tickets:
            raise conflict(_NOT_ISSUABLE.get(self.stage, "booking_confirmed"))
        if any(now >= ticket.ends_at for ticket in tickets):
            raise conflict("booking_sailed")
        return tickets

    def fee(self, now: datetime) -> Fee:
        """Return the fee of cancelling everything now, or the fee already settled."""
        fees = (ticket.fee(now) for ticket in self.open_tickets or self.tickets)
        return sum(fees, start=NO_FEE)

    def cancel(self, now: datetime) -> Fee:
        """Cancel every ticket that is still open, or none if one cannot be cancelled.

        Raises:
            RefusedError: The booking is cancelled, expired, being issued, or has sailed.
        """
        tickets = self.open_tickets
        if not tickets:
            is_cancelled = self.stage is Stage.VOIDED
            raise conflict("booking_cancelled" if is_cancelled else "booking_expired")

        for ticket in tickets:
            ticket.check_cancellable(now)
        return sum((ticket.cancel(now) for ticket in tickets), start=NO_FEE)


_NOT_ISSUABLE = {Stage.VOIDED: "booking_cancelled", Stage.LAPSED: "booking_expired"}


def stage_of(tickets: Sequence[Ticket]) -> Stage:
    """Return the stage of a booking with these tickets (at least one)."""
    statuses = {ticket.status for ticket in tickets}
    if TicketStatus.PENDING in statuses:
        return Stage.IN_PROGRESS

    if TicketStatus.ISSUED in statuses:
        others = statuses - {TicketStatus.ISSUED}
        if not others:
            return Stage.TICKETED
        is_rest_cancelled = others == {TicketStatus.CANCELED}
        return Stage.PARTIALLY_VOIDED if is_rest_cancelled else Stage.PARTIALLY_TICKETED

    waiting = [ticket for ticket in tickets if ticket.status in WAITING]
    if waiting:
        is_paid = all(ticket.paid for ticket in waiting)
        return Stage.ISSUANCE_DUE if is_paid else Stage.PAYMENT_DUE

    if TicketStatus.FAILED in statuses:
        return Stage.REJECTED
    return Stage.VOIDED if TicketStatus.CANCELED in statuses else Stage.LAPSED


def status_of(tickets: Sequence[Ticket]) -> TicketStatus:
    """Return the status of the ticket with the least progress."""
    # The enumeration lists the statuses in the order of a ticket's life; a failed one comes first.
    by_progress = [TicketStatus.FAILED, *TicketStatus]
    return min((ticket.status for ticket in tickets), key=by_progress.index)


def payment_of(tickets: Sequence[Ticket]) -> PaymentStatus:
    """Return the payment status; final tickets count only if there are no others."""
    counted = [ticket for ticket in tickets if ticket.status not in GONE] or tickets
    if all(ticket.paid for ticket in counted):
        return PaymentStatus.PAID
    if any(ticket.paid for ticket in counted):
        return PaymentStatus.PARTIALLY_PAID
    return PaymentStatus.UNPAID
