"""`ferry search`: find trips."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from ferry_sdk.cli.terminal.errors import CommandError, Exit
from ferry_sdk.cli.terminal.options import Common
from ferry_sdk.cli.terminal.output import note, print_json, show_progress, warn
from ferry_sdk.cli.trips.connections import (
    find_connections,
    itinerary_members,
    print_connections,
)
from ferry_sdk.cli.trips.options import ARRIVE, DEPART, ON, SearchOptions
from ferry_sdk.cli.trips.searches import (
    Search,
    describe_next_days,
    describe_nothing,
    find_trips,
    report_members,
    search_members,
    trip_members,
    warn_of_missing,
)
from ferry_sdk.cli.trips.trip_table import print_trips
from ferry_sdk.client import Ferry
from ferry_sdk.models.availability import Availability
from ferry_sdk.planning.connections import ConnectionSearch
from ferry_sdk.planning.trips import TripSearch, ways_of
from ferry_sdk.resources.bodies import passengers_on


def search(
    *,
    origin: Annotated[str, DEPART],
    destination: Annotated[str, ARRIVE],
    on: Annotated[date, ON],
    options: SearchOptions,
    common: Common,
) -> Exit:
    """Search trips of every company between two places, cheapest first.

    Example: ferry search Genoa Tunis --on +30 --adult 34F --child 9M
    """
    party = passengers_on(on, options.party)
    members: dict[str, Any] = {**options.members, "on": on, "passengers": party}
    wanted = Search(origin=origin, destination=destination, **members)

    advice = ""
    with common.open_client() as ferry, show_progress("Searching"):
        results: TripSearch | ConnectionSearch
        if wanted.changes:
            results = find_connections(ferry, wanted)
        else:
            results = find_trips(ferry, wanted)
            if not results and not common.as_json:
                advice = _advice(ferry, wanted)

    if common.as_json:
        print_json(_document(wanted, results))
        return Exit.DONE if results else Exit.REJECTED
    if isinstance(results, ConnectionSearch):
        if results:
            print_connections(results)
    elif results:
        print_trips(results)
    warn_of_missing(results.report)
    if not results:
        raise CommandError(Exit.REJECTED, _describe_no_result(wanted, results) + advice)

    if not wanted.changes:
        _warn_of_other_days(wanted, results)
    note("The price is that with the cheapest place.")
    note("To book, run ferry book with these options and --travellers FILE.")
    return Exit.DONE


def _advice(ferry: Ferry, wanted: Search) -> str:
    """Return what is said after "nothing sails": which days to try."""
    if wanted.back is not None:
        return "; --flexible asks more days"
    return describe_next_days(ferry, wanted)


def _describe_no_result(wanted: Search, results: TripSearch | ConnectionSearch) -> str:
    """Return in words that nothing was found on the day, with the search."""
    if wanted.changes:
        nothing = "no two sailings meet"
    elif results.left_out:
        nothing = "no such fare"
    else:
        nothing = "nothing sails"
    text = describe_nothing(results.report, nothing)
    text += f" from {wanted.origin} to {wanted.destination} on {wanted.on:%a %d %b %Y}"
    if wanted.at != "00:00":
        text += f" at {wanted.at} or later"
    if wanted.back is not None:
        text += f" that can be combined with a sailing back on {wanted.back:%a %d %b %Y}"
    return text


def _warn_of_other_days(wanted: Search, results: TripSearch | ConnectionSearch) -> None:
    """Print a warning if a flexible search found trips on other days only."""
    days = {trip.depart_at.date() for trip in results}
    if wanted.on in days:
        return
    # Of two days that are equally near, the earlier one.
    nearest = min(days, key=lambda day: (abs(day - wanted.on), wanted.on < day))
    nothing = _describe_no_result(wanted, results)
    warn(f"{nothing}; the nearest day with sailings is {nearest:%a %d %b %Y}")


def _document(wanted: Search, results: TripSearch | ConnectionSearch) -> dict[str, object]:
    """Return the JSON document of a search."""
    members: dict[str, object] = {"search": search_members(wanted)}
    if isinstance(results, ConnectionSearch):
        members["itineraries"] = [itinerary_members(itinerary) for itinerary in results]
    else:
        ways: dict[str, Availability] = {}  # each once, because trips share sailings
        for trip in results:
            ways |= {way.id: way for way in ways_of(trip)}
        members["trips"] = [trip_members(trip) for trip in results]
        members["sailings"] = [way.model_dump(mode="json") for way in ways.values()]
    members["report"] = report_members(results.report)
    return members
