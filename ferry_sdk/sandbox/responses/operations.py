"""The record that each operation answers, for the OpenAPI document.

The service never imports this module, because loading the client's records takes about 10 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferry_sdk.models.availability import Availability
from ferry_sdk.models.bookings import (
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
)
from ferry_sdk.models.catalogue import (
    Company,
    Country,
    Departure,
    McpPort,
    Port,
    ScheduledDeparture,
    VehicleBrand,
    VehicleModel,
    VehicleType,
)
from ferry_sdk.models.tickets import (
    CancellationFee,
    PaymentRecorded,
    Ticket,
    TicketCancellation,
    Voucher,
)
from ferry_sdk.sandbox.responses.catalogue import RouteJourney

ANSWERS: Mapping[str, Any] = {
    "availability.search": list[Availability],
    "bookings.create": BookingCreated,
    "bookings.confirm": BookingConfirmation,
    "bookings.cancel": BookingCancellation,
    "bookings.cancel_fee": CancellationFee,
    "bookings.get": Booking,
    "tickets.cancel": TicketCancellation,
    "tickets.get": Ticket,
    "tickets.pdf": Voucher,
    "tickets.mark_paid": PaymentRecorded,
    "catalogue.departures": list[Departure],
    "catalogue.journeys": list[RouteJourney],
    "catalogue.ports": list[Port],
    "catalogue.vehicle_brands": list[VehicleBrand],
    "catalogue.vehicle_types": list[VehicleType],
    "mcp.search_availability": list[Availability],
    "mcp.create_booking": BookingCreated,
    "mcp.confirm_booking": BookingConfirmation,
    "mcp.view_ticket": Ticket,
    "mcp.cancel_ticket": TicketCancellation,
    "mcp.ports": list[McpPort],
    "mcp.companies": list[Company],
    "mcp.countries": list[Country],
    "mcp.vehicle_brands": list[VehicleBrand],
    "mcp.vehicle_data": list[VehicleModel],
    "mcp.departures": list[ScheduledDeparture],
}
"""The type of the answer by the name of the operation."""
