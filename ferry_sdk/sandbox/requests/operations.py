"""The operations of the local service: what each accepts, who may call it and how it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ferry_sdk.sandbox.requests import requests
from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.responses import availability, bookings, catalogue


class Operation(NamedTuple):
    """An operation.

    Attributes:
        answer: The type of its answer.
        arguments: The model of its arguments.
        access: The least access that a token needs.
        error_code: The code of its errors; by default that of the HTTP status.
        reads_ticket: Whether an unknown id is a `TICKET_NOT_FOUND`.
    """

    answer: Any
    arguments: type[requests.Body] = requests.Nothing
    access: Access = Access.READ_ONLY
    error_code: str | None = None
    reads_ticket: bool = False


_WRITE, _PAY = Access.READ_WRITE, Access.ORGANISATION

_SEARCH = Operation(
    list[availability.Availability],
    requests.Search,
    error_code="AVAILABILITY_ERROR",
)
_CREATE = Operation(bookings.CreatedBooking, requests.NewBooking, _WRITE, "BOOKING_CREATE_ERROR")
_CONFIRM = Operation(
    bookings.ConfirmedBooking,
    requests.Identified,
    _WRITE,
    "BOOKING_CONFIRM_ERROR",
)
_TICKET = Operation(
    bookings.Ticket,
    requests.Identified,
    error_code="TICKET_VIEW_ERROR",
    reads_ticket=True,
)
_CANCEL_TICKET = Operation(
    bookings.CancelledTicket,
    requests.TicketCancellation,
    _WRITE,
    "TICKET_CANCEL_ERROR",
)

OPERATIONS: Mapping[str, Operation] = {
    "availability.search": _SEARCH,
    "bookings.create": _CREATE,
    "bookings.confirm": _CONFIRM,
    "bookings.get": Operation(bookings.Booking, requests.Identified),
    "bookings.cancel": Operation(bookings.CancelledBooking, requests.BookingCancellation, _WRITE),
    "bookings.cancel_fee": Operation(bookings.CancellationFee, requests.Identified),
    "tickets.get": _TICKET,
    "tickets.cancel": _CANCEL_TICKET,
    "tickets.pdf": Operation(bookings.VoucherAddress, requests.Identified, reads_ticket=True),
    "tickets.mark_paid": Operation(bookings.PaidTicket, requests.Payment, _PAY, reads_ticket=True),
    "catalogue.ports": Operation(catalogue.Ports),
    "catalogue.journeys": Operation(catalogue.Journeys),
    "catalogue.departures": Operation(catalogue.Departures, requests.DepartureQuery),
    "catalogue.vehicle_brands": Operation(catalogue.VehicleBrands),
    "catalogue.vehicle_types": Operation(catalogue.VehicleTypes),
    "voucher.file": Operation(bytes),
    "mcp.search_availability": _SEARCH,
    "mcp.create_booking": _CREATE._replace(arguments=requests.McpNewBooking),
    "mcp.confirm_booking": _CONFIRM,
    "mcp.view_ticket": _TICKET._replace(answer=bookings.ViewedTicket),
    "mcp.cancel_ticket": _CANCEL_TICKET,
    "mcp.ports": Operation(list[catalogue.PlacedPort]),
    "mcp.companies": Operation(list[catalogue.Company]),
    "mcp.countries": Operation(list[catalogue.Country]),
    "mcp.vehicle_brands": Operation(list[catalogue.VehicleBrand]),
    "mcp.vehicle_data": Operation(list[availability.VehicleModel]),
    "mcp.departures": Operation(list[catalogue.ScheduledDeparture]),
    "mcp.initialize": Operation(None),
    "mcp.ping": Operation(None),
    "mcp.list_tools": Operation(None),
    "mcp.list_resources": Operation(None),
}
