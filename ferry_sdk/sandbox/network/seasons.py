"""When in the year a route is sailed, and which of its timetables is in force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date


@dataclass(frozen=True, slots=True)
class Period:
    """A part of the year with a timetable of its own.

    Attributes:
        summer: April to October.
        quiet: The route mostly lives from another part of the year.
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
    """The period that a day falls in on a route of this season; None: nothing sails."""
    first, last = _SPANS[season]
    inside = first <= (day.month, day.day) <= last
    if not inside and season not in _QUIET_OUTSIDE:
        return None
    return Period(summer=is_summer(day), quiet=not inside)


def is_summer(day: date) -> bool:
    """Whether the summer timetable is in force, April to October."""
    return day.month in _SUMMER_MONTHS
