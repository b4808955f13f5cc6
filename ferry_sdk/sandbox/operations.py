"""The operations of the local service, one row each: what a request may contain and need.

Routes, tools and resources, validation, the OpenAPI document and the names of counters and faults
come from these rows. Two other tables have a row for each operation: `handlers` says what performs
it, and `responses.operations` which record it answers. The answers are apart because only the
document needs them, and loading the client's records would make the start slower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.body import Body, Nothing
from ferry_sdk.sandbox.requests.bookings import (
    BookingToCancel,
    Identified,
    McpNewBooking,
    NewBooking,
    Payment,
    TicketToCancel,
)
from ferry_sdk.sandbox.requests.searches import DepartureQuery, Search


class Operation(NamedTuple):
    """An operation.

    Attributes:
        name: The public name, by which faults and counters know it.
        summary: What it does, in some words.
        description: What the tool does, or what the resource holds.
        method: The HTTP method, if it is an endpoint of REST.
        path: The path of the endpoint.
        success: The HTTP status of a success.
        tool: The name, if it is a tool of MCP.
        uri: The address, if it is a resource of MCP.
        rpc: The methods of JSON-RPC, if it is another request of MCP.
        arguments: The model of its arguments.
        access: The least access that a token needs.
        destroys: Whether the tool changes what exists.
        error_code: The code of its errors; by default that of the HTTP status.
        unknown_id_code: The code of the error for an unknown id, if it has one of its own.
        member: The member that holds the list, if the answer is an object with a list.
        example: Arguments for the example of a call that needs no booking.
        links: What its answer is used for: arguments by operation.
    """

    name: str
    summary: str = ""
    description: str = ""
    method: str = ""
    path: str = ""
    success: int = 200
    tool: str | None = None
    uri: str | None = None
    rpc: Sequence[str] = ()
    arguments: type[Body] = Nothing
    access: Access = Access.READ_ONLY
    destroys: bool = False
    error_code: str | None = None
    unknown_id_code: str | None = None
    member: str | None = None
    example: Mapping[str, Any] = {}
    links: Mapping[str, Mapping[str, Any]] = {}


_ROWS = (
    # REST.
    Operation(
        "availability.search",
        summary="Search sailings",
        method="POST",
        path="/api/availability",
        arguments=Search,
        error_code="AVAILABILITY_ERROR",
        links={
            "bookings.create": {
                "availabilities": [
                    {
                        "availability_id": "$response.body#/0/id",
                        "tariff_id": "$response.body#/0/tariffs/0/id",
                        "place_id": "$response.body#/0/places/0/id",
                    }
                ]
            }
        },
    ),
    Operation(
        "bookings.create",
        summary="Create a booking",
        method="POST",
        path="/api/booking",
        success=201,
        arguments=NewBooking,
        access=Access.READ_WRITE,
        error_code="BOOKING_CREATE_ERROR",
        links={
            "bookings.get": {"id": "$response.body#/booking_id"},
            "bookings.confirm": {"id": "$response.body#/booking_id"},
            "bookings.cancel": {"booking_id": "$response.body#/booking_id"},
            "bookings.cancel_fee": {"id": "$response.body#/booking_id"},
        },
    ),
    Operation(
        "bookings.confirm",
        summary="Confirm a booking",
        method="POST",
        path="/api/booking/confirm",
        success=201,
        arguments=Identified,
        access=Access.READ_WRITE,
        error_code="BOOKING_CONFIRM_ERROR",
        links={
            "tickets.get": {"id": "$response.body#/ticket_id"},
            "tickets.pdf": {"id": "$response.body#/ticket_id"},
            "tickets.cancel": {"ticket_id": "$response.body#/ticket_id"},
        },
    ),
    Operation(
        "bookings.cancel",
        summary="Cancel a booking",
        method="POST",
        path="/api/booking/cancel",
        success=201,
        arguments=BookingToCancel,
        access=Access.READ_WRITE,
    ),
    Operation(
        "bookings.cancel_fee",
        summary="Preview a fee",
        method="POST",
        path="/api/booking/cancel-fee",
        arguments=Identified,
    ),
    Operation(
        "bookings.get",
        summary="Read a booking",
        method="GET",
        path="/api/booking/{id}",
        arguments=Identified,
        links={"tickets.mark_paid": {"id": "$response.body#/tickets/0/id"}},
    ),
    Operation(
        "tickets.cancel",
        summary="Cancel a ticket",
        method="POST",
        path="/api/ticket/cancel",
        success=201,
        arguments=TicketToCancel,
        access=Access.READ_WRITE,
        error_code="TICKET_CANCEL_ERROR",
    ),
    Operation(
        "tickets.get",
        summary="Read a ticket",
        method="GET",
        path="/api/ticket/{id}",
        arguments=Identified,
        error_code="TICKET_VIEW_ERROR",
        unknown_id_code="TICKET_NOT_FOUND",
    ),
    Operation(
        "tickets.pdf",
        summary="Find a voucher",
        method="GET",
        path="/api/ticket/{id}/pdf",
        arguments=Identified,
        unknown_id_code="TICKET_NOT_FOUND",
    ),
    Operation(
        "tickets.mark_paid",
        summary="Record a payment",
        method="POST",
        path="/api/ticket/{id}/mark-paid",
        arguments=Payment,
        access=Access.ORGANISATION,
        unknown_id_code="TICKET_NOT_FOUND",
    ),
    Operation(
        "catalogue.departures",
        summary="List departures",
        method="POST",
        path="/api/departure",
        success=201,
        arguments=DepartureQuery,
        member="departures",
        example={"provider_id": "CTN"},
    ),
    Operation(
        "catalogue.journeys",
        summary="List journeys",
        method="POST",
        path="/api/journey",
        success=201,
        member="journeys",
    ),
    Operation(
        "catalogue.ports",
        summary="List ports",
        method="GET",
        path="/api/port",
        member="ports",
    ),
    Operation(
        "catalogue.vehicle_brands",
        summary="List vehicle brands",
        method="GET",
        path="/api/vehicle-brand",
        member="brands",
    ),
    Operation(
        "catalogue.vehicle_types",
        summary="List vehicle types",
        method="GET",
        path="/api/vehicle-data",
        member="vehicle_types",
    ),
    # A file that a browser fetches, without a token.
    Operation("voucher.file"),
    # The tools of MCP.
    Operation(
        "mcp.search_availability",
        tool="search_availability",
        summary="Search sailings",
        description=(
            "Find the sailings of a company between two ports on a date, for passengers and "
            "optionally a vehicle. Returns an array of availabilities with their tariffs and "
            "places."
        ),
        arguments=Search,
        error_code="AVAILABILITY_ERROR",
    ),
    Operation(
        "mcp.create_booking",
        tool="create_booking",
        summary="Create a booking",
        description=(
            "Book a tariff and a place of one availability, or of two for a return journey. "
            "The booking must be confirmed before its deadline."
        ),
        arguments=McpNewBooking,
        access=Access.READ_WRITE,
        error_code="BOOKING_CREATE_ERROR",
    ),
    Operation(
        "mcp.confirm_booking",
        tool="confirm_booking",
        summary="Confirm a booking",
        description="Pay a booking and issue its tickets. From then on, cancelling can cost a fee.",
        arguments=Identified,
        access=Access.READ_WRITE,
        destroys=True,
        error_code="BOOKING_CONFIRM_ERROR",
    ),
    Operation(
        "mcp.view_ticket",
        tool="view_ticket",
        summary="View a ticket",
        description="Read one ticket: its booking, passengers, status and voucher.",
        arguments=Identified,
        error_code="TICKET_VIEW_ERROR",
        unknown_id_code="TICKET_NOT_FOUND",
    ),
    Operation(
        "mcp.cancel_ticket",
        tool="cancel_ticket",
        summary="Cancel a ticket",
        description="Cancel a ticket before its departure. A fee may apply.",
        arguments=TicketToCancel,
        access=Access.READ_WRITE,
        destroys=True,
        error_code="TICKET_CANCEL_ERROR",
    ),
    # The resources of MCP.
    Operation(
        "mcp.ports",
        uri="resource://service/ports",
        description="Ports: codes, cities, coordinates",
    ),
    Operation(
        "mcp.companies",
        uri="resource://service/companies",
        description="Ferry companies: codes and logos",
    ),
    Operation(
        "mcp.countries",
        uri="resource://service/countries",
        description="Countries: ISO codes, phone prefixes, localised names",
    ),
    Operation(
        "mcp.vehicle_brands",
        uri="resource://service/vehicle-brands",
        description="Vehicle brands",
    ),
    Operation(
        "mcp.vehicle_data",
        uri="resource://service/vehicle-data",
        description="Vehicles: brand, type, height, length",
    ),
    Operation(
        "mcp.departures",
        uri="resource://service/departures",
        description="Scheduled departures: journey, company, ports, ship",
    ),
    # The other requests of MCP.
    Operation("mcp.initialize", rpc=("initialize",)),
    Operation("mcp.ping", rpc=("ping",)),
    Operation("mcp.list_tools", rpc=("tools/list",)),
    Operation("mcp.list_resources", rpc=("resources/list", "resources/templates/list")),
)

OPERATIONS: Mapping[str, Operation] = {each.name: each for each in _ROWS}
ENDPOINTS = tuple(each for each in _ROWS if each.path)
TOOLS: Mapping[str, Operation] = {each.tool: each for each in _ROWS if each.tool}
RESOURCES: Mapping[str, Operation] = {each.uri: each for each in _ROWS if each.uri}
RPC: Mapping[str, Operation] = {method: each for each in _ROWS for method in each.rpc}
