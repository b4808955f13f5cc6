"""A search of trips from the command line, and the trips that it finds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import chain
from typing import Annotated, Any, Final, cast, get_args

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.clock import Date
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.errors import CommandError, Exit
from ferry_sdk.cli.terminal.options import parse_day, parse_time
from ferry_sdk.cli.terminal.output import members_of, print_table, time_of, warn
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import Input, SearchPassenger
from ferry_sdk.planning.results import (
    FailedSearch,
    SearchReport,
    UnreadableAnswer,
    describe_unreadable,
)
from ferry_sdk.planning.trips import Trip, TripSearch, ways_of
from ferry_sdk.planning.vehicles import VehicleMatch, match_called
from ferry_sdk.resources.arguments import ReservationTypeName

_TWO_WEEKS: Final = timedelta(days=14)
_TRAVELLER: Final = re.compile(r"(\d{1,3})([FMfm])", re.ASCII)

_FARE: Final = ("kind", "amount", "currency", "expires_at", "reservation_type")

Day = Annotated[
    Date, BeforeValidator(lambda value: parse_day(value) if isinstance(value, str) else value)
]


class Search(Input):
    """A search of trips, as `trips.search` takes it.

    Attributes:
        origin: A port's code or name.
        destination: The same for the other end.
        flexible: How many days before and after are asked too, if nothing sails.
        changes: 1 for two sailings that meet in a port.
        at: The earliest time of departure, as HH:MM.
        companies: The companies to ask; None: all that sail.
        vehicle: The vehicle's code, or its make and model.
        reservation_type: The type of the fares; None: all.
        patience: Seconds for the answer of one company; None: no limit.
    """

    origin: str
    destination: str
    on: Day
    back: Day | None = None
    flexible: Annotated[int, Field(ge=0)] = 0
    changes: Annotated[int, Field(ge=0, le=1)] = 0
    at: Annotated[str, AfterValidator(parse_time)] = "00:00"
    companies: list[str] | None = None
    passengers: list[SearchPassenger] | None = None
    vehicle: str | None = None
    reservation_type: ReservationTypeName | None = "TICKET"
    patience: float | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that every search of trips takes."""
        names = ("origin", "destination", "companies", "reservation_type", "patience")
        options = {name: getattr(self, name) for name in names}
        return {**options, "passengers": self.passengers or (), "vehicle": self.vehicle or None}


def find_trips(ferry: Ferry, search: Search) -> TripSearch:
    """Ask every company that sails, at once. The search names its passengers.

    Raises:
        InvalidInputError: No company sails between the ports, or a value is invalid.
        FerryError: Every search failed.
    """
    check_route(ferry, search.origin, search.destination)
    every_trip = ferry.trips.search(
        on=search.on, back=search.back, flexible=search.flexible, **search.options
    )
    trips = (trip for trip in every_trip if f"{trip.depart_at:%H:%M}" >= search.at)
    return TripSearch(trips, every_trip.report)


def describe_next_days(ferry: Ferry, search: Search) -> str:
    """Return in words on which day of the two weeks after the search's there is a sailing out."""
    if search.on >= date.max - _TWO_WEEKS:
        return "; nor in the two weeks after it"
    start, end = search.on + timedelta(days=1), search.on + _TWO_WEEKS
    days = ferry.trips.calendar(start=start, end=end, **search.options)
    next_day = next((day for day, prices in days.items() if prices.sailings), None)
    if next_day is not None:
        return f"; the next day with sailings is {next_day:%a %d %b %Y}"
    if not days.report.is_complete:
        return "; of the two weeks after it, not all is known"
    return "; nor in the two weeks after it"


def describe_nothing(report: SearchReport, nothing: str) -> str:
    """Return in words why a search has no results.

    Args:
        report: What became of the search.
        nothing: What is true if every company has answered, such as "nothing sails".
    """
    return nothing if report.is_complete else "nothing was found"


def check_route(ferry: Ferry, origin: str, destination: str) -> None:
    """Check that the places are known, and that a company sails between the two.

    Raises:
        InvalidInputError: A place is unknown, or no company sails.
        CommandError: It is not known whether a company sails.
    """
    routes = ferry.routes.find(origin, destination)
    if not routes and routes.unreadable:
        problem = f"it is not known whether a company sails from {origin} to {destination}"
        raise CommandError(Exit.NOT_SENT, f"{problem}: {describe_unreadable(routes.unreadable)}")
    if not routes:
        problem = f"no company sails directly from {origin} to {destination}"
        raise InvalidInputError(problem, field="FROM, TO")


def vehicle_of(ferry: Ferry, text: str) -> VehicleMatch:
    """Return the vehicle with this code, or this make and model."""
    return match_called(ferry.vehicles.find(text), text)


