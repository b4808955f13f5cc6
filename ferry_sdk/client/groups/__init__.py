"""The groups of calls, as a client of each kind has them.

A group's methods exist once; the transport makes them sync, async or raw. The stub beside each
module has their signatures for one kind of client, for editors and type checkers; `scripts/api-map`
writes them. Docstrings are not in the stubs: editors find them by following the modules' imports.
"""

# Editors follow these imports to the docstrings.
# pyright: reportUnusedImport=false

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.planning.groups import PlacesGroup, RoutesGroup, TripsGroup
    from ferry_sdk.planning.vehicles import VehiclesGroup
    from ferry_sdk.resources.availability import AvailabilityGroup
    from ferry_sdk.resources.bookings import BookingsGroup
    from ferry_sdk.resources.catalogue import CatalogueGroup
    from ferry_sdk.resources.mcp import McpGroup
    from ferry_sdk.resources.tickets import TicketsGroup
