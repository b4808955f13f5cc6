"""A search of trips from the command line, and the trips that it finds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated, Any, Final, cast, get_args

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.clock import Date
from ferry_sdk.cli.terminal.errors import CommandError, Exit
from ferry_sdk.cli.terminal.options import parse_day, parse_time
from ferry_sdk.cli.terminal.output import members_of, warn
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import Input, SearchPassenger
from ferry_sdk.planning.results import (
    AskedSearch,
    FailedSearch,
    SearchReport,
    UnreadableAnswer,
    describe_unreadable,
)
from ferry_sdk.planning.trips import Trip, TripSearch
from ferry_sdk.planning.vehicles import VehicleMatch, match_called
from ferry_sdk.resources.arguments import ReservationTypeName

_TWO_WEEKS: Final = timedelta(days=14)
_TRAVELLER: Final = re.compile(r"(\d{1,3})([FMfm])", re.ASCII)


def _parse_day(value: object) -> object:
    return parse_day(value) if isinstance(value, str) else value


Day = Annotated[Date, BeforeValidator(_parse_day)]
"""A day, which a file may write as on the command line: 2027-03-01, or +30."""


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
        return {
            "origin": self.origin,
            "destination": self.destination,
            "companies": self.companies,
            "reservation_type": self.reservation_type,
            "patience": self.patience,
            "passengers": self.passengers or (),
            "vehicle": self.vehicle or None,
        }


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
    trips = [trip for trip in every_trip if f"{trip.depart_at:%H:%M}" >= search.at]
    return TripSearch(trips, every_trip.report)


def describe_next_days(ferry: Ferry, search: Search) -> str:
    """Return in words on which day of the two weeks after the search's there is a sailing out."""
    if search.on >= date.max - _TWO_WEEKS:
        return "; nor in the two weeks after it"

    days = ferry.trips.calendar(
        start=search.on + timedelta(days=1), end=search.on + _TWO_WEEKS, **search.options
    )
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
    if report.is_complete:
        return nothing
    return "nothing was found"


def check_route(ferry: Ferry, origin: str, destination: str) -> None:
    """Check that the places are known, and that a company sails between the two.

    Raises:
        InvalidInputError: A place is unknown, or no company sails.
        CommandError: It is not known whether a company sails.
    """
    routes = ferry.routes.find(origin, destination)
    if routes:
        return
    if routes.unreadable:
        problem = f"it is not known whether a company sails from {origin} to {destination}"
        raise CommandError(Exit.NOT_SENT, f"{problem}: {describe_unreadable(routes.unreadable)}")
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
    if kind == "ALL":
        return None
    return cast("ReservationTypeName", kind)


def warn_of_missing(report: SearchReport) -> None:
    """Print a warning for each company that failed or was not asked, and for what is left out."""
    if report.unreadable:
        warn(describe_unreadable(report.unreadable))
    if report.left_out:
        others = "--reservation-type all finds them"
        warn(f"{report.left_out} trips have only fares of another reservation type; {others}")
    _warn_of_companies(report.failed, "is missing")
    _warn_of_companies(report.not_asked, "was not asked")


def _warn_of_companies(searches: Iterable[AskedSearch], problem: str) -> None:
    """Print a warning for each company of the searches, with its days and its first error."""
    by_company: dict[str, list[AskedSearch]] = {}
    for search in searches:
        by_company.setdefault(search.company, []).append(search)

    for company, of_company in by_company.items():
        first = of_company[0]
        days = {search.day for search in of_company}
        when = f"on {first.day:%d %b %Y}" if len(days) == 1 else f"for {len(days)} days"
        reason = f": {first.error}" if isinstance(first, FailedSearch) else ""
        warn(f"{company} {problem} {when}{reason}")


def search_members(search: Search) -> dict[str, object]:
    """Return a search as the members of a JSON object, as an order in a file takes them."""
    members = search.model_dump(mode="json", exclude_none=True)
    return {**members, "reservation_type": search.reservation_type}


def trip_members(trip: Trip) -> dict[str, object]:
    """Return a trip as the members of a JSON object."""
    fares: list[dict[str, object]] = []
    for fare in trip.fares:
        members = members_of(fare, "kind", "amount", "currency", "expires_at", "reservation_type")
        selections = [selection.model_dump(mode="json") for selection in trip.select(fare)]
        fares.append({**members, "availabilities": selections})
    return {
        **members_of(trip, "price", "currency", "companies", "depart_at", "arrive_at"),
        "outward_id": trip.outward.id,
        "back_id": trip.back and trip.back.id,
        "fares": fares,
    }


def report_members(report: SearchReport) -> dict[str, Any]:
    """Return a report as the members of a JSON object."""
    members = to_jsonable_python(replace(report, unreadable=()), fallback=_error_member)
    return {
        **members,
        "unreadable": unreadable_members(report.unreadable),
        "calls": report.calls,
        "is_complete": report.is_complete,
    }


def _error_member(error: Exception) -> dict[str, str]:
    return {"type": type(error).__name__, "message": str(error)}


def unreadable_members(answers: Iterable[UnreadableAnswer]) -> list[dict[str, object]]:
    """Return what could not be read as JSON, without the records themselves."""
    members: list[dict[str, object]] = []
    for answer in answers:
        records = [members_of(each, "index", "field", "problem") for each in answer.records]
        members.append(
            {
                "search": to_jsonable_python(answer.search),
                "operation": answer.operation,
                "records": records,
            }
        )
    return members
