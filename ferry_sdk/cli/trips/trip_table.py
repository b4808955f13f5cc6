"""The table of trips that `ferry search` and `ferry demo` print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.output import print_table, time_of
from ferry_sdk.models.availability import Availability
from ferry_sdk.planning.trips import Trip, ways_of


def print_trips(trips: Sequence[Trip]) -> None:
    """Print a numbered table of trips."""
    ways: list[Availability] = []
    for trip in trips:
        ways += ways_of(trip)
    departures = [way.depart_at for way in ways]
    arrivals = [way.arrive_at for way in ways]
    day, year = day_format([*departures, *arrivals])

    first = trips[0]
    heads: Sequence[str] = ("#", "leaves", "arrives", "takes", "company", "price from")
    cells = _cells
    if first.back is not None:
        heads = ("#", "out", "back", "price from")
        cells = _round_trip_cells
    rows = [(number, *cells(trip, day)) for number, trip in enumerate(trips, 1)]
    title = f"{first.outward.depart_name} → {first.outward.arrive_name}{year}"
    print_table(heads, rows, right=("#", "takes", "price from"), title=title)


def day_format(moments: Iterable[datetime]) -> tuple[str, str]:
    """Return the format of days, and what a title adds: the year, if all of them share it."""
    years = {at.year for at in moments}
    if len(years) == 1:
        return "%a %d %b", f", {years.pop()}"
    return "%a %d %b %Y", ""


def _cells(trip: Trip, day: str) -> tuple[object, ...]:
    """Return a row of the table; `day` is the format of a day."""
    way = trip.outward
    return (
        _leaves(way, day),
        _arrives(way),
        hours_of(way.travel_time),
        way.company.name,
        money(trip.price, trip.currency),
    )


def _round_trip_cells(trip: Trip, day: str) -> tuple[object, ...]:
    """Return a row of a table of round trips, which has no room for two columns a way."""
    ways: list[tuple[str, str]] = []
    for way in ways_of(trip):
        times = f"{_leaves(way, day)} → {_arrives(way)}"
        ways.append((times, f"{hours_of(way.travel_time)} {way.company.name}"))
    return (*ways, money(trip.price, trip.currency))


def _leaves(way: Availability, day: str) -> str:
    return f"{way.depart_at:{day} %H:%M}"


def _arrives(way: Availability) -> str:
    return time_of(way.arrive_at, way.depart_at)


def hours_of(duration: timedelta) -> str:
    """Format a duration in hours and minutes."""
    hours, minutes = divmod(duration // timedelta(minutes=1), 60)
    return f"{hours}:{minutes:02}"
