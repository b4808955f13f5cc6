"""`ferry search`: find trips. Its options are those of other commands too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ferry_sdk.cli.orders.connections import (
    find_connections,
    itinerary_members,
    print_connections,
)
from ferry_sdk.cli.orders.files import read_travellers
from ferry_sdk.cli.orders.trips import (
    Search,
    describe_next_days,
    describe_nothing,
    find_trips,
    parse_reservation_type,
    parse_traveller,
    print_trips,
    report_members,
    search_members,
    trip_members,
    warn_of_missing,
)
from ferry_sdk.cli.terminal.errors import CommandError, Exit
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
from ferry_sdk.planning.trips import TripSearch, ways_of
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.resources.bodies import passengers_on

CHANGES = "'--changes'"
_PORT = "A port's code or name, in any of several languages."
_place = partial(typer.Argument, help=_PORT, autocompletion=complete_port, show_default=False)
DEPART, ARRIVE = _place(metavar="FROM"), _place(metavar="TO")


def day_option(name: str, help_text: str) -> object:
    """Return an option that takes a day."""
    return option("DAY", name, help=help_text, parse=parse_day)


ON = day_option("--on", "Day of departure: 2027-03-01, or +30.")


_Party = list[SearchPassenger] | None


def _party_option(kind: PassengerType, example: str) -> object:
    help_text = f"{kind.value}: age and F or M, such as {example}; repeatable."
    return option("AGE", help=help_text, parse=partial(parse_traveller, kind=kind))


@dataclass(frozen=True)
class _TravelOptions:
    """The options of who travels, and with which companies.

    Attributes:
        travellers: The travellers, as JSON or CSV.
        vehicle: A vehicle, such as FIAT__500 or "fiat 500".
        companies: Ask only this company; repeatable.
    """

    travellers: Annotated[Path | None, option("FILE")] = None
    vehicle: Annotated[str | None, option("NAME")] = None
    companies: Annotated[list[str] | None, option("CODE", "--company")] = None

    @property
    def members(self) -> dict[str, Any]:
        """The members of a `Search` that differ from their defaults, except the travellers."""
        known = Search.model_fields
        given = {name: value for name, value in vars(self).items() if name in known}
        return {name: value for name, value in given.items() if value != known[name].default}


@dataclass(frozen=True)
class PartyOptions(_TravelOptions):
    """The options of who travels, with travellers that need no names."""

    adult: Annotated[_Party, _party_option(PassengerType.ADULT, "34F")] = None
    child: Annotated[_Party, _party_option(PassengerType.CHILD, "9M")] = None
    infant: Annotated[_Party, _party_option(PassengerType.INFANT, "1F")] = None

    @property
    def party(self) -> Travellers | list[SearchPassenger]:
        """The travellers of the file, or else those of the other options.

        Raises:
            BadParameter: There is none, or there are both.
        """
        passengers = [*(self.adult or ()), *(self.child or ()), *(self.infant or ())]
        if (self.travellers is None) == (not passengers):
            problem = "expected travellers, as --adult 34F, or in a file, and not both"
            raise typer.BadParameter(problem, param_hint="'--adult'")
        return passengers if self.travellers is None else read_travellers(self.travellers)


_FareType = Annotated[ReservationTypeName | None, option("TYPE", parse=parse_reservation_type)]


@dataclass(frozen=True)
class _TypeOptions:
    """The options of which fares to look for, and for how long.

    Attributes:
        reservation_type: Fares to look for: ticket, presale, option or all.
        patience: Time for the answer of one company; default: no limit.
    """

    reservation_type: _FareType = "TICKET"
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

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            BadParameter: They exclude each other.
        """
        if self.changes and (self.back is not None or self.flexible):
            problem = "cannot be combined with --back or --flexible"
            raise typer.BadParameter(problem, param_hint=CHANGES)


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
) -> Exit:
    """Search trips of every company between two places, cheapest first.

    Example: ferry search Genoa Tunis --on +30 --adult 34F --child 9M
    """
    party = passengers_on(on, options.party)
    members: dict[str, Any] = {**options.members, "on": on, "passengers": party}
    wanted = Search(origin=origin, destination=destination, **members)
    with common.open_client() as ferry, show_progress("Searching"):
        results: TripSearch | ConnectionSearch = (
            find_connections(ferry, wanted) if wanted.changes else find_trips(ferry, wanted)
        )
        needs_next = not (results or common.as_json or wanted.back or wanted.changes)
        next_days = describe_next_days(ferry, wanted) if needs_next else ""
    if common.as_json:
        print_json(_document(wanted, results))
        return Exit.DONE if results else Exit.REJECTED
    if results and isinstance(results, ConnectionSearch):
        print_connections(results)
    elif results and isinstance(results, TripSearch):
        print_trips(results)
    warn_of_missing(results.report)
    what = "no such fare" if results.left_out else "nothing sails"
    if wanted.changes:
        what = "no two sailings meet"
    what = describe_nothing(results.report, what)
    from_time = "" if options.at == "00:00" else f" at {options.at} or later"
    nothing = f"{what} from {origin} to {destination} on {on:%a %d %b %Y}{from_time}"
    if options.back is not None:
        nothing += f" that can be combined with a sailing back on {options.back:%a %d %b %Y}"
    if not results:
        later = "; --flexible asks more days" if wanted.back else next_days
        raise CommandError(Exit.REJECTED, nothing if wanted.changes else nothing + later)
    days = {trip.depart_at.date() for trip in results}
    if not (wanted.changes or on in days):
        near = min(days, key=lambda day: (abs(day - on), on < day))
        warn(f"{nothing}; the nearest day with sailings is {near:%a %d %b %Y}")
    note("The price is that with the cheapest place.")
    note("To book, run ferry book with these options and --travellers FILE.")
    return Exit.DONE


def _document(wanted: Search, results: TripSearch | ConnectionSearch) -> dict[str, object]:
    """Return the JSON document of a search."""
    shown: dict[str, object]
    if isinstance(results, ConnectionSearch):
        shown = {"itineraries": [itinerary_members(itinerary) for itinerary in results]}
    else:
        ways = {way.id: way for trip in results for way in ways_of(trip)}
        sailings = [way.model_dump(mode="json") for way in ways.values()]
        shown = {"trips": [trip_members(trip) for trip in results], "sailings": sailings}
    return {"search": search_members(wanted), **shown, "report": report_members(results.report)}
