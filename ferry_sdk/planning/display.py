"""Tables of trips and price calendars for notebooks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from ferry_sdk._runtime.money import money
from ferry_sdk.notebook.html import EMPTY, Markup, bar, card, facts, note, plain, table
from ferry_sdk.notebook.records import calls_at
from ferry_sdk.planning.results import CONNECTION, SAILING, RouteNotes, describe_unreadable

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability
    from ferry_sdk.planning.calendar import PriceCalendar
    from ferry_sdk.planning.connections import Itinerary
    from ferry_sdk.planning.results import SearchReport
    from ferry_sdk.planning.trips import Trip

_ROWS = 30
"""The rows of a table. Notebooks stay readable and small."""
SEPARATE_TICKETS = "Separate tickets: no company is bound to wait for the other."
_CHEAPEST_PLACE = "Prices are with the cheapest place; another one may cost more."
_CALENDAR = "Cheapest fare of every day"


def trip_card(trip: Trip) -> Markup:
    """Return a card with the ways of a trip and its fares."""
    ways = {"Out": trip.outward}
    prices_of_ways: list[str] = []  # the heads of their columns; one way, the price is enough
    badge = "one way"
    if trip.back is not None:
        ways["Back"] = trip.back
        prices_of_ways = [*ways]
        badge = "round trip"

    fares: list[Sequence[object]] = []
    for fare in trip.fares[:_ROWS]:
        row: list[object] = [fare.tariffs[0].type, fare.kind.replace("_", " ")]
        if prices_of_ways:
            row += [money(tariff.amount, tariff.currency) for tariff in fare.tariffs]
        fares.append([*row, money(fare.amount, fare.currency), fare.expires_at])

    sailings = ((name, *_sailing(way)) for name, way in ways.items())
    return card(
        f"{trip.outward.depart_name} → {trip.outward.arrive_name}",
        table(["Way", "Leaves", "Arrives", "Takes", "Ship"], sailings),
        *_calls(ways.values()),
        table(["Tariff", "Fare", *prices_of_ways, "Price", "Holds until"], fares),
        note(_CHEAPEST_PLACE),
        badges=[badge],
    )


def itinerary_card(itinerary: Itinerary) -> Markup:
    """Return a card with the two sailings of an itinerary and the wait between them."""
    sailings: list[Sequence[object]] = []
    for leg in itinerary.legs:
        route = f"{leg.outward.depart_name} → {leg.outward.arrive_name}"
        sailings.append((route, *_sailing(leg.outward), money(leg.price, leg.currency)))

    first, second = (leg.outward for leg in itinerary.legs)
    return card(
        f"{first.depart_name} → {itinerary.via.name} → {second.arrive_name}",
        facts(
            [
                ("Price from", _prices(itinerary)),
                ("Takes", itinerary.travel_time),
                (f"Wait in {itinerary.via.name}", itinerary.wait),
            ]
        ),
        table(["Sailing", "Leaves", "Arrives", "Takes", "Ship", "Price from"], sailings),
        *_calls((first, second)),
        note(SEPARATE_TICKETS),
        note(_CHEAPEST_PLACE),
        badges=["two bookings"],
    )


def trips_table(trips: Collection[Trip], report: SearchReport) -> Markup:
    """Return the cheapest trips as a table, with what the report says is missing."""
    has_back = any(trip.back for trip in trips)
    rows: list[Sequence[object]] = []
    for trip in [*trips][:_ROWS]:
        row: list[object] = [trip.depart_at, trip.arrive_at, trip.travel_time]
        if trip.back is not None:
            row.append(trip.back.depart_at)
        elif has_back:
            row.append(None)
        price = money(trip.price, trip.currency)
        rows.append([*row, ", ".join(trip.companies), price])

    head = ["Leaves", "Arrives", "Takes", "Companies", "Price from"]
    if has_back:
        head.insert(3, "Back")
    nothing = "Nothing sails on the days of the search."
    return plain(table(head, rows), *_notes(len(trips), report, nothing, route_notes=SAILING))


def connections_table(itineraries: Collection[Itinerary], report: SearchReport) -> Markup:
    """Return the first itineraries as a table, with what the report says is missing."""
    rows: list[Sequence[object]] = [
        (
            itinerary.depart_at,
            itinerary.via.name,
            itinerary.wait,
            itinerary.arrive_at,
            itinerary.travel_time,
            ", ".join(itinerary.companies),
            _prices(itinerary),
        )
        for itinerary in [*itineraries][:_ROWS]
    ]

    head = ["Leaves", "Change in", "Wait", "Arrives", "Takes", "Companies", "Price from"]
    separate = [note(SEPARATE_TICKETS)] if itineraries else []
    nothing = "No two sailings meet on the day of the search."
    notes = _notes(len(itineraries), report, nothing, route_notes=CONNECTION)
    return plain(table(head, rows), *separate, *notes)


def calendar_card(calendar: PriceCalendar) -> Markup:
    """Return a calendar as a table with a bar chart of the prices; the cheapest day is marked."""
    prices = [day.price for day in calendar.values() if day.price is not None]
    highest = max(prices, default=Decimal(0))
    cheapest = calendar.cheapest
    rows: list[Sequence[object]] = []
    for day in calendar.values():
        remarks: list[str] = []
        cells: Sequence[object] = (EMPTY, EMPTY, EMPTY, EMPTY)
        if day.price is None:
            remarks.append("no fare")
        else:
            share = float(day.price) / float(highest) if highest else 0.0
            leaves = "" if day.depart_at is None else f"{day.depart_at:%H:%M}"
            cells = (money(day.price, day.currency or ""), bar(share), day.company, leaves)
        if day is cheapest:
            remarks.append("cheapest")
        if day.unreadable:
            remarks.append(f"{day.unreadable} could not be read")
        rows.append((f"{day.day:%a %d %b %Y}", *cells, ", ".join(remarks) or EMPTY))

    head = ["Day", "Price from", EMPTY, "Company", "Leaves", "Note"]
    notes = [*_route_notes(calendar.report, SAILING), *_missing(calendar.report)]
    return card(calendar.route, table(head, rows), *notes, badges=[_CALENDAR])


def _sailing(way: Availability) -> tuple[object, ...]:
    """Return the cells of a sailing: when it leaves and arrives, how long it takes, its ship."""
    return way.depart_at, way.arrive_at, way.travel_time, f"{way.ship_name}, {way.company.name}"


def _calls(ways: Iterable[Availability]) -> list[Markup]:
    """Return a note for each sailing that calls at other ports."""
    return [
        note(f"{way.depart_name} → {way.arrive_name} calls at {calls_at(way)}.")
        for way in ways
        if way.stops
    ]


def _prices(itinerary: Itinerary) -> str:
    """Return the price of an itinerary, or one in each currency of its legs."""
    return " and ".join(money(amount, currency) for currency, amount in itinerary.prices.items())


def _notes(
    count: int, report: SearchReport, nothing: str, *, route_notes: RouteNotes
) -> list[Markup]:
    """Return notes of the results that are not shown, or that there is nothing."""
    notes: list[Markup] = []
    if count > _ROWS:
        notes = [note(f"and {count - _ROWS} more")]
    elif not count:
        notes = _route_notes(report, route_notes)
        if not notes and report.is_complete and not report.left_out:
            notes = [note(nothing)]
    return [*notes, *_missing(report)]


def _route_notes(report: SearchReport, route_notes: RouteNotes) -> list[Markup]:
    """Return the note that there is no route, or that none is known; nothing if there is one."""
    text = route_notes.note(report)
    return [] if text is None else [note(_sentence(text))]


def _missing(report: SearchReport) -> list[Markup]:
    """Return notes of what the search lacks."""
    notes: list[str] = []
    if report.left_out:
        notes.append(f"Without a fare of the wanted type, left out: {report.left_out}.")
    if report.failed or report.not_asked:
        failed = len(report.failed)
        not_asked = len(report.not_asked)
        notes.append(f"{failed} searches failed, {not_asked} were not asked")
    if report.unreadable:
        notes.append(f"{_sentence(describe_unreadable(report.unreadable))} See .report.unreadable.")
    return [note(text) for text in notes]


def _sentence(text: str) -> str:
    """Return a text as a sentence. `str.capitalize` would also change the names in it."""
    return f"{text[0].upper()}{text[1:]}."
