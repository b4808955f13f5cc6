"""The operations of the local service: what each accepts, who may call it and how it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ferry_sdk.sandbox.requests import bookings, searches
from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.body import Body, Nothing


class Operation(NamedTuple):
    """An operation.

    Attributes:
        arguments: The model of its arguments.
        access: The least access that a token needs.
        error_code: The code of its errors; by default that of the HTTP status.
        reads_ticket: Whether an unknown id is a `TICKET_NOT_FOUND`.
    """

    arguments: type[Body] = Nothing
    access: Access = Access.READ_ONLY
    error_code: str | None = None
    reads_ticket: bool = False


_WRITE, _PAY = Access.READ_WRITE, Access.ORGANISATION

_SEARCH = Operation(searches.Search, error_code="AVAILABILITY_ERROR")
_CREATE = Operation(bookings.NewBooking, _WRITE, "BOOKING_CREATE_ERROR")
_CONFIRM = Operation(bookings.Identified, _WRITE, "BOOKING_CONFIRM_ERROR")
_TICKET = Operation(bookings.Identified, error_code="TICKET_VIEW_ERROR", reads_ticket=True)
_CANCEL_TICKET = Operation(bookings.TicketToCancel, _WRITE, "TICKET_CANCEL_ERROR")

OPERATIONS: Mapping[str, Operation] = {
    "availability.search": _SEARCH,
    "bookings.create": _CREATE,
    "bookings.confirm": _CONFIRM,
    "bookings.get": Operation(bookings.Identified),
    "bookings.cancel": Operation(bookings.BookingToCancel, _WRITE),
    "bookings.cancel_fee": Operation(bookings.Identified),
    "tickets.get": _TICKET,
    "tickets.cancel": _CANCEL_TICKET,
    "tickets.pdf": Operation(bookings.Identified, reads_ticket=True),
    "tickets.mark_paid": Operation(bookings.Payment, _PAY, reads_ticket=True),
    "catalogue.ports": Operation(),
    "catalogue.journeys": Operation(),
    "catalogue.departures": Operation(searches.DepartureQuery),
    "catalogue.vehicle_brands": Operation(),
    "catalogue.vehicle_types": Operation(),
    "voucher.file": Operation(),
    "mcp.search_availability": _SEARCH,
    "mcp.create_booking": _CREATE._replace(arguments=bookings.McpNewBooking),
    "mcp.confirm_booking": _CONFIRM,
    "mcp.view_ticket": _TICKET,
    "mcp.cancel_ticket": _CANCEL_TICKET,
    "mcp.ports": Operation(),
    "mcp.companies": Operation(),
    "mcp.countries": Operation(),
    "mcp.vehicle_brands": Operation(),
    "mcp.vehicle_data": Operation(),
    "mcp.departures": Operation(),
    "mcp.initialize": Operation(),
    "mcp.ping": Operation(),
    "mcp.list_tools": Operation(),
    "mcp.list_resources": Operation(),
}
