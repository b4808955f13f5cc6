"""What a booking's tickets make of the booking: its stage, its status, its payment."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class TicketStatus(str, Enum):
    """The raw state of one ticket, as the wire writes it."""

    INIT = "Init"
    BLOCKED = "Blocked"
    PENDING = "Pending"
    ISSUED = "Issued"
    CANCELED = "Canceled"
    FAILED = "Failed"
    EXPIRED = "Expired"


class Stage(str, Enum):
    """The aggregate state of a booking, as the wire writes it."""

    PAYMENT_DUE = "payment_due"
    ISSUANCE_DUE = "issuance_due"
    IN_PROGRESS = "in_progress"
    TICKETED = "ticketed"
    VOIDED = "voided"
    LAPSED = "lapsed"
    REJECTED = "rejected"
    PARTIALLY_TICKETED = "partially_ticketed"
    PARTIALLY_VOIDED = "partially_voided"


class State(NamedTuple):
    """All that a ticket adds to its booking's stage."""

    status: TicketStatus
    paid: bool


WAITING = frozenset({TicketStatus.INIT, TicketStatus.BLOCKED})
"""Not yet issued, and subject to a deadline."""
GONE = frozenset({TicketStatus.CANCELED, TicketStatus.EXPIRED})
"""Nothing more can be done with it."""

# What a booking of several tickets is tracked as: what is least far along.
_PROGRESS = (
    TicketStatus.FAILED,
    TicketStatus.INIT,
    TicketStatus.BLOCKED,
    TicketStatus.PENDING,
    TicketStatus.ISSUED,
    TicketStatus.CANCELED,
    TicketStatus.EXPIRED,
)


def stage_of(tickets: Sequence[State]) -> Stage:
    """The stage of a booking with these tickets (one at least)."""
    found = {ticket.status for ticket in tickets}
    if TicketStatus.PENDING in found:
        return Stage.IN_PROGRESS
    if TicketStatus.ISSUED in found:
        return _issued_stage(found - {TicketStatus.ISSUED})
    waiting = [ticket for ticket in tickets if ticket.status in WAITING]
    if waiting:
        paid = all(ticket.paid for ticket in waiting)
        return Stage.ISSUANCE_DUE if paid else Stage.PAYMENT_DUE
    if TicketStatus.FAILED in found:
        return Stage.REJECTED
    return Stage.VOIDED if TicketStatus.CANCELED in found else Stage.LAPSED


def _issued_stage(others: set[TicketStatus]) -> Stage:
    if not others:
        return Stage.TICKETED
    if others == {TicketStatus.CANCELED}:
        return Stage.PARTIALLY_VOIDED
    return Stage.PARTIALLY_TICKETED


def status_of(tickets: Sequence[State]) -> TicketStatus:
    """The status a booking is tracked under: that of its ticket which is least far along."""
    return min((ticket.status for ticket in tickets), key=_PROGRESS.index)


def payment_of(tickets: Sequence[State]) -> str:
    """How much of a booking is paid; what is cancelled or expired counts only where all is."""
    counted = [ticket for ticket in tickets if ticket.status not in GONE] or tickets
    paid = sum(ticket.paid for ticket in counted)
    if paid == len(counted):
        return "paid"
    return "partially_paid" if paid else "unpaid"
