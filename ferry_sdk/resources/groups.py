"""The groups of calls of a client, each loaded on first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ferry_sdk.resources.base import AnyTransport, bind

if TYPE_CHECKING:
    from ferry_sdk.resources.availability import AvailabilityGroup
    from ferry_sdk.resources.bookings import BookingsGroup
    from ferry_sdk.resources.catalogue import CatalogueGroup
    from ferry_sdk.resources.mcp import McpGroup
    from ferry_sdk.resources.tickets import TicketsGroup


class Resources:
    """All calls of the service over one transport.

    Attributes:
        availability: Search for sailings.
        bookings: Create, confirm, read and cancel bookings.
        tickets: Read and cancel tickets, record payments, fetch vouchers.
        catalogue: List ports, journeys, departures and vehicles.
        mcp: The same service over MCP.
    """

    def __init__(self, transport: AnyTransport) -> None:
        self._transport: Any = transport

    @cached_property
    def availability(self) -> AvailabilityGroup:
        """Search for sailings."""
        group: AvailabilityGroup = bind(
            "ferry_sdk.resources.availability", "AvailabilityGroup", self._transport
        )
        return group

    @cached_property
    def bookings(self) -> BookingsGroup:
        """Create, confirm, read and cancel bookings."""
        group: BookingsGroup = bind(
            "ferry_sdk.resources.bookings", "BookingsGroup", self._transport
        )
        return group

    @cached_property
    def tickets(self) -> TicketsGroup:
        """Read and cancel tickets, record payments, fetch vouchers."""
        group: TicketsGroup = bind("ferry_sdk.resources.tickets", "TicketsGroup", self._transport)
        return group

    @cached_property
    def catalogue(self) -> CatalogueGroup:
        """List ports, journeys, departures and vehicles."""
        group: CatalogueGroup = bind(
            "ferry_sdk.resources.catalogue", "CatalogueGroup", self._transport
        )
        return group

    @cached_property
    def mcp(self) -> McpGroup:
        """The same service over MCP."""
        group: McpGroup = bind("ferry_sdk.resources.mcp", "McpGroup", self._transport)
        return group
