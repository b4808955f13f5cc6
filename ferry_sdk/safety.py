"""What may be done when a call goes wrong, as a table: one row an operation.

Reads may be sent again whatever happened. A write is sent again only where nothing of it was
done: it did not leave, or the service refused it for its rate or for a token that has since been
renewed. Where its outcome is unknown, the row says which read shows its effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ferry_sdk.errors import (
    APIError,
    FerryError,
    ServerError,
    TransportError,
    UnexpectedResponseError,
)
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus

if TYPE_CHECKING:
    from ferry_sdk.models.bookings import Booking
    from ferry_sdk.models.tickets import Ticket

FailureKind = Literal["not_sent", "rate_limited", "unauthorised", "lost"]
"""Why an attempt failed, as far as it matters to sending it again. ``lost`` is a reply that was
lost, came too late, could not be read, or was a 408 or 5xx."""


@dataclass(frozen=True, slots=True)
class Proof:
    """How the effect of a write is recognised.

    Attributes:
        read: The operation that shows it.
        stages: A booking of one of these stages shows it.
        tickets: A ticket of this status, or a booking whose tickets all are, shows it.
        payment: A booking of this payment status shows it.
        names_ticket: Only a booking that lists a ticket shows it, for the result names one.
    """

    read: Literal["bookings.get", "tickets.get", "mcp.view_ticket"]
    stages: frozenset[Stage] = frozenset()
    tickets: TicketStatus | None = None
    payment: PaymentStatus | None = None
    names_ticket: bool = False

    @property
    def subject(self) -> Literal["booking_id", "ticket_id"]:
        """Which id the read takes."""
        return "booking_id" if self.read == "bookings.get" else "ticket_id"

    def is_confirmed_by(self, record: Booking | Ticket, ticket_id: str | None = None) -> bool:
        """Whether the effect is seen in what was read.

        Args:
            record: What was read.
            ticket_id: The one ticket of a booking that matters; None: all.
        """
        from ferry_sdk.models.tickets import Ticket  # noqa: PLC0415 -- no read needs it

        if isinstance(record, Ticket):
            return record.status == self.tickets
        mine = [ticket for ticket in record.tickets if ticket_id in {None, ticket.id}]
        if self.names_ticket and not mine:
            return False
        return (
            record.stage in self.stages
            or {ticket.status for ticket in mine} == {self.tickets}
            or record.payment_status == self.payment
        )


@dataclass(frozen=True, slots=True)
class Safety:
    """A row of the table.

    Attributes:
        operation: The operation's public name.
        kind: Whether it reads or writes.
        effect: What a write does, by the same name in both protocols; None for a read.
        resend: After which failures the same request is sent again, within `max_retries` and
            the deadline.
        confirmed_by: How the effect of a write is recognised, the best way first; empty where no
            read shows it.
    """

    operation: str
    kind: Literal["read", "write"]
    effect: str | None
    retry_on: frozenset[FailureKind]
    confirmed_by: tuple[Proof, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing and may be repeated freely."""
        return self.kind == "read"

    @property
    def may_name_travellers(self) -> bool:
        """Whether the service may speak of a traveller, whom the request need not have named."""
        return self.operation not in _WITHOUT_TRAVELLERS


_IF_NOT_DONE: frozenset[FailureKind] = frozenset({"not_sent", "rate_limited", "unauthorised"})
_ALWAYS: frozenset[FailureKind] = _IF_NOT_DONE.union({"lost"})


def _read(operation: str) -> Safety:
    return Safety(operation, "read", None, _ALWAYS)


def _write(operation: str, effect: str, *confirmed_by: Proof) -> Safety:
    return Safety(operation, "write", effect, _IF_NOT_DONE, confirmed_by)


_CONFIRMED = Proof(
    "bookings.get",
    stages=frozenset({Stage.TICKETED, Stage.PARTIALLY_VOIDED}),
    tickets=TicketStatus.ISSUED,
    names_ticket=True,
)
_CANCELLED = Proof("bookings.get", stages=frozenset({Stage.VOIDED}), tickets=TicketStatus.CANCELED)
_TICKET_CANCELLED = Proof("tickets.get", tickets=TicketStatus.CANCELED)
_TICKET_CANCELLED_BY_TOOL = Proof("mcp.view_ticket", tickets=TicketStatus.CANCELED)
_BOOKING_PAID = Proof(
    "bookings.get",
    tickets=TicketStatus.ISSUED,
    payment=PaymentStatus.PAID,
    names_ticket=True,
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
    _write("bookings.create", "bookings.create"),
    _write("bookings.confirm", "bookings.confirm", _CONFIRMED),
    _write("bookings.cancel", "bookings.cancel", _CANCELLED),
    _write("tickets.cancel", "tickets.cancel", _TICKET_CANCELLED),
    _write("tickets.mark_paid", "tickets.mark_paid", _BOOKING_PAID, _TICKET_ISSUED),
    _write("mcp.create_booking", "bookings.create"),
    _write("mcp.confirm_booking", "bookings.confirm", _CONFIRMED),
    _write("mcp.cancel_ticket", "tickets.cancel", _TICKET_CANCELLED_BY_TOOL),
    _write("mcp.call_tool", "mcp.call_tool"),
)

_WITHOUT_TRAVELLERS = frozenset(
    {
        "availability.search",
        *(row.operation for row in _ROWS if row.operation.startswith("catalogue.")),
        *("mcp.search_availability", "mcp.ports", "mcp.companies", "mcp.countries"),
        *("mcp.vehicle_brands", "mcp.vehicle_data", "mcp.departures", "mcp.list_tools"),
        "mcp.list_resources",
    }
)
"""Reads of what no traveller is in."""

SAFETY: Mapping[str, Safety] = MappingProxyType({row.operation: row for row in _ROWS})
"""Every operation of the library, by its public name."""

_TOOLS = (
    "search_availability",
    "create_booking",
    "confirm_booking",
    "view_ticket",
    "cancel_ticket",
)


def safety_of_tool(name: str) -> Safety:
    """The row of an MCP tool; one that is not known counts as a write."""
    return SAFETY[f"mcp.{name}" if name in _TOOLS else "mcp.call_tool"]


def failure_kind(failure: FerryError) -> FailureKind | None:
    """Why the attempt failed; None where the same request would only fail again."""
    if isinstance(failure, APIError) and failure.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limited"
    if not _is_transient(failure):
        return None
    return "not_sent" if failure.outcome == "not_sent" else "lost"


def _is_transient(failure: FerryError) -> bool:
    """Whether the same request may well succeed another time."""
    if isinstance(failure, UnexpectedResponseError):
        return not failure.is_redirect
    if isinstance(failure, APIError) and failure.status_code == HTTPStatus.REQUEST_TIMEOUT:
        return True
    return isinstance(failure, TransportError | ServerError) or (
        isinstance(failure, APIError) and failure.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
    )
