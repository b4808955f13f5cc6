"""How often a route is sailed in each season."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from ferry_sdk.sandbox.network.geography import Route
    from ferry_sdk.sandbox.network.seeded_random import SeededRandom


_DAY = 24 * 60
_MORNING, _EVENING = 6 * 60, 18 * 60


@dataclass(frozen=True, slots=True)
class Frequency:
    """The sailings of a day, and the days of a week.

    Attributes:
        a_day: The sailings on each day with sailings.
        days_a_week: The days with sailings.
        earliest: The earliest minute of the day for the first departure.
        slack: How many minutes later the first departure can be.
        every: The minutes between departures.
    """

    a_day: int
    days_a_week: int
    earliest: int
    slack: int
    every: int


_ROUND_THE_CLOCK = ((25, 20), (60, 30), (95, 60), (_DAY, 120))
"""Maximum minutes at sea, minutes between sailings."""

_BY_DAY = ((40, 8, 12), (65, 6, 9), (110, 4, 7), (160, 3, 5), (260, 2, 3), (_DAY, 1, 2))
"""Maximum minutes at sea, least and most sailings a day."""

_OVERNIGHT = ((900, 7, 7), (1320, 3, 6), (1900, 2, 4), (7 * _DAY, 1, 3))
"""Maximum minutes at sea, least and most evenings a week."""


def frequency(
    route: Route, period: Period, random: SeededRandom, words: tuple[object, ...]
) -> Frequency:
    """Return how often a company sails a route in a part of the year.

    Args:
        route: The route.
        period: The part of the year; winter has a third fewer sailings.
        random: Chooses within the bounds.
        words: Names the choice, for the random numbers.
    """
    if route.round_the_clock:
        (every,) = _row(_ROUND_THE_CLOCK, route.minutes)
        return Frequency(_DAY // every, 7, earliest=0, slack=every, every=every)
    least, most = _row(_OVERNIGHT if route.overnight else _BY_DAY, route.minutes)
    number = least + random.below(most - least + 1, "often", *words)
    if not period.summer:
        number = max(1, number * 2 // 3)
    if route.overnight:
        days = 1 if period.quiet else number
        return Frequency(1, days, earliest=_EVENING, slack=5 * 60, every=_DAY)
    every = min(8 * 60, 14 * 60 // max(number - 1, 1))
    return Frequency(number, 7, earliest=_MORNING, slack=150, every=every)


def _row(table: tuple[tuple[int, ...], ...], minutes: int) -> list[int]:
    return next(row for limit, *row in table if minutes <= limit)


@dataclass(frozen=True, slots=True)
class Period:
    """A part of the year with its own timetable.

    Attributes:
        summer: April to October.
        quiet: Outside the main season of the route.
    """

    summer: bool
    quiet: bool


_SPANS = {
    "summer": ((6, 15), (9, 15)),
    "mostly summer": ((6, 1), (9, 30)),
    "spring-autumn": ((4, 1), (10, 31)),
    "all-year": ((1, 1), (12, 31)),
}
_QUIET_OUTSIDE = {"mostly summer"}
_SUMMER_MONTHS = range(4, 11)


def period_of(season: str, day: date) -> Period | None:
    """Return the period of a day on a route of this season; None if nothing sails."""
    first, last = _SPANS[season]
    inside = first <= (day.month, day.day) <= last
    if not inside and season not in _QUIET_OUTSIDE:
        return None
    return Period(summer=is_summer(day), quiet=not inside)


def is_summer(day: date) -> bool:
    """Tell whether the summer timetable (April to October) applies."""
    return day.month in _SUMMER_MONTHS
