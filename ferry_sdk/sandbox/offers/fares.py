"""Fares, tariffs and occupancy of a sailing, by season, weekday and days before departure.

Shares and factors are in thousandths, fares in cents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Literal

from ferry_sdk.sandbox.network.geography import VehicleModel
from ferry_sdk.sandbox.network.network import load_records
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Sailing

if TYPE_CHECKING:
    from ferry_sdk.sandbox.offers.offer import OfferInputs

_WHOLE = 1000
"""A share or a factor of 1, in thousandths."""
_BY_MONTH = (850, 800, 900, 1000, 1050, 1250, 1600, 1700, 1200, 950, 850, 1050)
"""The factors of fares, from January on."""
_WEEKEND = 1100
_WEEKEND_DAYS = (4, 5, 6)  # from Friday on
_BY_DAYS_AHEAD = ((3, 1280), (7, 1200), (14, 1130), (30, 1060), (60, 1000), (90, 900))
"""The factors of fares: each row is for fewer days before departure than its first number."""
_LONG_AHEAD = 850
"""The factor of more days than in the last row."""
_FAST = 1350
"""The factor of a fast ship."""
_SHARES = {"Adult": _WHOLE, "Child": 500, "Infant": 0}
"""The shares of an adult's fare."""
_USUAL_LENGTH = 450
"""Centimetres of a vehicle that pays the fare of a car."""
_HIGH = 1250
_VERY_HIGH = 1500
"""The factors of vehicles that are higher than `Company.low_vehicle`, or very high."""
_VERY_HIGH_ABOVE = 2.6
"""Metres."""
_SOLD_AHEAD = ((2, 1000), (7, 950), (14, 840), (30, 760), (60, 620), (90, 450), (180, 300))
"""The shares of the final demand that are sold, in rows like those of `_BY_DAYS_AHEAD`."""
_SOLD_LONG_AHEAD = 150


def euros(cents: int) -> Decimal:
    """Return an amount in euros, with two decimals."""
    return Decimal(cents).scaleb(-2)


def round_to_cents(amount: Decimal) -> Decimal:
    """Return the amount in whole cents, with halves rounded up."""
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


class Fares:
    """The fares of sailings, and how much of them is sold, at a given time."""

    def __init__(self, random: SeededRandom) -> None:
        self._random = random

    def adult(self, sailing: Sailing, now: datetime) -> int:
        """Return the fare of an adult with a plain seat."""
        route = sailing.journey.route
        fare = 500 + 14 * route.miles + 2 * sailing.minutes
        if route.fast:
            fare = fare * _FAST // _WHOLE
        return fare * self._price_factor(sailing, now) // _WHOLE

    def passenger(self, sailing: Sailing, age: int, now: datetime) -> int:
        """Return the fare of a passenger of this age with a plain seat."""
        return self.adult(sailing, now) * _SHARES[sailing.company.age_band(age)] // _WHOLE

    def vehicle(self, sailing: Sailing, vehicle: VehicleModel, now: datetime) -> int:
        """Return the fare of a vehicle, by length and height."""
        fare = 1500 + 22 * sailing.journey.route.miles + 3 * sailing.minutes
        fare = fare * round(vehicle.length * 100) // _USUAL_LENGTH
        fare = fare * vehicle.type.fare_share // _WHOLE
        if vehicle.height > _VERY_HIGH_ABOVE:
            fare = fare * _VERY_HIGH // _WHOLE
        elif vehicle.height > sailing.company.low_vehicle:
            fare = fare * _HIGH // _WHOLE
        return fare * self._price_factor(sailing, now) // _WHOLE

    def _price_factor(self, sailing: Sailing, now: datetime) -> int:
        """Return the factor of season, weekday, days ahead, company and a random part."""
        day = sailing.depart_at
        factor = _BY_MONTH[day.month - 1]
        if day.weekday() in _WEEKEND_DAYS:
            factor = factor * _WEEKEND // _WHOLE
        days_ahead = _by_days_ahead(_BY_DAYS_AHEAD, sailing, now, default=_LONG_AHEAD)
        factor = factor * days_ahead // _WHOLE
        factor = factor * (880 + self._random.below(300, "fares", sailing.company.code)) // _WHOLE
        return factor * (970 + self._random.below(61, "fares", sailing.id)) // _WHOLE

    def places_left(self, sailing: Sailing, code: str, units: int, now: datetime) -> int:
        """Return how many of `units` places of one kind are left.

        The final demand of a sailing is 40 to 110 % of its places, so some sailings sell out. Of
        the places of one kind, 80 to 100 % of that share are sold.
        """
        demand = 400 + self._random.below(700, "demand", sailing.id)
        ahead = _by_days_ahead(_SOLD_AHEAD, sailing, now, default=_SOLD_LONG_AHEAD)
        sold = demand * ahead // _WHOLE
        if sold >= _WHOLE:
            return 0
        sold_of_kind = sold * (800 + self._random.below(201, "kind", sailing.id, code)) // _WHOLE
        return units * (_WHOLE - sold_of_kind) // _WHOLE


def _by_days_ahead(
    table: tuple[tuple[int, int], ...], sailing: Sailing, now: datetime, *, default: int
) -> int:
    """Return the share in the first row with more days than are left before departure."""
    days_left = (sailing.depart_at - now).days
    for days, share in table:
        if days_left < days:
            return share
    return default


@dataclass(frozen=True, slots=True)
class Level:
    """A type of tariff.

    Attributes:
        code: The name within an offer.
        type: Ticket, Presale or Option.
        family: The fare family, which sets the fees: saver, standard or flex.
        rate: The share of the standard fare.
        hold_minutes: How long a price is valid.
        roundtrip: Whether it needs the other direction with the same company.
        days_ahead: The least days before departure on which it is sold.
        minutes: The shortest crossing for which it is sold.
    """

    code: str
    type: Literal["Ticket", "Presale", "Option"]
    family: str
    rate: Decimal
    hold_minutes: int
    roundtrip: bool = False
    days_ahead: int = 0
    minutes: int = 0

    def expires_at(self, ends_at: datetime, now: datetime) -> datetime:
        """Return the end of a price found now, at most `ends_at`."""
        return min(now + timedelta(minutes=self.hold_minutes), ends_at.astimezone(UTC))


_LEVELS = [
    Level(rate=Decimal(row.pop("rate")), **row) for row in load_records("tariffs.json")["tariffs"]
]


@dataclass(frozen=True, slots=True)
class Tariff:
    """The price for a whole party on one sailing, and its end.

    Attributes:
        amount: With the cheapest place and the vehicle, in euros.
    """

    id: str
    level: Level
    amount: Decimal
    expires_at: datetime


def levels(offer: OfferInputs) -> Iterator[Level]:
    """Yield the tariff levels of an offer, cheapest first, then presale and option.

    An open ticket has the flexible level only.
    """
    if offer.is_open:
        yield from (level for level in _LEVELS if level.code == "FLEX")
        return

    sailing = offer.sailing
    days_left = (sailing.depart_at - offer.issued_at).days
    sells_round_trips = offer.round_trip and sailing.company.round_trip_fares
    for level in _LEVELS:
        is_early = days_left >= level.days_ahead
        is_long = sailing.minutes >= level.minutes
        fits_trip = sells_round_trips or not level.roundtrip
        if is_early and is_long and fits_trip:
            yield level
