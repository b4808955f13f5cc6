"""Places, meals and animals: what a ship offers besides the passage."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferry_sdk.sandbox.network.network import load_records
from ferry_sdk.sandbox.offers.fares import euros

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from decimal import Decimal

    from ferry_sdk.sandbox.network.geography import Route
    from ferry_sdk.sandbox.network.timetable import Sailing
    from ferry_sdk.sandbox.offers.fares import Demand
    from ferry_sdk.sandbox.offers.party import Party


_LONG, _SUITES_FROM = 240, 480


@dataclass(frozen=True, slots=True, eq=False)
class PlaceKind:
    """A kind of place; prices are in thousandths of an adult's passage."""

    code: str
    type: str
    berths: int
    gender: str
    use: str
    has_shower: bool
    has_toilet: bool
    has_window: bool
    price: int
    units: int
    on: str
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a whole party on one sailing.

    Attributes:
        capacity: How many people it holds; for a large party it consists of several cabins.
        count: How many are left.
        supplement: Added to the party's passage at the standard fare, in euros.
    """

    id: str
    index: int
    kind: PlaceKind
    capacity: int
    count: int
    supplement: Decimal

    @property
    def code(self) -> str:
        """The code of the kind of place."""
        return self.kind.code

    @property
    def type(self) -> str:
        """Seat, Cabin or Suite."""
        return self.kind.type

    def name_in(self, language: str) -> str:
        """Return the name in a language (two letters), or the English name."""
        return self.kind.names.get(language, self.kind.names["en"])


class Accommodation:
    """The places that are still available."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand

    def places(
        self, offer_id: str, sailing: Sailing, party: Party, adult_fare: int, now: datetime
    ) -> tuple[Place, ...]:
        """Return the places that a party can have on a sailing; empty if it is sold out.

        Args:
            offer_id: The id of their offer.
            sailing: The sailing.
            party: The travellers.
            adult_fare: An adult's passage in cents; supplements are proportional to it.
            now: The time of the search.
        """
        found: list[Place] = []
        for kind in kinds_on(sailing.journey.route):
            if not party.fits(kind):
                continue
            units = -(-party.berths // kind.berths)
            count = self._demand.left(sailing, kind.code, kind.units, now) // units
            if count:
                found.append(
                    Place(
                        id=f"{offer_id}.{kind.code}",
                        index=len(found) + 1,
                        kind=kind,
                        capacity=units * kind.berths,
                        count=count,
                        supplement=euros(adult_fare * kind.price * units // 1000),
                    )
                )
        return tuple(found)


@functools.cache
def kinds_on(route: Route) -> tuple[PlaceKind, ...]:
    """Return the kinds of place on the ships of a route."""
    groups = groups_of(route)
    return tuple(kind for kind in _kinds() if kind.on in groups)


@functools.cache
def _kinds() -> tuple[PlaceKind, ...]:
    return tuple(PlaceKind(**row) for row in load_records("places.json")["places"])


def groups_of(route: Route) -> set[str]:
    """Return the equipment of a route's ships; short and fast crossings have seats only."""
    groups = {"any", "night" if route.overnight else "day"}
    if route.overnight or (route.minutes >= _LONG and not route.fast):
        groups.add("long")
    if route.overnight and route.minutes >= _SUITES_FROM:
        groups.add("suite")
    return groups


def meals_on(sailing: Sailing, language: str) -> list[dict[str, object]]:
    """Return the meals on a sailing, with the price for one person."""
    groups = groups_of(sailing.journey.route)
    return [
        {
            "id": f"{sailing.id}.{meal['code']}",
            "code": meal["code"],
            "name": meal["names"].get(language, meal["names"]["en"]),
            "price": meal["price"] / 100,
            "currency": "Eur",
        }
        for meal in _meals()
        if meal["on"] in groups
    ]


def animals_on(sailing: Sailing) -> dict[str, object] | None:
    """Return how animals travel; None on fast ships, which take none."""
    route = sailing.journey.route
    if route.fast:
        return None
    return {"allowed": True, "kennel": route.overnight, "cabin": route.overnight}


@functools.cache
def _meals() -> list[dict[str, Any]]:
    return load_records("meals.json")["meals"]
