"""Travellers, and what a ship offers them besides the crossing: places and meals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from ferry_sdk.sandbox.network.geography import Company, Route
from ferry_sdk.sandbox.network.network import load_records
from ferry_sdk.sandbox.network.timetable import Sailing
from ferry_sdk.sandbox.offers.fares import Fares, euros
from ferry_sdk.sandbox.offers.inventory import Inventory

if TYPE_CHECKING:
    from ferry_sdk.sandbox.offers.offer import OfferInputs
    from ferry_sdk.sandbox.responses.fields import JsonObject

_LONG = 240  # minutes
_SUITES_FROM = 480  # minutes
_MOST_SHARING = 3


@dataclass(frozen=True, slots=True, eq=False)
class PlaceKind:
    """A kind of place.

    Attributes:
        price: Thousandths of an adult's fare.
        units: How many places of the kind a ship has.
        on: The group of crossings that has it, such as `night`; see `_groups_of`.
    """

    code: str
    type: Literal["Seat", "Cabin", "Suite"]
    berths: int
    gender: Literal["Any", "Male", "Female"]
    use: Literal["Exclusive", "Shared"]
    has_shower: bool
    has_toilet: bool
    has_window: bool
    price: int
    units: int
    on: str
    names: Mapping[str, str]


_KINDS = [PlaceKind(**row) for row in load_records("places.json")["places"]]
_MEALS = load_records("meals.json")["meals"]


@dataclass(frozen=True, slots=True)
class Traveller:
    """One traveller of a search.

    Attributes:
        kind: Adult, Child or Infant, as declared; fares depend on the age.
        age: The age in years on the day of departure.
        gender: Male or Female.
    """

    kind: str
    age: int
    gender: str


@dataclass(frozen=True, slots=True)
class Party:
    """The travellers of one search with one company."""

    company: Company
    travellers: tuple[Traveller, ...]

    def number(self, kind: str) -> int:
        """Return how many of the party are Adult, Child or Infant."""
        return sum(self.company.age_band(each.age) == kind for each in self.travellers)

    @property
    def berths(self) -> int:
        """The seats or berths needed; infants need none."""
        return max(1, len(self.travellers) - self.number("Infant"))

    def fits(self, kind: PlaceKind) -> bool:
        """Tell whether the party can travel in places of this kind.

        A shared cabin takes up to three adults of one gender.
        """
        if kind.use != "Shared":
            return True
        are_few = len(self.travellers) <= _MOST_SHARING
        are_adults = self.number("Adult") == len(self.travellers)
        genders = {traveller.gender for traveller in self.travellers}
        return are_few and are_adults and genders == {kind.gender}


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a whole party on one sailing.

    Attributes:
        capacity: How many people it holds; for a large party it consists of several cabins.
        count: How many are left.
        supplement: Added to the party's standard fare, in euros.
    """

    id: str
    index: int
    kind: PlaceKind
    capacity: int
    count: int
    supplement: Decimal

    @property
    def units(self) -> int:
        """The number of places of its kind that it takes."""
        return self.capacity // self.kind.berths

    def name_in(self, language: str) -> str:
        """Return the name in a language (two letters), or the English name."""
        return self.kind.names.get(language, self.kind.names["en"])


def places_for(offer: OfferInputs, fares: Fares, inventory: Inventory) -> tuple[Place, ...]:
    """Return the places that a party can have on a sailing; empty if it is sold out.

    Args:
        offer: The sailing, the party, the time of the search, and the start of the places' ids.
        fares: How much is sold, and what a place costs.
        inventory: The places that are taken on top of what `fares` knows.
    """
    sailing = offer.sailing
    party = offer.party
    now = offer.issued_at
    if sailing.journey.route.sold_out:
        return ()

    places: list[Place] = []
    adult_fare = fares.adult(sailing, now)
    groups = _groups_of(sailing.journey.route)
    for kind in _KINDS:
        if kind.on not in groups or not party.fits(kind):
            continue

        units = math.ceil(party.berths / kind.berths)
        left = fares.places_left(sailing, kind.code, kind.units, now)
        count = (left - inventory.taken(sailing.id, kind.code, now)) // units
        if count > 0:
            places.append(
                Place(
                    id=f"{offer.id}.{kind.code}",
                    index=len(places) + 1,
                    kind=kind,
                    capacity=units * kind.berths,
                    count=count,
                    supplement=euros(adult_fare * kind.price * units // 1000),
                )
            )
    return tuple(places)


def _groups_of(route: Route) -> set[str]:
    """Return the groups of places and meals that a route's ships have.

    Short and fast crossings have seats only.
    """
    groups = {"any"}
    groups.add("night" if route.overnight else "day")
    is_long_day = route.minutes >= _LONG and not route.fast
    if route.overnight or is_long_day:
        groups.add("long")
    if route.overnight and route.minutes >= _SUITES_FROM:
        groups.add("suite")
    return groups


def meals_on(sailing: Sailing, language: str) -> list[JsonObject]:
    """Return the meals on a sailing, with the price for one person."""
    groups = _groups_of(sailing.journey.route)
    return [
        {
            "id": f"{sailing.id}.{meal['code']}",
            "code": meal["code"],
            "name": meal["names"].get(language, meal["names"]["en"]),
            "price": meal["price"] / 100,
            "currency": "Eur",
        }
        for meal in _MEALS
        if meal["on"] in groups
    ]


def animals_on(route: Route) -> JsonObject | None:
    """Return how animals travel; None on fast ships, which take none."""
    if route.fast:
        return None
    return {"allowed": True, "kennel": route.overnight, "cabin": route.overnight}
