"""The safety table: one row for each operation, with what is allowed after a failure.

Reads are retried after any transient failure. A write is retried only if nothing was done: it was
not sent, or the service rejected it with a rate limit, or with a token that was refreshed since. If
the outcome of a write is unknown, its row says which read shows its effect. No read shows that of a
create, unless its reply named the booking.

The statuses that make a failure one of the kinds in `retry_on` are in `retry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ferry_sdk.errors import (
    APIError,
    FerryError,
    NotFoundError,
)
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ferry_sdk.models.bookings import Booking
    from ferry_sdk.models.tickets import CancellationFee, Ticket

FailureKind = Literal["not_sent", "rate_limited", "unauthorised", "lost"]
"""The kinds of failures that a retry depends on; `retry.failure_kind` tells them apart."""


@dataclass(frozen=True, slots=True)
class Proof:
    """How a read shows the effect of a write.

    Attributes:
        read: The operation that reads.
        stages: A booking in one of these stages shows it.
        paid_stages: A paid booking in one of these stages shows it.
        tickets: A ticket with this status, or a booking with only such tickets, shows it.
        payment: A booking with this payment status shows it.
        names_ticket: Only a booking with a ticket shows it, because the result needs one.
        refuted_by: A stage, a payment status or a ticket's status that a record cannot have after
            the write.
    """

    read: Literal["bookings.get", "tickets.get", "mcp.view_ticket"]
    stages: frozenset[Stage] = frozenset()
    paid_stages: frozenset[Stage] = frozenset()
    tickets: TicketStatus | None = None
    payment: PaymentStatus | None = None
    names_ticket: bool = False
    refuted_by: frozenset[Stage | PaymentStatus | TicketStatus] = frozenset()

    @property
    def subject(self) -> Literal["booking_id", "ticket_id"]:
        """The id that the read needs."""
        return "booking_id" if self.read == "bookings.get" else "ticket_id"

    def is_confirmed_by(self, record: Booking | Ticket, ticket_id: str | None = None) -> bool:
        """Return whether a record shows the effect.

        Args:
            record: The record.
            ticket_id: The relevant ticket of a booking; None: all.
        """
        if not _is_booking(record):
            return record.status == self.tickets

        tickets = [ticket for ticket in record.tickets if ticket_id in {None, ticket.id}]
        if self.names_ticket and not tickets:
            return False

        is_paid = record.payment_status == PaymentStatus.PAID
        return (
            record.stage in self.stages
            or (is_paid and record.stage in self.paid_stages)
            or {ticket.status for ticket in tickets} == {self.tickets}
            or record.payment_status == self.payment
        )

    def is_refuted_by(self, record: Booking | Ticket, ticket_id: str | None = None) -> bool:
        """Return whether a record shows that the write has no effect.

        Args:
            record: The record.
            ticket_id: The relevant ticket of a booking; None: all.
        """
        if self.is_confirmed_by(record, ticket_id):
            return False
        if _is_booking(record):
            return not self.refuted_by.isdisjoint({record.stage, record.payment_status})
        return record.status in self.refuted_by


def _is_booking(record: Booking | Ticket) -> TypeIs[Booking]:
    return hasattr(record, "tickets")  # their classes are loaded only where they are needed


@dataclass(frozen=True, slots=True)
class Safety:
    """A row of the table.

    Attributes:
        operation: The operation's public name.
        kind: Whether it is a read or a write.
        effect: What a write does, by the same name in both protocols; None for a read.
        retry_on: The failures after which the request is retried, within `max_retries` and the
            deadline.
        confirmed_by: How reads show the effect of a write, the best first; empty if none can.
        read_if_named: The operation that reads what a create made, if a reply names its id; None
            for all other operations.
    """

    operation: str
    kind: Literal["read", "write"]
    effect: str | None
    retry_on: frozenset[FailureKind]
    confirmed_by: tuple[Proof, ...] = ()
    read_if_named: Literal["bookings.get"] | None = None

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing, so that it may always be retried."""
        return self.kind == "read"

    def is_suggested_by(self, fee: CancellationFee) -> bool:
        """Return whether a fee suggests the effect: it names the status of one ticket."""
        return any(fee.ticket_status == proof.tickets for proof in self.confirmed_by)


_IF_NOT_DONE: frozenset[FailureKind] = frozenset({"not_sent", "rate_limited", "unauthorised"})
_ALWAYS: frozenset[FailureKind] = _IF_NOT_DONE.union({"lost"})


def _read(operation: str) -> Safety:
    return Safety(operation, "read", effect=None, retry_on=_ALWAYS)


def _write(operation: str, effect: str, *confirmed_by: Proof) -> Safety:
    return Safety(
        operation, "write", effect=effect, retry_on=_IF_NOT_DONE, confirmed_by=confirmed_by
    )


