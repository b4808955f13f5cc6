"""The time in which a company issues the tickets of a paid booking."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Final

from ferry_sdk.agents.policy.answers import TEXTS
from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.errors import RequestTimeoutError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage, TicketStatus
from ferry_sdk.models.tickets import Ticket

ASK_AGAIN: Final = 20
"""Seconds after which an agent should ask again for a ticket that is being issued."""
_DECIDED: Final = frozenset(
    {TicketStatus.ISSUED, TicketStatus.FAILED, TicketStatus.CANCELED, TicketStatus.EXPIRED}
)
"""The statuses of a ticket that the company does not issue any more."""


def wait_for_tickets(
    values: Mapping[str, Any], seconds: int
) -> Generator[Invoke, Any, tuple[Booking, str]]:
    """Wait until every ticket is issued, rejected or cancelled, or until the time is over.

    Returns:
        The booking, and a text that says which of both it was.

    Raises:
        RequestTimeoutError: The booking could not be read in this time.
    """
    polling = {**values, "until": _has_decided_tickets, "deadline": seconds}
    try:
        booking: Booking = yield Invoke("bookings.wait", polling)
    except RequestTimeoutError as error:
        if not isinstance(error.last_seen, Booking):
            raise
        return error.last_seen, TEXTS["tickets_open"].format(seconds)
    return booking, TEXTS["tickets_decided"]


def is_being_issued(record: Booking | Ticket) -> bool:
    """Return whether a company is issuing a booking or a ticket."""
    if isinstance(record, Booking):
        return record.stage == Stage.IN_PROGRESS
    return record.status == TicketStatus.PENDING


def _has_decided_tickets(booking: Booking) -> bool:
    return bool(booking.tickets) and all(ticket.status in _DECIDED for ticket in booking.tickets)
