"""The stage, status and payment status of a booking, derived from its tickets."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class TicketStatus(str, Enum):
    """The status of a ticket, as the interface spells it."""

    INIT = "Init"
    BLOCKED = "Blocked"
    PENDING = "Pending"
    ISSUED = "Issued"
    CANCELED = "Canceled"
    FAILED = "Failed"
    EXPIRED = "Expired"


class Stage(str, Enum):
    """The stage of a booking, as the interface spells it."""

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
    """The part of a ticket's state that decides the stage of its booking."""

    status: TicketStatus
    paid: bool


WAITING = frozenset({TicketStatus.INIT, TicketStatus.BLOCKED})
"""Not yet issued and subject to a deadline."""
GONE = frozenset({TicketStatus.CANCELED, TicketStatus.EXPIRED})
"""Final."""

# Least progress first: a booking has the first of these that one of its tickets has.
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
    """Return the stage of a booking with these tickets (at least one)."""
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
    """Return the status of the ticket with the least progress."""
    return min((ticket.status for ticket in tickets), key=_PROGRESS.index)


def payment_of(tickets: Sequence[State]) -> str:
    """Return the payment status; final tickets count only if there are no others."""
    counted = [ticket for ticket in tickets if ticket.status not in GONE] or tickets
    paid = sum(ticket.paid for ticket in counted)
    if paid == len(counted):
        return "paid"
    return "partially_paid" if paid else "unpaid"