def _create(operation: str) -> Safety:
    return replace(_write(operation, "bookings.create"), read_if_named="bookings.get")


_CONFIRMED = Proof(
    "bookings.get",
    stages=frozenset({Stage.TICKETED, Stage.PARTIALLY_VOIDED}),
    paid_stages=frozenset({Stage.IN_PROGRESS}),  # the company is issuing the tickets
    tickets=TicketStatus.ISSUED,
    names_ticket=True,
    refuted_by=frozenset({Stage.PAYMENT_DUE, Stage.LAPSED}),
)
_CANCELLED = Proof(
    "bookings.get",
    stages=frozenset({Stage.VOIDED}),
    tickets=TicketStatus.CANCELED,
    refuted_by=frozenset({Stage.PAYMENT_DUE, Stage.TICKETED}),
)
_NOT_CANCELLED = frozenset({TicketStatus.BLOCKED, TicketStatus.ISSUED})
_TICKET_CANCELLED = Proof("tickets.get", tickets=TicketStatus.CANCELED, refuted_by=_NOT_CANCELLED)
_TICKET_CANCELLED_BY_TOOL = replace(_TICKET_CANCELLED, read="mcp.view_ticket")
_BOOKING_PAID = Proof(
    "bookings.get",
    tickets=TicketStatus.ISSUED,
    payment=PaymentStatus.PAID,
    names_ticket=True,
    refuted_by=frozenset({PaymentStatus.UNPAID}),
)
_TICKET_ISSUED = Proof("tickets.get", tickets=TicketStatus.ISSUED)

_ROWS = (
    _read("availability.search"),
    _read("bookings.get"),
    _read("bookings.wait"),
    _read("bookings.cancel_fee"),
    _read("tickets.get"),
    _read("tickets.cancel_fee"),
    _read("tickets.pdf"),
    _read("tickets.wait_pdf"),
    _read("tickets.save_pdf"),
    _read("tickets.read_pdf"),
    _read("catalogue.ports"),
    _read("catalogue.journeys"),
    _read("catalogue.departures"),
    _read("catalogue.vehicle_brands"),
    _read("catalogue.vehicle_types"),
    _read("mcp.search_availability"),
    _read("mcp.view_ticket"),
    _read("mcp.ports"),
    _read("mcp.companies"),
    _read("mcp.countries"),
    _read("mcp.vehicle_brands"),
    _read("mcp.vehicle_data"),
    _read("mcp.departures"),
    _read("mcp.read_resource"),
    _read("mcp.list_tools"),
    _read("mcp.list_resources"),
    _create("bookings.create"),
    _write("bookings.confirm", "bookings.confirm", _CONFIRMED),
    _write("bookings.cancel", "bookings.cancel", _CANCELLED),
    _write("tickets.cancel", "tickets.cancel", _TICKET_CANCELLED),
    _write("tickets.mark_paid", "tickets.mark_paid", _BOOKING_PAID, _TICKET_ISSUED),
    _create("mcp.create_booking"),
    _write("mcp.confirm_booking", "bookings.confirm", _CONFIRMED),
    _write("mcp.cancel_ticket", "tickets.cancel", _TICKET_CANCELLED_BY_TOOL),
    _write("mcp.call_tool", "mcp.call_tool"),
)

SAFETY: Mapping[str, Safety] = MappingProxyType({row.operation: row for row in _ROWS})
"""All operations of the library, by public name."""

_NOT_OF_THE_STATE = (401, 403, 404, 429)
"""Statuses of refusals that say nothing about the state of a booking or ticket."""

_ROWS_OF_TOOLS = {
    "search_availability": SAFETY["mcp.search_availability"],
    "create_booking": SAFETY["mcp.create_booking"],
    "confirm_booking": SAFETY["mcp.confirm_booking"],
    "view_ticket": SAFETY["mcp.view_ticket"],
    "cancel_ticket": SAFETY["mcp.cancel_ticket"],
}


def safety_of_tool(name: str) -> Safety:
    """Return the row of an MCP tool; an unknown tool counts as a write."""
    return _ROWS_OF_TOOLS.get(name, SAFETY["mcp.call_tool"])


_READ_OF_ANY_PATH = _read("request")
_WRITE_TO_ANY_PATH = _write("request", "request")


def safety_of_request(method: str) -> Safety:
    """Return the row of a request to any path: only a GET is a read."""
    return _READ_OF_ANY_PATH if method == "GET" else _WRITE_TO_ANY_PATH


def may_be_done(failure: FerryError) -> bool:
    """Return whether a refusal may mean that the effect of the write is there already.

    A refusal in the body of an MCP result has the status of its HTTP reply, which is 200.
    """
    return (
        isinstance(failure, APIError)
        and failure.outcome == "rejected"
        and not isinstance(failure, NotFoundError)
        and failure.status_code not in _NOT_OF_THE_STATE
    )
