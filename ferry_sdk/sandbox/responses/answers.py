"""The type of each operation's answer: the record that the client reads, or a list of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferry_sdk.models import availability, bookings, catalogue, tickets


class RouteJourney(catalogue.Journey):
    """A route in one direction, with the ports and companies that a search takes.

    Attributes:
        depart_code: Code of the departure port.
        arrive_code: Code of the arrival port.
        companies: Codes of the companies that sail it.
    """

    depart_code: str
    arrive_code: str
    companies: tuple[str, ...]


ANSWERS: Mapping[str, Any] = {
    "availability.search": list[availability.Availability],
    "bookings.create": bookings.BookingCreated,
    "bookings.confirm": bookings.BookingConfirmation,
    "bookings.get": bookings.Booking,
    "bookings.cancel": bookings.BookingCancellation,
    "bookings.cancel_fee": tickets.CancellationFee,
    "tickets.get": tickets.Ticket,
    "tickets.cancel": tickets.TicketCancellation,
    "tickets.pdf": tickets.Voucher,
    "tickets.mark_paid": tickets.PaymentRecorded,
    "catalogue.ports": list[catalogue.Port],
    "catalogue.journeys": list[RouteJourney],
    "catalogue.departures": list[catalogue.Departure],
    "catalogue.vehicle_brands": list[catalogue.VehicleBrand],
    "catalogue.vehicle_types": list[catalogue.VehicleType],
    "mcp.search_availability": list[availability.Availability],
    "mcp.create_booking": bookings.BookingCreated,
    "mcp.confirm_booking": bookings.BookingConfirmation,
    "mcp.view_ticket": tickets.Ticket,
    "mcp.cancel_ticket": tickets.TicketCancellation,
    "mcp.ports": list[catalogue.McpPort],
    "mcp.companies": list[catalogue.Company],
    "mcp.countries": list[catalogue.Country],
    "mcp.vehicle_brands": list[catalogue.VehicleBrand],
    "mcp.vehicle_data": list[catalogue.VehicleModel],
    "mcp.departures": list[catalogue.ScheduledDeparture],
}

MEMBERS: Mapping[str, str] = {
    "catalogue.ports": "ports",
    "catalogue.journeys": "journeys",
    "catalogue.departures": "departures",
    "catalogue.vehicle_brands": "brands",
    "catalogue.vehicle_types": "vehicle_types",
}
"""The member that holds the list, for the answers that are an object."""
