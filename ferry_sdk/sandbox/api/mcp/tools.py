"""The tools and resources of `/mcp`: names, descriptions and schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.operations import OPERATIONS

if TYPE_CHECKING:
    from ferry_sdk.sandbox.api.mcp.envelopes import Json


class Tool(NamedTuple):
    """An MCP tool; its operation is `mcp.` and its name.

    Attributes:
        title: The display name.
        description: What the tool does, for the model that chooses a tool.
        destroys: Whether its effect cannot be undone.
    """

    title: str
    description: str
    destroys: bool = False

    def to_wire(self, name: str) -> Json:
        """Return the tool as `tools/list` lists it."""
        operation = OPERATIONS[f"mcp.{name}"]
        reads = operation.access is Access.READ_ONLY
        return {
            "name": name,
            "title": self.title,
            "description": self.description,
            "inputSchema": operation.arguments.model_json_schema(),
            "annotations": {
                "readOnlyHint": reads,
                "destructiveHint": self.destroys,
                "idempotentHint": reads,
                "openWorldHint": False,
            },
        }


TOOLS = {
    "search_availability": Tool(
        "Search sailings",
        "Find the sailings of a company between two ports on a date, for passengers and optionally"
        " a vehicle. Returns an array of availabilities with their tariffs and places.",
    ),
    "create_booking": Tool(
        "Create a booking",
        "Book a tariff and a place of one availability, or of two for a return journey. The"
        " booking must be confirmed before its deadline.",
    ),
    "confirm_booking": Tool(
        "Confirm a booking",
        "Pay a booking and issue its tickets. From then on, cancelling can cost a fee.",
        destroys=True,
    ),
    "view_ticket": Tool(
        "View a ticket", "Read one ticket: its booking, passengers, status and voucher."
    ),
    "cancel_ticket": Tool(
        "Cancel a ticket", "Cancel a ticket before its departure. A fee may apply.", destroys=True
    ),
}

RESOURCES = {
    "resource://service/ports": "Ports: codes, cities, coordinates",
    "resource://service/companies": "Ferry companies: codes and logos",
    "resource://service/countries": "Countries: ISO codes, phone prefixes, localised names",
    "resource://service/vehicle-brands": "Vehicle brands",
    "resource://service/vehicle-data": "Vehicles: brand, type, height, length",
    "resource://service/departures": "Scheduled departures: journey, company, ports, ship",
}
"""The description of each resource by its URI."""
