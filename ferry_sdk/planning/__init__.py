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

    places: Group = Group("Find ports by the names that people write.", "planning.groups")
    routes: Group = Group("Find out who sails where.", "planning.groups")
    trips: Group = Group("Search trips from two places and a date.", "planning.groups")
    vehicles: Group = Group("Find vehicles by make and model.", "planning.vehicles")
