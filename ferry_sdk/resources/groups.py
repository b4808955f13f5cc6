"""The groups of calls of a client, each loaded on first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic

from ferry_sdk.resources.base import TransportT_co

if TYPE_CHECKING:
    from ferry_sdk.resources.availability import AvailabilityGroup
    from ferry_sdk.resources.bookings import BookingsGroup
    from ferry_sdk.resources.catalogue import CatalogueGroup
    from ferry_sdk.resources.mcp import McpGroup
    from ferry_sdk.resources.tickets import TicketsGroup


class Resources(Generic[TransportT_co]):
    """All calls of the service over one transport.

    Attributes:
        availability: Search for sailings.
        bookings: Create, confirm, read and cancel bookings.
        tickets: Read and cancel tickets, record payments, fetch vouchers.
        catalogue: List ports, journeys, departures and vehicles.
        mcp: The same service over MCP.
    """

    def __init__(self, transport: TransportT_co) -> None:
        self._transport = transport

    @cached_property
    def availability(self) -> AvailabilityGroup[TransportT_co]:
        """Search for sailings."""
        from ferry_sdk.resources.availability import AvailabilityGroup  # noqa: PLC0415 -- loaded on first use

        return AvailabilityGroup(self._transport)

    @cached_property
    def bookings(self) -> BookingsGroup[TransportT_co]:
        """Create, confirm, read and cancel bookings."""
        from ferry_sdk.resources.bookings import BookingsGroup  # noqa: PLC0415 -- loaded on first use

        return BookingsGroup(self._transport)

    @cached_property
    def tickets(self) -> TicketsGroup[TransportT_co]:
        """Read and cancel tickets, record payments, fetch vouchers."""
        from ferry_sdk.resources.tickets import TicketsGroup  # noqa: PLC0415 -- loaded on first use

        return TicketsGroup(self._transport)

    @cached_property
    def catalogue(self) -> CatalogueGroup[TransportT_co]:
        """List ports, journeys, departures and vehicles."""
        from ferry_sdk.resources.catalogue import CatalogueGroup  # noqa: PLC0415 -- loaded on first use

        return CatalogueGroup(self._transport)

    @cached_property
    def mcp(self) -> McpGroup[TransportT_co]:
        """The same service over MCP."""
        from ferry_sdk.resources.mcp import McpGroup  # noqa: PLC0415 -- loaded on first use

        return McpGroup(self._transport)
