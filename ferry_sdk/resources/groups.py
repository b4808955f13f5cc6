"""The groups of calls of a client, each loaded on first use."""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_attribute
from ferry_sdk.resources.base import Resource, bind


class Group(lazy_attribute):
    """A group of calls over the transport of its owner, loaded on first use.

    Its class is named after the attribute, and so is its module in `resources`, unless another
    module is given. Its type is in the stubs of `client.groups`.
    """

    def __init__(self, description: str, module: str | None = None) -> None:
        def load(resources: Resources) -> object:
            name = str(self.attrname)
            path = module or f"resources.{name}"
            return bind(f"ferry_sdk.{path}", f"{name.capitalize()}Group", resources._transport)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- its owner

        super().__init__(load)
        self.__doc__ = description


class Resources(Resource):
    """All calls of the service over one transport.

    Attributes:
        availability: Search for sailings.
        bookings: Create, confirm, read and cancel bookings.
        tickets: Read and cancel tickets, record payments, fetch vouchers.
        catalogue: List ports, journeys, departures and vehicles.
        mcp: The same service over MCP.
    """

    availability: Group = Group("Search for sailings.")
    bookings: Group = Group("Create, confirm, read and cancel bookings.")
    tickets: Group = Group("Read and cancel tickets, record payments, fetch vouchers.")
    catalogue: Group = Group("List ports, journeys, departures and vehicles.")
    mcp: Group = Group("The same service over MCP.")
