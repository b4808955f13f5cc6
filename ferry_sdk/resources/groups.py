"""The groups of calls of a client, each loaded on first use."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ferry_sdk.resources.base import AnyTransport, bind


class Group(cached_property[Any]):
    """A group of calls over the transport of its owner, loaded on first use.

    Its type is in the stubs of `client.groups`.
    """

    def __init__(self, module: str, name: str, description: str) -> None:
        def load(resources: Resources) -> object:
            return bind(f"ferry_sdk.{module}", name, resources._transport)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- its owner

        super().__init__(load)
        self.__doc__ = description


class Resources:
    """All calls of the service over one transport.

    Attributes:
        availability: Search for sailings.
        bookings: Create, confirm, read and cancel bookings.
        tickets: Read and cancel tickets, record payments, fetch vouchers.
        catalogue: List ports, journeys, departures and vehicles.
        mcp: The same service over MCP.
    """

    availability: Group = Group(
        "resources.availability", "AvailabilityGroup", "Search for sailings."
    )
    bookings: Group = Group(
        "resources.bookings", "BookingsGroup", "Create, confirm, read and cancel bookings."
    )
    tickets: Group = Group(
        "resources.tickets",
        "TicketsGroup",
        "Read and cancel tickets, record payments, fetch vouchers.",
    )
    catalogue: Group = Group(
        "resources.catalogue",
        "CatalogueGroup",
        "List ports, journeys, departures and vehicles.",
    )
    mcp: Group = Group("resources.mcp", "McpGroup", "The same service over MCP.")

    def __init__(self, transport: AnyTransport) -> None:
        self._transport: Any = transport
