"""`ferry search`: find trips. Its options are those of other commands too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ferry_sdk.cli.orders.connections import (
    find_connections,
    itinerary_members,
    nothing_meets,
    print_connections,
)
from ferry_sdk.cli.orders.files import read_travellers
from ferry_sdk.cli.orders.trips import (
    Search,
    find_trips,
    next_sailing_day,
    parse_reservation_type,
    parse_traveller,
    print_trips,
    report_members,
    search_members,
    trip_members,
    warn_of_missing,
)
from ferry_sdk.cli.terminal.errors import Exit, NoTripsError
from ferry_sdk.cli.terminal.options import Common, complete_port, option, parse_day, parse_time
from ferry_sdk.cli.terminal.output import (
    note,
    print_json,
    show_progress,
    warn,
)
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import SearchPassenger
from ferry_sdk.models.travellers import Travellers
from ferry_sdk.planning.connections import ConnectionSearch
from ferry_sdk.planning.trips import SearchReport, ways_of
from ferry_sdk.resources.arguments import ReservationTypeName, passengers_on

CHANGES = "'--changes'"
_TO_BOOK = (
    "The price is that with the cheapest place. To book, run ferry book with these options and "
    "--travellers FILE."
)
_PORT = "A port's code or name, in any of several languages."
DEPART = typer.Argument(
    metavar="FROM", help=_PORT, autocompletion=complete_port, show_default=False
)
ARRIVE = typer.Argument(metavar="TO", help=_PORT, autocompletion=complete_port, show_default=False)


def day_option(name: str, help_text: str) -> object:
    """Return an option that takes a day."""
    return option("DAY", name, help=help_text, parse=parse_day)


ON = day_option("--on", "Day of departure: 2027-03-01, or +30.")


def _party_option(kind: PassengerType, example: str) -> object:
    help_text = f"{kind.value}: age and F or M, such as {example}; repeatable."
    return option("AGE", help=help_text, parse=partial(parse_traveller, kind=kind))


@dataclass(frozen=True)
class _TravelOptions:
    """The options of who travels, and with which companies.

    Attributes:
        travellers: The travellers, as JSON or CSV.
        vehicle: A vehicle, such as FIAT__500 or "fiat 500".
        company: Ask only this company; repeatable.
    """

    travellers: Annotated[Path | None, option("FILE")] = None
    vehicle: Annotated[str | None, option("NAME")] = None
    company: Annotated[list[str] | None, option("CODE")] = None


@dataclass(frozen=True)
class PartyOptions(_TravelOptions):
    """The options of who travels, with travellers that need no names."""

    adult: Annotated[list[SearchPassenger] | None, _party_option(PassengerType.ADULT, "34F")] = None
    child: Annotated[list[SearchPassenger] | None, _party_option(PassengerType.CHILD, "9M")] = None
    infant: Annotated[list[SearchPassenger] | None, _party_option(PassengerType.INFANT, "1F")] = (
        None
    )

    @property
    def party(self) -> Travellers | list[SearchPassenger]:
        """The travellers of the file, or else those of the other options.

        Raises:
            BadParameter: There is none, or there are both.
        """
        passengers = [*(self.adult or ()), *(self.child or ()), *(self.infant or ())]
        if self.travellers is not None:
            if not passengers:
                return read_travellers(self.travellers)
            raise typer.BadParameter(
                "cannot be combined with --adult, --child and --infant", param_hint="'--travellers'"
            )
        if not passengers:
            raise typer.BadParameter("expected a traveller, as --adult 34F", param_hint="'--adult'")
        return passengers


@dataclass(frozen=True)
class _TypeOptions:
    """The options of which fares to look for, and for how long.

    Attributes:
        reservation_type: Fares to look for: ticket, presale, option or all.
        patience: Time for the answer of one company; default: no limit.
    """

    reservation_type: Annotated[
        ReservationTypeName | None, option("TYPE", parse=parse_reservation_type)
    ] = "TICKET"
    patience: Annotated[float | None, option("SECONDS")] = None


@dataclass(frozen=True)
class FareOptions(PartyOptions, _TypeOptions):
    """The options of every search of fares."""


@dataclass(frozen=True)
class BookOptions(_TravelOptions, _TypeOptions):
    """The options of a booking, whose travellers have names.

    Attributes:
        back: Day of the return, for a round trip.
        flexible: Ask so many days before and after too, if nothing sails.
        changes: 1: two sailings that meet in a port, two bookings.
        at: Earliest time of departure.
    """

    back: Annotated[date | None, option("DAY", parse=parse_day)] = None
    flexible: Annotated[int, option("DAYS", min=0)] = 0
    changes: Annotated[int, typer.Option(min=0, max=1)] = 0
    at: Annotated[str, option("HH:MM", parse=parse_time)] = "00:00"

    @property
    def members(self) -> dict[str, Any]:
        """The members of a `Search` that differ from their defaults, except the travellers.

        Raises:
            BadParameter: They exclude each other.
        """
        if self.changes and (self.back is not None or self.flexible):
            raise typer.BadParameter(
                "cannot be combined with --back or --flexible", param_hint=CHANGES
            )
        renamed = {"company": "companies"}
        return {
            renamed.get(field.name, field.name): value
            for field in fields(self)
            if field.name not in {"adult", "child", "infant", "travellers"}
            and (value := getattr(self, field.name)) != field.default
        }


@dataclass(frozen=True)
class SearchOptions(PartyOptions, BookOptions):
    """The options of a search of one day."""


def search(
    *,
    origin: Annotated[str, DEPART],
    destination: Annotated[str, ARRIVE],
    on: Annotated[date, ON],
    options: SearchOptions,
    common: Common,
) -> None:
    """Search trips of every company between two places, cheapest first.

    Example: ferry search Genoa Tunis --on +30 --adult 34F --child 9M
    """
    wanted = Search(
        origin=origin,
        destination=destination,
        on=on,
        passengers=passengers_on(on, options.party),
        **options.members,
    )
    if options.changes:
        with common.open_client() as ferry, show_progress("Searching"):
            connections = find_connections(ferry, wanted)
        _show_connections(wanted, connections, as_json=common.as_json)
        return
    with common.open_client() as ferry, show_progress("Searching"):
        trips = find_trips(ferry, wanted)
        has_next = not (trips or common.as_json or options.back)
        next_day = next_sailing_day(ferry, wanted) if has_next else None
    if common.as_json:
        sailings = {way.id: way for trip in trips for way in ways_of(trip)}
        shown = {
            "trips": [trip_members(trip) for trip in trips],
            "sailings": [sailing.model_dump(mode="json") for sailing in sailings.values()],
        }
        _print_document(wanted, shown, trips.report)
        return
    if trips:
        print_trips(trips)
    warn_of_missing(trips.report)
    from_time = "" if options.at == "00:00" else f" at {options.at} or later"
    what = "no such fare" if trips.left_out else "nothing sails"
    nothing = f"{what} from {origin} to {destination} on {on:%a %d %b %Y}{from_time}"
    if options.back is not None:
        nothing += f" that can be combined with a sailing back on {options.back:%a %d %b %Y}"
    if not trips:
        later = "--flexible asks more days" if options.back else "nor in the two weeks after it"
        if next_day is not None:
            later = f"the next day with sailings is {next_day:%a %d %b %Y}"
        raise NoTripsError(f"{nothing}; {later}")
    days = {trip.depart_at.date() for trip in trips}
    if on not in days:
        near = min(days, key=lambda day: (abs(day - on), on < day))
        warn(f"{nothing}; the nearest day with sailings is {near:%a %d %b %Y}")
    note(_TO_BOOK)


def _print_document(
    wanted: Search, results: Mapping[str, Sequence[object]], report: SearchReport
) -> None:
    members = {"search": search_members(wanted), **results, "report": report_members(report)}
    print_json(members)
    if not any(results.values()):
        raise typer.Exit(Exit.REJECTED)


def _show_connections(wanted: Search, connections: ConnectionSearch, *, as_json: bool) -> None:
    if as_json:
        shown = {"itineraries": [itinerary_members(itinerary) for itinerary in connections]}
        _print_document(wanted, shown, connections.report)
        return
    if connections:
        print_connections(connections)
    warn_of_missing(connections.report)
    if not connections:
        raise nothing_meets(wanted)
    note(_TO_BOOK)
