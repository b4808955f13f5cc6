"""What may be done when a call goes wrong, as a table: one row an operation.

Reads may be sent again whatever happened. A write is sent again only where nothing of it was
done: it did not leave, or the service refused it for its rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Safety:
    """A row of the table.

    Attributes:
        operation: The operation's public name.
        kind: Whether it reads or writes.
    """

    operation: str
    kind: Literal["read", "write"]

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing and may be repeated freely."""
        return self.kind == "read"


_READS = (
    "availability.search",
    "bookings.get",
    "bookings.cancel_fee",
    "tickets.get",
    "tickets.cancel_fee",
    "tickets.pdf",
    "tickets.save_pdf",
    "catalogue.ports",
    "catalogue.journeys",
    "catalogue.departures",
    "catalogue.vehicle_brands",
    "catalogue.vehicle_types",
    "mcp.search_availability",
    "mcp.view_ticket",
    "mcp.ports",
    "mcp.companies",
    "mcp.countries",
    "mcp.vehicle_brands",
    "mcp.vehicle_data",
    "mcp.departures",
    "mcp.read_resource",
    "mcp.list_tools",
    "mcp.list_resources",
)
_WRITES = (
    "bookings.create",
    "bookings.confirm",
    "bookings.cancel",
    "tickets.cancel",
    "tickets.mark_paid",
    "mcp.create_booking",
    "mcp.confirm_booking",
    "mcp.cancel_ticket",
    "mcp.call_tool",
)

SAFETY: Mapping[str, Safety] = MappingProxyType(
    {name: Safety(name, "read") for name in _READS}
    | {name: Safety(name, "write") for name in _WRITES}
)
"""Every operation of the library, by its public name."""

_TOOLS = (
    "search_availability",
    "create_booking",
    "confirm_booking",
    "view_ticket",
    "cancel_ticket",
)


def of_tool(name: str) -> Safety:
    """The row of an MCP tool; one that is not known counts as a write."""
    return SAFETY[f"mcp.{name}" if name in _TOOLS else "mcp.call_tool"]
