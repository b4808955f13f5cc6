"""The type of each operation's answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferry_sdk.sandbox.responses import availability, bookings, catalogue

ANSWERS: Mapping[str, Any] = {
    "availability.search": list[availability.Availability],
    "bookings.create": bookings.CreatedBooking,
    "bookings.confirm": bookings.ConfirmedBooking,
    "bookings.get": bookings.Booking,
    "bookings.cancel": bookings.CancelledBooking,
    "bookings.cancel_fee": bookings.CancellationFee,
    "tickets.get": bookings.Ticket,
    "tickets.cancel": bookings.CancelledTicket,
    "tickets.pdf": bookings.VoucherAddress,
    "tickets.mark_paid": bookings.PaidTicket,
    "catalogue.ports": catalogue.Ports,
    "catalogue.journeys": catalogue.Journeys,
    "catalogue.departures": catalogue.Departures,
    "catalogue.vehicle_brands": catalogue.VehicleBrands,
    "catalogue.vehicle_types": catalogue.VehicleTypes,
    "mcp.search_availability": list[availability.Availability],
    "mcp.create_booking": bookings.CreatedBooking,
    "mcp.confirm_booking": bookings.ConfirmedBooking,
    "mcp.view_ticket": bookings.ViewedTicket,
    "mcp.cancel_ticket": bookings.CancelledTicket,
    "mcp.ports": list[catalogue.PlacedPort],
    "mcp.companies": list[catalogue.Company],
    "mcp.countries": list[catalogue.Country],
    "mcp.vehicle_brands": list[catalogue.VehicleBrand],
    "mcp.vehicle_data": list[availability.VehicleModel],
    "mcp.departures": list[catalogue.ScheduledDeparture],
}
