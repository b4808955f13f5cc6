"""The timetable: which ship sails which journey at what time."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.network.frequency import Frequency, Period, frequency, is_summer, period_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferry_sdk.sandbox.network.geography import Company, Journey, Ship
    from ferry_sdk.sandbox.network.seeded_random import SeededRandom

FIRST_YEAR, LAST_YEAR = 1970, 2199
_DAY = 24 * 60
_STEP = 5
_LONG = 1200
_WINTER_DELAY = 60


@dataclass(frozen=True, slots=True)
class Sailing:
    """A departure of a ship, with both times in the ports' time zones."""

    id: str
    journey: Journey
    company: Company
    ship: Ship
    depart_at: datetime
    arrive_at: datetime
    stops: tuple[str, ...]

    @property
    def minutes(self) -> int:
        """The duration in minutes, independent of time zones."""
        elapsed = self.arrive_at.astimezone(timezone.utc) - self.depart_at.astimezone(timezone.utc)
        return int(elapsed.total_seconds()) // 60


@dataclass(frozen=True, slots=True)
class _Slot:
    at: time
    weekdays: frozenset[int]


class Timetable:
    """The sailings of every company, always the same for the same seed."""

    def __init__(self, random: SeededRandom) -> None:
        self._random = random
        self._slots = functools.cache(self._draw)

    def sailings(self, company: Company, journey: Journey, day: date) -> tuple[Sailing, ...]:
        """Return a company's sailings on a journey on a local day, earliest first.

        Empty outside the route's season, before 1970 and after 2199.
        """
        if not FIRST_YEAR <= day.year <= LAST_YEAR or company.code not in journey.route.companies:
            return ()
        period = period_of(journey.route.season, day)
        if period is None:
            return ()
        sailings = {
            each.depart_at.astimezone(timezone.utc): each
            for number, slot in enumerate(self._slots(company, journey, period))
            if day.weekday() in slot.weekdays
            for each in [self._sailing(company, journey, day, slot.at, number)]
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
        minutes = journey.route.minutes_of(company)
        if minutes >= _LONG and not is_summer(day):
            minutes += _WINTER_DELAY
        ships = _ships_for(company, journey)
        first = self._random.below(len(ships), "ship", company.code, journey.key)
        stops = journey.stops
        if journey.route.stops_sometimes and self._random.below(2, "stops", name):
            stops = ()
        return Sailing(
            id=name,
            journey=journey,
            company=company,
            ship=ships[(first + day.toordinal() + number) % len(ships)],
            depart_at=start.astimezone(journey.depart.zone),
            arrive_at=(start + timedelta(minutes=minutes)).astimezone(journey.arrive.zone),
            stops=stops,
        )

    def _draw(self, company: Company, journey: Journey, period: Period) -> tuple[_Slot, ...]:
        words = (company.code, journey.key, period)
        wanted = frequency(journey.route, period, self._random, words)
        weekdays = self._weekdays(wanted.days_a_week, words)
        return tuple(_Slot(at, weekdays) for at in self._times(wanted, words))

    def _weekdays(self, days: int, words: tuple[object, ...]) -> frozenset[int]:
        first = self._random.below(7, "weekday", *words)
        return frozenset((first + number * 7 // days) % 7 for number in range(days))

    def _times(self, wanted: Frequency, words: tuple[object, ...]) -> list[time]:
        first = wanted.earliest + self._random.below(wanted.slack, "first", *words)
        minutes = {
            (first + wanted.every * number) // _STEP * _STEP % _DAY
            for number in range(wanted.a_day)
        }
        return [time(each // 60, each % 60) for each in sorted(minutes)]


@functools.cache
def _ships_for(company: Company, journey: Journey) -> tuple[Ship, ...]:
    """Return the fast ships for a fast route, else the others, if the company has both."""
    fitting = tuple(each for each in company.ships if each.fast is journey.route.fast)
    return fitting or company.ships
