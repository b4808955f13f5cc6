"""The timetable: which ship sails which journey, how often and at what time."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from ferry_sdk.sandbox.network.geography import Company, Journey, Route
from ferry_sdk.sandbox.network.network import load_records
from ferry_sdk.sandbox.network.seeded_random import SeededRandom

_FIRST_YEAR = 1970
_LAST_YEAR = 2199
_DAY = 24 * 60
_STEP = 5
_DAYS_KEPT = 8192
_SUMMER_MONTHS = range(4, 11)
_TABLES = load_records("timetable.json")
"""The seasons; and by the minutes at sea, how often ships sail.

`round_the_clock` has the minutes between two departures, `by_day` the least and the most sailings a
day, and `overnight` the least and the most evenings a week.
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
        depart_at = self.depart_at.astimezone(self.journey.depart.zone)
        arrive_at = self.arrive_at.astimezone(self.journey.arrive.zone)
        object.__setattr__(self, "depart_at", depart_at)  # the class is frozen
        object.__setattr__(self, "arrive_at", arrive_at)

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


class _Frequency(NamedTuple):
    """How often a company sails a route.

    Attributes:
        earliest: The earliest minute of the day for the first departure.
        slack: How many minutes later the first departure can be.
        minutes_between: The minutes between two departures.
    """

    sailings_a_day: int
    days_a_week: int
    earliest: int
    slack: int
    minutes_between: int


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

        # Two local times can be one moment on the day on which summer time begins.
        by_moment: dict[float, Sailing] = {}
        for number, at in enumerate(times):
            sailing = self._sailing(company, journey, day, at=at, number=number)
            by_moment[sailing.depart_at.timestamp()] = sailing
        return tuple(by_moment[moment] for moment in sorted(by_moment))

    def sailings_from(
        self, company: Company, journey: Journey, day: date, days: int
    ) -> Iterator[Sailing]:
        """Yield a company's sailings on a journey from a day on, in order."""
        first = day.toordinal()
        for number in range(first, min(first + days, date.max.toordinal())):
            yield from self.sailings(company, journey, date.fromordinal(number))

    def _sailing(
        self, company: Company, journey: Journey, day: date, *, at: time, number: int
    ) -> Sailing:
        """Return the departure of a day at a time; it is the one with this number on the day."""
        name = f"{company.code}-{journey.key}-{day:%Y%m%d}-{at:%H%M}"
        # Converting to UTC and back turns a time that summer time skips into one that exists.
        start = datetime.combine(day, at, journey.depart.zone).astimezone(UTC)
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
        frequency = self._frequency(journey.route, period, words)

        weekday = self._random.below(7, "weekday", *words)
        days = frequency.days_a_week
        weekdays = frozenset((weekday + number * 7 // days) % 7 for number in range(days))

        first = frequency.earliest + self._random.below(frequency.slack, "first", *words)
        minutes: set[int] = set()
        for number in range(frequency.sailings_a_day):
            minute = first + frequency.minutes_between * number
            minutes.add(minute // _STEP * _STEP % _DAY)
        return weekdays, tuple(time(each // 60, each % 60) for each in sorted(minutes))

    def _frequency(self, route: Route, period: Period, words: tuple[object, ...]) -> _Frequency:
        """Return how often a company sails a route; winter has a third fewer sailings."""
        if route.round_the_clock:
            every = _row("round_the_clock", route)["minutes_between"]
            return _Frequency(
                sailings_a_day=_DAY // every,
                days_a_week=7,
                earliest=0,
                slack=every,
                minutes_between=every,
            )

        table = "overnight" if route.overnight else "by_day"
        row = _row(table, route)
        number = row["least"] + self._random.below(row["most"] - row["least"] + 1, "often", *words)
        if not period.summer:
            number = max(1, number * 2 // 3)

        if route.overnight:
            return _Frequency(
                sailings_a_day=1,
                days_a_week=1 if period.quiet else number,
                earliest=18 * 60,
                slack=5 * 60,
                minutes_between=_DAY,
            )
        return _Frequency(
            sailings_a_day=number,
            days_a_week=7,
            earliest=6 * 60,
            slack=150,
            minutes_between=min(8 * 60, 14 * 60 // max(number - 1, 1)),
        )


def _period_of(season: str, day: date) -> Period | None:
    """Return the period of a day on a route of this season; None if nothing sails."""
    span = next(row for row in _TABLES["seasons"] if row["name"] == season)
    is_inside = span["first"] <= [day.month, day.day] <= span["last"]
    if not is_inside and season != "mostly summer":
        return None
    return Period(summer=day.month in _SUMMER_MONTHS, quiet=not is_inside)


def _row(table: str, route: Route) -> dict[str, int]:
    return next(row for row in _TABLES[table] if route.minutes <= row["at_sea"])


@functools.cache
def _ships_for(company: Company, journey: Journey) -> Sequence[str]:
    """Return the fast ships for a fast route, else the others, if the company has both."""
    wants_fast = journey.route.fast
    suitable = [ship for ship in company.ships if (ship in company.fast_ships) is wants_fast]
    return suitable or company.ships
