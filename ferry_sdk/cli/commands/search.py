"""`ferry search`: search the sailings of a day."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk.cli.orders.query import party_option, query_of, sailings_of
from ferry_sdk.cli.orders.sailings import by_direction, print_sailings
from ferry_sdk.cli.terminal.connection import open_client
from ferry_sdk.cli.terminal.options import (
    AsJson,
    BaseUrl,
    TokenFile,
    parse_day_option,
    parse_time,
    ports,
)
from ferry_sdk.cli.terminal.output import note, print_json, show_progress, warn

_PORT = "A port's code, or an unambiguous part of its name."
Depart = Annotated[
    str, typer.Argument(metavar="FROM", help=_PORT, autocompletion=ports, show_default=False)
]
Arrive = Annotated[
    str, typer.Argument(metavar="TO", help=_PORT, autocompletion=ports, show_default=False)
]
On = Annotated[
    str, typer.Option("--on", metavar="DAY", help="Day of departure: 2027-03-01, or +30.")
]
At = Annotated[
    str,
    typer.Option("--at", metavar="HH:MM", help="Earliest time of departure.", callback=parse_time),
]
Back = Annotated[
    str | None, typer.Option("--back", metavar="DAY", help="Day of the return, for a round trip.")
]
Adult = Annotated[
    list[str] | None, typer.Option("--adult", metavar="AGE", help="An adult, such as 34F or 40M.")
]
Child = Annotated[
    list[str] | None, typer.Option("--child", metavar="AGE", help="A child, such as 9M.")
]
Infant = Annotated[
    list[str] | None, typer.Option("--infant", metavar="AGE", help="An infant, such as 1F.")
]
Vehicle = Annotated[
    str | None, typer.Option("--vehicle", metavar="CODE", help="A vehicle, such as FIAT__500.")
]
Company = Annotated[
    str | None, typer.Option("--company", metavar="CODE", help="Only this company's sailings.")
]
JourneyId = Annotated[
    str | None,
    typer.Option("--journey", metavar="ID", help="The journey, if the route has several."),
]


def search(
    *,
    depart: Depart,
    arrive: Arrive,
    on: On,
    at: At = "00:00",
    back: Back = None,
    adult: Adult = None,
    child: Child = None,
    infant: Infant = None,
    vehicle: Vehicle = None,
    company: Company = None,
    journey: JourneyId = None,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Search the sailings of a day, with their tariffs and places.

    Example: ferry search Tarifa MATNG --on +30 --adult 34F --child 9M
    """
    out_at = parse_day_option(on, "--on")
    passengers = party_option(adult or (), child or (), infant or ())
    if out_at is None or not passengers:
        raise typer.BadParameter("expected a traveller, as --adult 34F", param_hint="'--adult'")
    with open_client(base_url, token_file) as ferry, show_progress("Searching"):
        query = query_of(
            ferry,
            depart,
            arrive,
            out_at=out_at,
            out_time=at,
            ret_at=parse_day_option(back, "--back"),
            passengers=passengers,
            vehicle=vehicle,
            company=company,
            journey=journey,
        )
        sailings = sailings_of(ferry, query)
    if as_json:
        found = [one.model_dump(mode="json") for one in sailings]
        print_json({"search": query.members(), "sailings": found})
        return
    for there in by_direction(sailings):
        print_sailings(there, is_round=query.back is not None)
    if query.back and len(by_direction(sailings)) == 1:
        warn("there is no sailing back on that day")
    note("To book one of them, run ferry book with the same options.")
