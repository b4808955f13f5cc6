"""Places, routes, trips and price calendars, made of catalogues and searches."""

from __future__ import annotations

from ferry_sdk.resources.groups import Group, Resources


class PlannedResources(Resources):
    """The calls of the service, and those that consist of several of them.

    Attributes:
        places: Find ports by the names that people write.
        routes: Find out who sails where.
        trips: Search trips from two places and a date.
        vehicles: Find vehicles by make and model.
    """

    places: Group = Group(
        "planning.groups", "PlacesGroup", "Find ports by the names that people write."
    )
    routes: Group = Group("planning.groups", "RoutesGroup", "Find out who sails where.")
    trips: Group = Group(
        "planning.groups", "TripsGroup", "Search trips from two places and a date."
    )
    vehicles: Group = Group(
        "planning.vehicles", "VehiclesGroup", "Find vehicles by make and model."
    )