def parse_traveller(value: str, kind: PassengerType = PassengerType.ADULT) -> SearchPassenger:
    """Parse a traveller, an age and F or M such as 34F; raise ValueError otherwise."""
    parts = _TRAVELLER.fullmatch(value.strip())
    if parts is None:
        raise ValueError("expected an age and F or M, such as 34F")
    return SearchPassenger.model_validate({"type": kind, "age": parts[1], "gender": parts[2]})


def parse_reservation_type(value: str) -> ReservationTypeName | None:
    """Parse a type of fares in any case; "all" is None. Raise ValueError otherwise."""
    kind = value.upper()
    if kind not in {*get_args(ReservationTypeName), "ALL"}:
        raise ValueError("expected ticket, presale, option or all")
    return None if kind == "ALL" else cast("ReservationTypeName", kind)


def print_trips(trips: Sequence[Trip]) -> None:
    """Print a numbered table of trips."""
    ways = [ways_of(trip) for trip in trips]
    day, year = day_format(at for way in chain(*ways) for at in (way.depart_at, way.arrive_at))
    rows: list[tuple[object, ...]] = []
    for number, (trip, (way, *back)) in enumerate(zip(trips, ways, strict=True), 1):
        ways_back = ("{0} → {1}, {3}".format(*_cells(way_back, day)) for way_back in back)
        rows.append((number, *_cells(way, day), *ways_back, money(trip.price, trip.currency)))
    first, *others = ways[0]
    heads = ("#", "leaves", "arrives", "takes", "company", *["back" for _ in others], "price from")
    title = f"{first.depart_name} → {first.arrive_name}{year}"
    print_table(heads, rows, right=("#", "takes", "price from"), title=title)


def day_format(moments: Iterable[datetime]) -> tuple[str, str]:
    """Return the format of days, and what a title adds: the year, if all of them share it."""
    years = {at.year for at in moments}
    return ("%a %d %b", f", {years.pop()}") if len(years) == 1 else ("%a %d %b %Y", "")


def _cells(way: Availability, day: str) -> tuple[str, str, str, str]:
    leaves = f"{way.depart_at:{day} %H:%M}"
    arrives = time_of(way.arrive_at, way.depart_at)
    return leaves, arrives, hours_of(way.travel_time), way.company.name


def hours_of(duration: timedelta) -> str:
    """Format a duration in hours and minutes."""
    hours, minutes = divmod(duration // timedelta(minutes=1), 60)
    return f"{hours}:{minutes:02}"


def warn_of_missing(report: SearchReport) -> None:
    """Print a warning for each company that failed or was not asked, and for what is left out."""
    if report.unreadable:
        warn(describe_unreadable(report.unreadable))
    if report.left_out:
        others = "--reservation-type all finds them"
        warn(f"{report.left_out} trips have only fares of another reservation type; {others}")
    missing = {"is missing": report.failed, "was not asked": report.not_asked}
    for problem, searches in missing.items():
        for company in dict.fromkeys(search.company for search in searches):
            of_company = [search for search in searches if search.company == company]
            days = {search.day for search in of_company}
            when = f"on {of_company[0].day:%d %b %Y}" if len(days) == 1 else f"for {len(days)} days"
            why = f": {of_company[0].error}" if isinstance(of_company[0], FailedSearch) else ""
            warn(f"{company} {problem} {when}{why}")


def search_members(search: Search) -> dict[str, object]:
    """Return a search as the members of a JSON object, as an order in a file takes them."""
    members = search.model_dump(mode="json", exclude_none=True)
    return {**members, "reservation_type": search.reservation_type}


def trip_members(trip: Trip) -> dict[str, object]:
    """Return a trip as the members of a JSON object."""
    fares: list[dict[str, object]] = []
    for fare in trip.fares:
        chosen = [selection.model_dump(mode="json") for selection in trip.select(fare)]
        fares.append({**members_of(fare, *_FARE), "availabilities": chosen})
    return {
        **members_of(trip, "price", "currency", "companies", "depart_at", "arrive_at"),
        "outward_id": trip.outward.id,
        "back_id": trip.back and trip.back.id,
        "fares": fares,
    }


def report_members(report: SearchReport) -> dict[str, Any]:
    """Return a report as the members of a JSON object."""
    members = to_jsonable_python(
        replace(report, unreadable=()),
        fallback=lambda error: {"type": type(error).__name__, "message": str(error)},
    )
    return {
        **members,
        "unreadable": unreadable_members(report.unreadable),
        "calls": report.calls,
        "is_complete": report.is_complete,
    }


def unreadable_members(answers: Iterable[UnreadableAnswer]) -> list[dict[str, object]]:
    """Return what could not be read as JSON, without the records themselves."""
    return [
        {
            "search": to_jsonable_python(answer.search),
            "operation": answer.operation,
            "records": [members_of(each, "index", "field", "problem") for each in answer.records],
        }
        for answer in answers
    ]
