"""`ferry search`: the sailings of a day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from ferry_sdk.cli.orders.order import fitting
from ferry_sdk.cli.orders.query import day_option, party_option, query_of, sailings_of, time_of_day
from ferry_sdk.cli.terminal.completion import ports
from ferry_sdk.cli.terminal.connection import connected
from ferry_sdk.cli.terminal.formatting import money, span, time_of
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile
from ferry_sdk.cli.terminal.output import document, note, table, warn
from ferry_sdk.cli.terminal.progress import working
from ferry_sdk.models.availability import Availability, Tariff

_PORT = "A port's code, or a part of its name that no other has."
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
    typer.Option("--at", metavar="HH:MM", help="From this time of the day.", callback=time_of_day),
]
Back = Annotated[
    str | None, typer.Option("--back", metavar="DAY", help="Day of the way back: a round trip.")
]
Adult = Annotated[
    list[str] | None, typer.Option("--adult", metavar="AGE", help="An adult, as 34F or 40M.")
]
Child = Annotated[list[str] | None, typer.Option("--child", metavar="AGE", help="A child, as 9M.")]
Infant = Annotated[
    list[str] | None, typer.Option("--infant", metavar="AGE", help="An infant, as 1F.")
]
Vehicle = Annotated[
    str | None, typer.Option("--vehicle", metavar="CODE", help="A vehicle, as FIAT__500.")
]
Company = Annotated[
    str | None, typer.Option("--company", metavar="CODE", help="Only this company's sailings.")
]
JourneyId = Annotated[
    str | None,
    typer.Option("--journey", metavar="ID", help="The journey, where there are several."),
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

    For example: ferry search Tarifa MATNG --on +30 --adult 34F --child 9M
    """
    out_at = day_option(on, "--on")
    passengers = party_option(adult or (), child or (), infant or ())
    if out_at is None or not passengers:
        raise typer.BadParameter("who travels? For example --adult 34F", param_hint="'--adult'")
    with connected(base_url, token_file) as ferry, working("Searching"):
        query = query_of(
            ferry,
            depart,
            arrive,
            out_at=out_at,
            out_time=at,
            ret_at=day_option(back, "--back"),
            passengers=passengers,
            vehicle=vehicle,
            company=company,
            journey=journey,
        )
        sailings = sailings_of(ferry, query)
    if as_json:
        found = [one.model_dump(mode="json") for one in sailings]
        document({"search": query.members(), "sailings": found})
        return
    for there in by_way(sailings):
        show_sailings(there, is_round=query.back is not None)
    if query.back and len(by_way(sailings)) == 1:
        warn("nothing sails back on that day")
    note("To book one of them: ferry book, with the same words.")


def by_way(sailings: Sequence[Availability]) -> list[list[Availability]]:
    """The sailings out, and the sailings back where there are any."""
    ways = dict.fromkeys(one.direction for one in sailings)
    return [[one for one in sailings if one.direction == way] for way in ways]


def show_sailings(
    sailings: Sequence[Availability], *, is_round: bool, on: Console | None = None
) -> None:
    """Print sailings one way as a table, numbered, with the lowest price of each tariff's type."""
    on_day = sailings[0].depart_at
    carriers = {one.company.name for one in sailings}
    prices = [
        {str(tariff.type): tariff for tariff in reversed(fitting(one, is_round=is_round))}
        for one in sailings
    ]
    types = list(dict.fromkeys(type_ for lowest in prices for type_ in reversed(lowest)))
    currencies = {tariff.currency for lowest in prices for tariff in lowest.values()}
    rows = [
        (
            number,
            time_of(one.depart_at, on_day),
            time_of(one.arrive_at, on_day),
            span(one.travel_time),
            one.ship_name + (f"\n{one.company.name}" if len(carriers) > 1 else ""),
            *(_price(lowest.get(type_), is_short=len(currencies) == 1) for type_ in types),
            "\n".join(dict.fromkeys(str(place.type) for place in one.places)),
        )
        for number, (one, lowest) in enumerate(zip(sailings, prices, strict=True), 1)
    ]
    heads = ["#", "leaves", "arrives", "takes", "ship", *types, "places"]
    table(heads, rows, right=("#", "takes", *types), title=_title(sailings, currencies), on=on)


def _title(sailings: Sequence[Availability], currencies: set[str]) -> str:
    first = sailings[0]
    said = [f"{first.depart_name} → {first.arrive_name}, {first.depart_at:%A %d %B %Y}"]
    for known in ({one.company.name for one in sailings}, currencies):
        said += known if len(known) == 1 else ()
    return ", ".join(said)


def _price(tariff: Tariff | None, *, is_short: bool) -> str:
    if tariff is None:
        return ""
    return f"{tariff.amount:,.2f}" if is_short else money(tariff.amount, tariff.currency)
