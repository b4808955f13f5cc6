"""The tools and resources of `/mcp`: names, descriptions, schemas and operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.requests import requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.sandbox.api.mcp.envelopes import Json


@dataclass(frozen=True, slots=True)
class Tool:
    """An MCP tool.

    Attributes:
        operation: The public name of the operation.
        title: The display name.
        description: What the tool does, for the model that chooses a tool.
        schema: Returns the JSON Schema of the arguments.
        reads: Whether it only reads.
        destroys: Whether its effect cannot be undone.
    """

    operation: str
    title: str
    description: str
    schema: Callable[[], Json]
    reads: bool
    destroys: bool

    def to_wire(self, name: str) -> Json:
        """Return the tool as `tools/list` lists it."""
        return {
            "name": name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema(),
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": self.destroys,
                "idempotentHint": self.reads,
                "openWorldHint": False,
            },
        }


@dataclass(frozen=True, slots=True)
class Resource:
    """An MCP resource: the operation that reads it, and its description."""

    operation: str
    description: str

    def to_wire(self, uri: str) -> Json:
        """Return the resource as `resources/list` lists it."""
        return {
            "uri": uri,
            "name": uri.rpartition("/")[2],
            "description": self.description,
            "mimeType": "application/json",
        }


def _search() -> Json:
    return requests.Search.model_json_schema()


def _new_booking() -> Json:
    return requests.McpNewBooking.model_json_schema()


def _id_arguments() -> Json:
    return requests.Identified.model_json_schema()


def _ticket_cancellation() -> Json:
    return requests.TicketCancellation.model_json_schema()


TOOLS = {
    "search_availability": Tool(
        "mcp.search_availability",
        "Search sailings",
        "Find the sailings of a company between two ports on a date, for passengers and optionally"
        " a vehicle. Returns an array of availabilities with their tariffs and places.",
        _search,
        reads=True,
        destroys=False,
    ),
    "create_booking": Tool(
        "mcp.create_booking",
        "Create a booking",
        "Book a tariff and a place of one availability, or of two for a return journey. The"
        " booking must be confirmed before its deadline.",
        _new_booking,
        reads=False,
        destroys=False,
    ),
    "confirm_booking": Tool(
        "mcp.confirm_booking",
        "Confirm a booking",
        "Pay a booking and issue its tickets. From then on, cancelling can cost a fee.",
        _id_arguments,
        reads=False,
        destroys=True,
    ),
    "view_ticket": Tool(
        "mcp.view_ticket",
        "View a ticket",
        "Read one ticket: its booking, passengers, status and voucher.",
        _id_arguments,
        reads=True,
        destroys=False,
    ),
    "cancel_ticket": Tool(
        "mcp.cancel_ticket",
        "Cancel a ticket",
        "Cancel a ticket before its departure. A fee may apply.",
        _ticket_cancellation,
        reads=False,
        destroys=True,
    ),
}

_SERVICE = "resource://service/"

RESOURCES = {
    f"{_SERVICE}ports": Resource("mcp.ports", "Ports: codes, cities, coordinates"),
    f"{_SERVICE}companies": Resource("mcp.companies", "Ferry companies: codes and logos"),
    f"{_SERVICE}countries": Resource(
        "mcp.countries", "Countries: ISO codes, phone prefixes, localised names"
    ),
    f"{_SERVICE}vehicle-brands": Resource("mcp.vehicle_brands", "Vehicle brands"),
    f"{_SERVICE}vehicle-data": Resource(
        "mcp.vehicle_data", "Vehicles: brand, type, height, length"
    ),
    f"{_SERVICE}departures": Resource(
        "mcp.departures", "Scheduled departures: journey, company, ports, ship"
    ),
}
