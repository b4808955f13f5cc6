"""One booking: tickets that are confirmed, cancelled and counted together."""

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

# No vowels and nothing that looks like something else: a reference spells no word.
REFERENCE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"


@dataclass(slots=True)
class Booking:
    """One booking; time is let do its work by `settle` before anything else is asked of it."""

    tickets: tuple[Ticket, ...]
    passengers: tuple[Passenger, ...]
    vehicle: Vehicle | None
    contact: Contact | None
    id: str
    reference: str

    @property
    def states(self) -> list[State]:
        """What each ticket adds to the stage."""
        return [ticket.state for ticket in self.tickets]

    @property
    def stage(self) -> Stage:
        """The aggregate state."""
        return stage_of(self.states)

    @property
    def total(self) -> Decimal:
        """The price of all tickets, a round trip on one of them counted once."""
        return sum((ticket.price for ticket in self.tickets), start=ZERO)

    @property
    def expires_at(self) -> datetime | None:
        """The earliest deadline of a ticket that waits to be paid or issued."""
        waiting = (ticket.deadline for ticket in self.tickets if ticket.status in WAITING)
        return min(waiting, default=None)

    @property
    def cancellable_until(self) -> datetime | None:
        """When the first ticket ends that could be cancelled; None where none could be."""
        found = [ticket for ticket in self.tickets if ticket.status not in GONE]
        if any(ticket.status is TicketStatus.PENDING for ticket in found):
            return None
        return min((ticket.ends_at for ticket in found), default=None)

    @property
    def lead_passenger(self) -> str:
        """The name of the first passenger."""
        return f"{self.passengers[0].first_name} {self.passengers[0].last_name}"

    def settle(self, now: datetime) -> None:
        """Let time do its work on every ticket."""
        for ticket in self.tickets:
            ticket.settle(now)

    def expire(self) -> None:
        """Give up every ticket that waits."""
        for ticket in self.tickets:
            if ticket.status in WAITING:
                ticket.expire()

    def issuable_tickets(self, now: datetime) -> list[Ticket]:
        """The tickets that confirming now would have issued: those waiting, those that failed.

        Raises:
            RefusedError: There are none, because of the stage the booking is in.
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
        """What cancelling all of it now would cost, or what was settled when it ended."""
        open_tickets = [ticket for ticket in self.tickets if ticket.status not in GONE]
        fees = [ticket.fee(now) for ticket in open_tickets or self.tickets]
        return sum(fees, start=NO_FEE)

    def cancel(self, now: datetime) -> Fee:
        """Cancel every ticket that is not yet, or none where one of them cannot be.

        Raises:
            RefusedError: It is cancelled or expired already, is being issued, or has sailed.
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
