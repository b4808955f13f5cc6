"""Connections on the command line: two sailings that meet in a port."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.output import amount_member, members_of, print_table, time_of
from ferry_sdk.cli.trips.searches import Search, trip_members
from ferry_sdk.cli.trips.trip_table import day_format, hours_of
from ferry_sdk.client import Ferry
from ferry_sdk.planning.connections import ConnectionSearch, Itinerary

SEPARATE_TICKETS: Final = "separate tickets: nobody is bound to wait"


def find_connections(ferry: Ferry, search: Search) -> ConnectionSearch:
    """Search the connections of a day. The search names its passengers.

    Raises:
        FerryError: A value is invalid, or every search failed.
    """
    connections = ferry.trips.connections(on=search.on, **search.options)
    itineraries = [each for each in connections if f"{each.depart_at:%H:%M}" >= search.at]
    return ConnectionSearch(itineraries, connections.report)


def print_connections(itineraries: Sequence[Itinerary]) -> None:
    """Print a numbered table of itineraries."""
    first, second = itineraries[0].legs
    departures = [itinerary.depart_at for itinerary in itineraries]
    arrivals = [itinerary.arrive_at for itinerary in itineraries]
    day, year = day_format([*departures, *arrivals])

    rows = [(number, *_cells(itinerary, day)) for number, itinerary in enumerate(itineraries, 1)]
    heads = ("#", "leaves", "change in", "wait", "arrives", "takes", "companies", "price from")
    title = f"{first.outward.depart_name} → {second.outward.arrive_name}{year}, {SEPARATE_TICKETS}"
    print_table(heads, rows, right=("#", "wait", "takes", "price from"), title=title)


def _cells(itinerary: Itinerary, day: str) -> tuple[object, ...]:
    """Return a row of the table; `day` is the format of a day."""
    # Each company once: both legs may be of the same.
    companies = dict.fromkeys(leg.outward.company.name for leg in itinerary.legs)
    return (
        f"{itinerary.depart_at:{day} %H:%M}",
        itinerary.via.name,
        hours_of(itinerary.wait),
        time_of(itinerary.arrive_at, itinerary.depart_at),
        hours_of(itinerary.travel_time),
        tuple(companies),
        tuple(money(amount, currency) for currency, amount in itinerary.prices.items()),
    )


def itinerary_members(itinerary: Itinerary) -> dict[str, object]:
    """Return an itinerary as the members of a JSON object."""
    prices = {code: amount_member(amount, code) for code, amount in itinerary.prices.items()}
    return {
        **members_of(itinerary, "price", "currency"),
        "prices": prices,
        "companies": [*itinerary.companies],
        "via": itinerary.via.code,
        "wait_minutes": itinerary.wait // timedelta(minutes=1),
        **members_of(itinerary, "depart_at", "arrive_at"),
        "legs": [trip_members(leg) for leg in itinerary.legs],
    }
