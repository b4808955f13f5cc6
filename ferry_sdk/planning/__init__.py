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
        group: PlacesGroup = bind("ferry_sdk.planning.groups", "PlacesGroup", self._transport)
        return group

    @cached_property
    def routes(self) -> RoutesGroup:
        """Find out who sails where."""
        group: RoutesGroup = bind("ferry_sdk.planning.groups", "RoutesGroup", self._transport)
        return group

    @cached_property
    def trips(self) -> TripsGroup:
        """Search trips from two places and a date."""
        group: TripsGroup = bind("ferry_sdk.planning.groups", "TripsGroup", self._transport)
        return group

    @cached_property
    def vehicles(self) -> VehiclesGroup:
        """Find vehicles by make and model."""
        group: VehiclesGroup = bind("ferry_sdk.planning.vehicles", "VehiclesGroup", self._transport)
        return group
