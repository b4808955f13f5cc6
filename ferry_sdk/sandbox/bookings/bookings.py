"""One booking and its tickets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.bookings.fees import NO_FEE, ZERO, Fee
from ferry_sdk.sandbox.bookings.stages import GONE, WAITING, Stage, State, TicketStatus, stage_of
from ferry_sdk.sandbox.requests.errors import conflict

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from ferry_sdk.sandbox.bookings.tickets import Ticket
    from ferry_sdk.sandbox.requests.requests import Contact, Passenger, Vehicle

# No vowels and no similar characters: a reference spells no word and is easy to read.
REFERENCE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"


@dataclass(slots=True)
class Booking:
    """A booking; call `settle` before reading it, so that deadlines take effect."""

    tickets: tuple[Ticket, ...]
    passengers: tuple[Passenger, ...]
    vehicle: Vehicle | None
    contact: Contact | None
    id: str
    reference: str

    @property
    def states(self) -> list[State]:
        """The states of the tickets, from which the stage follows."""
        return [ticket.state for ticket in self.tickets]

    @property
    def stage(self) -> Stage:
        """The stage of the whole booking."""
        return stage_of(self.states)

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
        found = [ticket for ticket in self.tickets if ticket.status not in GONE]
        if any(ticket.status is TicketStatus.PENDING for ticket in found):
            return None
        return min((ticket.ends_at for ticket in found), default=None)

    @property
    def lead_passenger(self) -> str:
        """The name of the first passenger."""
        return f"{self.passengers[0].first_name} {self.passengers[0].last_name}"

    def settle(self, now: datetime) -> None:
        """Apply the deadlines that have passed to every ticket."""
        for ticket in self.tickets:
            ticket.settle(now)

    def expire(self) -> None:
        """Expire every ticket that awaits payment or issue."""
        for ticket in self.tickets:
            if ticket.status in WAITING:
                ticket.expire()

    def issuable_tickets(self, now: datetime) -> list[Ticket]:
        """Return the tickets that a confirmation issues: those that wait or have failed.

        Raises:
            RefusedError: The booking has no such tickets, or has sailed.
        """
        found = [
            ticket
            for ticket in self.tickets
            if ticket.status in WAITING or ticket.status is TicketStatus.FAILED
        ]
        if not found:
            raise conflict(_NOT_ISSUABLE[self.stage])
        if any(now >= ticket.ends_at for ticket in found):
            raise conflict("booking_sailed")
        return found

    def fee(self, now: datetime) -> Fee:
        """Return the fee of cancelling everything now, or the fee already settled."""
        open_tickets = [ticket for ticket in self.tickets if ticket.status not in GONE]
        fees = [ticket.fee(now) for ticket in open_tickets or self.tickets]
        return sum(fees, start=NO_FEE)

    def cancel(self, now: datetime) -> Fee:
        """Cancel every ticket that is still open, or none if one cannot be cancelled.

        Raises:
            RefusedError: The booking is cancelled, expired, being issued, or has sailed.
        """
        found = [ticket for ticket in self.tickets if ticket.status not in GONE]
        if not found:
            raise conflict("booking_cancelled" if self.stage is Stage.VOIDED else "booking_expired")
        for ticket in found:
            ticket.check_cancellable(now)
        return sum((ticket.cancel(now) for ticket in found), start=NO_FEE)


_NOT_ISSUABLE = {
    Stage.TICKETED: "booking_confirmed",
    Stage.IN_PROGRESS: "booking_confirmed",
    Stage.PARTIALLY_TICKETED: "booking_confirmed",
    Stage.PARTIALLY_VOIDED: "booking_confirmed",
    Stage.VOIDED: "booking_cancelled",
    Stage.LAPSED: "booking_expired",
}
