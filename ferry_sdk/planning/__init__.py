"""Places, routes, trips and price calendars, made of catalogues and searches."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ferry_sdk.resources.base import bind
from ferry_sdk.resources.groups import Resources

if TYPE_CHECKING:
    from ferry_sdk.planning.groups import PlacesGroup, RoutesGroup, TripsGroup
    from ferry_sdk.planning.vehicles import VehiclesGroup


class PlannedResources(Resources):
    """The calls of the service, and those that consist of several of them.

    Attributes:
        places: Find ports by the names that people write.
        routes: Find out who sails where.
        trips: Search trips from two places and a date.
        vehicles: Find vehicles by make and model.
    """

    @cached_property
    def places(self) -> PlacesGroup:
        """Find ports by the names that people write."""
        from ferry_sdk.planning.groups import PlacesGroup  # noqa: PLC0415 -- loaded on first use

        return bind(PlacesGroup, self._transport)

    @cached_property
    def routes(self) -> RoutesGroup:
        """Find out who sails where."""
        from ferry_sdk.planning.groups import RoutesGroup  # noqa: PLC0415 -- loaded on first use

        return bind(RoutesGroup, self._transport)

    @cached_property
    def trips(self) -> TripsGroup:
        """Search trips from two places and a date."""
        from ferry_sdk.planning.groups import TripsGroup  # noqa: PLC0415 -- loaded on first use

        return bind(TripsGroup, self._transport)

    @cached_property
    def vehicles(self) -> VehiclesGroup:
        """Find vehicles by make and model."""
        from ferry_sdk.planning.vehicles import VehiclesGroup  # noqa: PLC0415 -- loaded on first use

        return bind(VehiclesGroup, self._transport)
