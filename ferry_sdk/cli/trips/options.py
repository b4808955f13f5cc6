"""The options of commands that search: where, when, who travels, and which fares.

The dataclasses build on each other, because `ferry book` wants travellers with names, and a
calendar has its own days:

- `PartyOptions`, of `ferry scan`: travellers, vehicle and companies.
- `FareOptions`, of `ferry calendar`: also the type of the fares.
- `BookOptions`, of `ferry book`: the same with travellers of a file only, and the return.
- `SearchOptions`, of `ferry search`: all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ferry_sdk.cli.terminal.options import complete_port, option, parse_day, parse_time
from ferry_sdk.cli.trips.files import read_travellers
from ferry_sdk.cli.trips.searches import Search, parse_reservation_type, parse_traveller
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import SearchPassenger
from ferry_sdk.models.travellers import Travellers
from ferry_sdk.resources.arguments import ReservationTypeName

CHANGES: Final = "'--changes'"


def _place(metavar: str) -> Any:  # noqa: ANN401 -- as in typer
    return typer.Argument(
        metavar=metavar,
        help="A port's code or name, in any of several languages.",
        autocompletion=complete_port,
        show_default=False,
    )


def day_option(name: str, help_text: str) -> object:
    """Return an option that takes a day."""
    return option("DAY", name, help=help_text, parse=parse_day)


DEPART: Final = _place("FROM")
ARRIVE: Final = _place("TO")
ON: Final = day_option("--on", "Day of departure: 2027-03-01, or +30.")


def _party_option(kind: PassengerType, example: str) -> object:
    help_text = f"{kind.value}: age and F or M, such as {example}; repeatable."
    return option("AGE", help=help_text, parse=partial(parse_traveller, kind=kind))


_Party = list[SearchPassenger] | None
_FareType = Annotated[ReservationTypeName | None, option("TYPE", parse=parse_reservation_type)]


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
        members: dict[str, Any] = {}
        for name, value in vars(self).items():
            field = Search.model_fields.get(name)
            if field is not None and value != field.default:
                members[name] = value
        return members


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
        if self.travellers is None:
            return passengers
        return read_travellers(self.travellers)


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
    changes: Annotated[int, option("N", min=0, max=1)] = 0
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
