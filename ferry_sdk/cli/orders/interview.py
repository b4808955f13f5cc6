"""Ask for an order on a terminal: places, days, travellers, sailings, fare and places on board."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from rich.text import Text

from ferry_sdk._runtime.money import format_amount, money
from ferry_sdk.cli.orders.connections import find_connections, nothing_meets, print_connections
from ferry_sdk.cli.orders.files import bookable
from ferry_sdk.cli.orders.order import Choice, Order
from ferry_sdk.cli.orders.trips import (
    Search,
    check_route,
    find_trips,
    parse_traveller,
    print_trips,
    vehicle_of,
    warn_of_missing,
    ways_of,
)
from ferry_sdk.cli.terminal.options import parse_day
from ferry_sdk.cli.terminal.output import (
    error_console,
    print_table,
    printable,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask, ask_number, ask_text
from ferry_sdk.client import Ferry
from ferry_sdk.errors import AvailabilityError
from ferry_sdk.models.availability import Availability, Place
from ferry_sdk.models.enums import PassengerType, TariffType
from ferry_sdk.models.inputs import Contact, Passenger, SearchPassenger
from ferry_sdk.models.travellers import Travellers
from ferry_sdk.planning.trips import Trip, TripSearch
from ferry_sdk.resources.arguments import passengers_on

_NEIGHBOURS = 3
"""Days before and after one without sailings, of which those that sail are offered."""


def ask_order(
    ferry: Ferry, given: dict[str, Any], travellers: Travellers | None = None
) -> tuple[Order, list[Choice]]:
    """Ask for everything that the members of a `Search`, and the travellers, leave open."""
    search = _ask_search(ferry, given, travellers)
    trips = _ask_legs(ferry, search) if search.changes else [_ask_trip(ferry, search)]
    choices = [_ask_choice(trip) for trip in trips]
    party = enumerate(search.passengers or (), 1)
    if travellers is None:
        passengers = [_ask_passenger(one, place) for place, one in party]
    else:
        passengers = bookable(travellers, trips[0].depart_at.date())
    vehicle = None
    if search.vehicle:
        plate = ask("Registration plate (Enter: none)", str) or None
        vehicle = vehicle_of(ferry, search.vehicle).booking(identification=plate)
    contact = _ask_contact(passengers[0])
    return Order(passengers=passengers, vehicle=vehicle, contact=contact), choices


def _ask_search(ferry: Ferry, given: dict[str, Any], travellers: Travellers | None) -> Search:
    for name, question in (("origin", "From"), ("destination", "To")):
        if name not in given:
            given[name] = ask(f"{question} (a port's name or code)", ferry.places.get).code
    if not given.get("changes"):
        with show_progress("Looking up the route"):
            check_route(ferry, given["origin"], given["destination"])
    if "on" not in given:
        given["on"] = ask("Day of departure (2027-03-01, or +30 for days ahead)", parse_day)
    if travellers is not None:
        bookable(travellers, given["on"])  # before anything else is asked
        given["passengers"] = passengers_on(given["on"], travellers)
    if "passengers" not in given:
        given["passengers"] = _ask_party()
        if "vehicle" not in given:
            given["vehicle"] = ask(
                "Vehicle, such as Fiat 500 (Enter: none)",
                lambda value: vehicle_of(ferry, value).query.code if value else None,
            )
    return Search(**given)


def _ask_party() -> list[SearchPassenger]:
    party: list[SearchPassenger] = []
    for kind, question in (
        (PassengerType.ADULT, "Adults, such as 34F 40M"),
        (PassengerType.CHILD, "Children, such as 9M (Enter: none)"),
        (PassengerType.INFANT, "Infants, such as 1F (Enter: none)"),
    ):

        def parse(value: str, kind: PassengerType = kind) -> list[SearchPassenger]:
            words = value.replace(",", " ").split()
            if not words and kind is PassengerType.ADULT:
                raise ValueError("expected an age and F or M for each, such as 34F 40M")
            return [parse_traveller(one, kind) for one in words]

        party += ask(question, parse)
    return party


def _search_until_found(ferry: Ferry, search: Search) -> TripSearch:
    """Search the trips; if there are none, ask for another day and repeat."""
    while True:
        while search.back is not None and search.back < search.on:
            search = _move(search, "back", ask("Day of the return", parse_day))
        try:
            with show_progress("Searching"):
                found = find_trips(ferry, search)
            warn_of_missing(found.report)
            if found:
                return found
            search = _ask_other_days(ferry, search)
        except AvailabilityError as error:  # of a day that is past, for example
            _say(error.message)
            search = _move(search, "on", ask("Another day of departure", parse_day))


def _ask_other_days(ferry: Ferry, search: Search) -> Search:
    """Ask for another day for each way that does not sail, and offer the days nearby that do."""
    ways = [("on", "Another day of departure", search.origin, search.destination)]
    if search.back is not None:
        ways.append(("back", "Another day for the return", search.destination, search.origin))
    moved = search
    for field, question, origin, destination in ways:
        day: date = getattr(search, field)
        at = search.at if field == "on" else "00:00"
        one_way = {
            "origin": origin,
            "destination": destination,
            "on": day,
            "back": None,
            "flexible": _NEIGHBOURS,
            "at": at,
        }
        with show_progress("Searching the days around"):
            found = find_trips(ferry, search.model_copy(update=one_way))
        days = sorted({trip.depart_at.date() for trip in found})
        if day in days:
            continue
        _say(f"Nothing sails from {origin} to {destination} on {day}.")
        if days:
            _say(f"It sails on {', '.join(f'{one:%a} {one}' for one in days)}.")
        near = min(days, key=lambda one: abs(one - day), default=None)
        default = None if near is None else str(near)
        moved = _move(moved, field, ask(question, parse_day, default=default))
    if moved is search:
        _say("The sailings of these days cannot be combined.")
        moved = _move(search, ways[-1][0], ask(ways[-1][1], parse_day))
    return moved


def _move(search: Search, field: str, day: date) -> Search:
    return search.model_copy(update={field: day})


def _say(text: str) -> None:
    error_console().print(Text(f"  {printable(text)}", style="yellow"))


def _ask_trip(ferry: Ferry, search: Search) -> Trip:
    """Ask for a sailing out, and one back that can be combined with it."""
    trips: list[Trip] = [*_search_until_found(ferry, search)]
    for index, way in enumerate(("out", "back")[: len(ways_of(trips[0]))]):
        trips = _ask_sailing(trips, index, f"Which sailing {way}")
    return trips[0]


def _ask_legs(ferry: Ferry, search: Search) -> Sequence[Trip]:
    """Ask for two sailings that meet."""
    with show_progress("Searching"):
        found = find_connections(ferry, search)
    warn_of_missing(found.report)
    if not found:
        raise nothing_meets(search)
    print_connections(found, on=error_console())
    return found[ask_number("Which connection", len(found))].legs


def _ask_choice(trip: Trip) -> Choice:
    """Ask for a fare and places."""
    fares = sorted(
        trip.fares, key=lambda fare: (fare.tariffs[0].type != TariffType.TICKET, fare.amount)
    )
    names = ["out", "back"] if trip.back else []
    rows = [
        (
            number,
            fare.tariffs[0].type,
            fare.kind.replace("_", " "),
            *(format_amount(one.amount, one.currency) for one in fare.tariffs[: len(names)]),
            money(fare.amount, fare.currency),
            f"{fare.expires_at:%a %d %b %H:%M} UTC",
        )
        for number, fare in enumerate(fares, 1)
    ]
    heads = ("#", "tariff", "fare", *names, "price", "holds until")
    route = f"{trip.outward.depart_name} → {trip.outward.arrive_name}"
    print_table(heads, rows, right=("#", *names, "price"), title=route, on=error_console())
    fare = fares[ask_number("Which fare", len(fares))]
    return Choice(trip, fare, [_ask_place(way) for way in ways_of(trip)])


def _ask_sailing(trips: list[Trip], index: int, question: str) -> list[Trip]:
    """Ask for a sailing of one way, shown with its cheapest trip, and return its trips."""
    cheapest: dict[str, Trip] = {}
    for trip in trips:  # sorted by price
        cheapest.setdefault(ways_of(trip)[index].id, trip)
    options = sorted(cheapest.values(), key=lambda trip: ways_of(trip)[index].depart_at)
    print_trips(options, index, on=error_console())
    chosen = ways_of(options[ask_number(question, len(options))])[index].id
    return [trip for trip in trips if ways_of(trip)[index].id == chosen]


def _ask_place(way: Availability) -> Place:
    rows = [(number, one.name, one.type, one.capacity) for number, one in enumerate(way.places, 1)]
    print_table(("#", "place", "type", "for"), rows, right=("#", "for"), on=error_console())
    question = f"Which place from {way.depart_name} to {way.arrive_name}"
    return way.places[ask_number(question, len(way.places))]


def _ask_passenger(found: SearchPassenger, place: int) -> Passenger:
    on = error_console()
    on.print(Text(f"\nTraveller {place}: {found.type}, {found.age}, {found.gender}"))
    fields: dict[str, Any] = {
        "first_name": ask_text("  First name, as on the document"),
        "last_name": ask_text("  Last name"),
        "birth_date": ask("  Date of birth, such as 1990-05-17 (Enter: none)", _parse_optional_day),
        "nationality": ask("  Nationality, such as FR (Enter: none)", _parse_country).upper()
        or None,
        "doc_number": ask("  Passport number (Enter: none)", str) or None,
    }
    if fields["doc_number"]:
        fields["doc_type"] = "Passport"
        fields["doc_expiration"] = ask("  Passport valid until (Enter: none)", _parse_optional_day)
    return Passenger(type=found.type, gender=found.gender, age=found.age, **fields)


def _parse_optional_day(value: str) -> date | None:
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        raise ValueError("expected a day, such as 1990-05-17") from None


def _optional(pattern: str, expected: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value and not re.fullmatch(pattern, value):
            raise ValueError(f"expected {expected}")
        return value

    return read


_parse_country = _optional(r"[A-Za-z]{2}", "a two-letter country code, such as FR")
_parse_email = _optional(r"[^@\s]+@[^@\s]+", "an address with an @")


def _ask_contact(first: Passenger) -> Contact | None:
    error_console().print(Text("\nContact for the ferry company"))
    email = ask("  E-mail (Enter: no contact)", _parse_email)
    if not email:
        return None
    name = f"{first.first_name} {first.last_name}"
    return Contact(
        email=email,
        name=ask("  Name", str, default=name),
        prefix=ask("  Dialling prefix, such as +33 (Enter: none)", str) or None,
        phone=ask("  Phone, without the prefix (Enter: none)", str) or None,
    )
