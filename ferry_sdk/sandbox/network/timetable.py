"""The timetable: which ship sails which journey, how often and at what time."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone

from ferry_sdk.sandbox.network.geography import Company, Journey, Route
from ferry_sdk.sandbox.network.network import load_records
from ferry_sdk.sandbox.network.seeded_random import SeededRandom

_FIRST_YEAR, _LAST_YEAR = 1970, 2199
_DAY = 24 * 60
_STEP = 5
_DAYS_KEPT = 8192
_SUMMER_MONTHS = range(4, 11)
_TABLES = load_records("timetable.json")
"""The seasons, and how often ships sail by their minutes at sea: every so many minutes all day, so
many times a day, or on so many evenings a week.
"""


@dataclass(frozen=True, slots=True)
class Sailing:
    """A departure of a ship, with both times in the ports' time zones."""

    id: str
    journey: Journey
    company: Company
    ship: str
    depart_at: datetime
    arrive_at: datetime
    stops: Sequence[str]

    def __post_init__(self) -> None:
        for name, port in ("depart_at", self.journey.depart), ("arrive_at", self.journey.arrive):
            object.__setattr__(self, name, getattr(self, name).astimezone(port.zone))

    @property
    def minutes(self) -> int:
        """The duration in minutes, independent of time zones."""
        return int(self.arrive_at.timestamp() - self.depart_at.timestamp()) // 60


@dataclass(frozen=True, slots=True)
class Period:
    """A part of the year with its own timetable.

    Attributes:
        summer: April to October.
        quiet: Outside the main season of the route.
    """

    summer: bool
    quiet: bool


class Timetable:
    """The sailings of every company, always the same for the same seed."""

    def __init__(self, random: SeededRandom) -> None:
        self._random = random
        self._departures = functools.cache(self._draw)
        self._of_day = functools.lru_cache(maxsize=_DAYS_KEPT)(self._sailings_of)

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def of_seed(seed: int) -> Timetable:
        """Return the timetable of a seed, which the services of a process share."""
        return Timetable(SeededRandom(seed))

    def sailings(self, company: Company, journey: Journey, day: date) -> tuple[Sailing, ...]:
        """Return a company's sailings on a journey on a local day, earliest first.

        Empty outside the route's season, before 1970 and after 2199.
        """
        return self._of_day(company, journey, day)

    def _sailings_of(self, company: Company, journey: Journey, day: date) -> tuple[Sailing, ...]:
        if not _FIRST_YEAR <= day.year <= _LAST_YEAR or company.code not in journey.route.companies:
            return ()
        period = _period_of(journey.route.season, day)
        if period is None:
            return ()
        weekdays, times = self._departures(company, journey, period)
        if day.weekday() not in weekdays:
            return ()
        sailings = {
            each.depart_at.timestamp(): each
            for number, at in enumerate(times)
            for each in [self._sailing(company, journey, day, at, number)]
        }
        return tuple(sailings[moment] for moment in sorted(sailings))

    def sailings_from(
        self, company: Company, journey: Journey, day: date, days: int
    ) -> Iterator[Sailing]:
        """Yield a company's sailings on a journey from a day on, in order."""
        first = day.toordinal()
        for number in range(first, min(first + days, date.max.toordinal())):
            yield from self.sailings(company, journey, date.fromordinal(number))

    def _sailing(
        self, company: Company, journey: Journey, day: date, at: time, number: int
    ) -> Sailing:
        name = f"{company.code}-{journey.key}-{day:%Y%m%d}-{at:%H%M}"
        # Converting to UTC and back turns a time that summer time skips into one that exists.
        start = datetime.combine(day, at, journey.depart.zone).astimezone(timezone.utc)
        ships = _ships_for(company, journey)
        first = self._random.below(len(ships), "ship", company.code, journey.key)
        return Sailing(
            id=name,
            journey=journey,
            company=company,
            ship=ships[(first + day.toordinal() + number) % len(ships)],
            depart_at=start,
            arrive_at=start + timedelta(minutes=journey.route.minutes_of(company)),
            stops=journey.stops,
        )

    def _draw(
        self, company: Company, journey: Journey, period: Period
    ) -> tuple[frozenset[int], tuple[time, ...]]:
        """Return the weekdays and the times of a company's departures in a period."""
        words = (company.code, journey.key, period)
        often, days, earliest, slack, every = self._frequency(journey.route, period, words)
        weekday = self._random.below(7, "weekday", *words)
        weekdays = frozenset((weekday + number * 7 // days) % 7 for number in range(days))
        first = earliest + self._random.below(slack, "first", *words)
        minutes = {(first + every * number) // _STEP * _STEP % _DAY for number in range(often)}
        return weekdays, tuple(time(each // 60, each % 60) for each in sorted(minutes))

    def _frequency(
        self, route: Route, period: Period, words: tuple[object, ...]
    ) -> tuple[int, int, int, int, int]:
        """Return how often a company sails a route; winter has a third fewer sailings.

        These are the sailings a day, the days a week, the earliest minute of the day for the first
        departure, how many minutes later it can be, and the minutes between departures.
        """
        if route.round_the_clock:
            every = _row("round_the_clock", route)["minutes_between"]
            return _DAY // every, 7, 0, every, every
        row = _row("overnight" if route.overnight else "by_day", route)
        number = row["least"] + self._random.below(row["most"] - row["least"] + 1, "often", *words)
        if not period.summer:
            number = max(1, number * 2 // 3)
        if route.overnight:
            return 1, 1 if period.quiet else number, 18 * 60, 5 * 60, _DAY
        return number, 7, 6 * 60, 150, min(8 * 60, 14 * 60 // max(number - 1, 1))


def _period_of(season: str, day: date) -> Period | None:
    """Return the period of a day on a route of this season; None if nothing sails."""
    span = next(row for row in _TABLES["seasons"] if row["name"] == season)
    inside = span["first"] <= [day.month, day.day] <= span["last"]
    if not inside and season != "mostly summer":
        return None
    return Period(summer=day.month in _SUMMER_MONTHS, quiet=not inside)


def _row(table: str, route: Route) -> dict[str, int]:
    return next(row for row in _TABLES[table] if route.minutes <= row["at_sea"])


@functools.cache
def _ships_for(company: Company, journey: Journey) -> Sequence[str]:
    """Return the fast ships for a fast route, else the others, if the company has both."""
    fast = journey.route.fast
    return [each for each in company.ships if (each in company.fast_ships) is fast] or company.ships
