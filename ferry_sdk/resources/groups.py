"""The groups of calls of a client, each loaded on first use."""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_attribute
from ferry_sdk.resources.base import Resource, bind


class Group(lazy_attribute):
    """A group of calls of a client, made on first use and kept by the client.

    The name of the attribute leads to the class. For example, the first use of ``ferry.tickets``
    loads the module `resources.tickets`, and binds its class `TicketsGroup` to the client's
    transport.

    The type that a type checker sees is in the stubs of `client.groups`.
    """

    def __init__(self, description: str, module: str | None = None) -> None:
        """Describe a group.

        Args:
            description: The docstring of the attribute.
            module: The module of its class below `ferry_sdk`; None: that of its name in
                `resources`.
        """
        super().__init__(self._bind)
        self.__doc__ = description
        self._module = module

    def _bind(self, resources: Resources) -> object:
        name = str(self.attrname)
        module = self._module or f"resources.{name}"
        class_name = f"{name.capitalize()}Group"
        return bind(f"ferry_sdk.{module}", class_name, resources._transport)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- its owner


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
