"""`ferry search` and `ferry book`: search the sailings of a day, and book one of them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk.cli.commands.show import next_of
from ferry_sdk.cli.orders.files import read_order
from ferry_sdk.cli.orders.interview import ask_order
from ferry_sdk.cli.orders.order import print_summary
from ferry_sdk.cli.orders.query import (
    Search,
    by_direction,
    parse_traveller,
    print_sailings,
    query_of,
    sailings_of,
)
from ferry_sdk.cli.terminal.errors import report_output_failure
from ferry_sdk.cli.terminal.options import (
    AsJson,
    BaseUrl,
    TokenFile,
    Yes,
    complete_port,
    open_client,
    parse_day,
    parse_time,
    parser,
)
from ferry_sdk.cli.terminal.output import note, print_facts, print_json, show_progress, warn
from ferry_sdk.cli.terminal.prompts import ask_consent, is_interactive
from ferry_sdk.models.display.money import money
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import SearchPassenger
from ferry_sdk.types import Recorder

_FROM = "'--from'"
_PORT = "A port's code, or an unambiguous part of its name."
_DEPART = typer.Argument(
    metavar="FROM", help=_PORT, autocompletion=complete_port, show_default=False
)
_ARRIVE = typer.Argument(metavar="TO", help=_PORT, autocompletion=complete_port, show_default=False)
_ON = typer.Option(
    "--on",
    metavar="DAY",
    help="Day of departure: 2027-03-01, or +30.",
    parser=parser(parse_day),
)


def _traveller_option(kind: PassengerType, help_text: str) -> object:
    parse = parser(lambda value: parse_traveller(value, kind))
    return typer.Option(f"--{kind.value.lower()}", metavar="AGE", help=help_text, parser=parse)


At = Annotated[
    str,
    typer.Option(
        "--at", metavar="HH:MM", help="Earliest time of departure.", parser=parser(parse_time)
    ),
]
Back = Annotated[
    date | None,
    typer.Option(
        "--back",
        metavar="DAY",
        help="Day of the return, for a round trip.",
        parser=parser(parse_day),
    ),
]
Adult = Annotated[
    list[SearchPassenger] | None,
    _traveller_option(PassengerType.ADULT, "An adult: age and F or M, such as 34F; repeatable."),
]
Child = Annotated[
    list[SearchPassenger] | None,
    _traveller_option(PassengerType.CHILD, "A child, such as 9M; repeatable."),
]
Infant = Annotated[
    list[SearchPassenger] | None,
    _traveller_option(PassengerType.INFANT, "An infant, such as 1F; repeatable."),
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
File = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Order in JSON; - reads standard input."),
]
JournalUrl = Annotated[
    str | None,
    typer.Option("--journal", metavar="URL", help="A journal, such as sqlite:///ferry.db."),
]


def search(
    *,
    depart: Annotated[str, _DEPART],
    arrive: Annotated[str, _ARRIVE],
    on: Annotated[date, _ON],
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
    passengers = [*(adult or ()), *(child or ()), *(infant or ())]
    if not passengers:
        raise typer.BadParameter("expected a traveller, as --adult 34F", param_hint="'--adult'")
    wanted = Search(
        depart_code=depart,
        arrive_code=arrive,
        out_at=on,
        out_time=at,
        ret_at=back,
        passengers=passengers,
        vehicle=vehicle,
        company=company,
        out_journey_id=journey,
    )
    with open_client(base_url, token_file) as ferry, show_progress("Searching"):
        query = query_of(ferry, wanted, passengers)
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


def book(  # noqa: PLR0913 -- the options of one command
    *,
    depart: Annotated[str | None, _DEPART] = None,
    arrive: Annotated[str | None, _ARRIVE] = None,
    on: Annotated[date | None, _ON] = None,
    at: At = "00:00",
    back: Back = None,
    adult: Adult = None,
    child: Child = None,
    infant: Infant = None,
    vehicle: Vehicle = None,
    company: Company = None,
    journey: JourneyId = None,
    from_file: File = None,
    journal: JournalUrl = None,
    yes: Yes = False,
    as_json: AsJson = False,
    base_url: BaseUrl = None,
    token_file: TokenFile = None,
) -> None:
    """Book a crossing. Prompts for missing values and asks before it sends the booking.

    The booking is not paid; `ferry confirm` pays it.
    """
    if from_file is None and not is_interactive():
        raise typer.BadParameter("no terminal to ask on: pass a file", param_hint=_FROM)
    if not yes and not is_interactive():
        raise typer.BadParameter("no terminal to ask on: pass --yes", param_hint="'--yes'")
    options = {
        "depart_code": depart,
        "arrive_code": arrive,
        "out_at": on,
        "out_time": at,
        "ret_at": back,
        "passengers": [*(adult or ()), *(child or ()), *(infant or ())],
        "vehicle": vehicle,
        "company": company,
        "out_journey_id": journey,
    }
    given = {name: value for name, value in options.items() if value and value != "00:00"}
    if from_file is not None and given:
        raise typer.BadParameter("cannot be combined with a route or its options", param_hint=_FROM)
    with (
        _open_journal(journal) as record,
        open_client(base_url, token_file, journal=record) as ferry,
    ):
        if from_file is None:
            order = ask_order(ferry, given)
        else:
            with show_progress("Searching"):
                order = read_order(from_file, ferry)
        print_summary(order)
        ask_consent("Book it?", yes=yes)
        with show_progress("Booking"):
            created = order.send(ferry)
    with report_output_failure("it was booked", created.booking_id):
        if as_json:
            print_json({"booking": created.model_dump(mode="json")})
        else:
            print_facts(
                [
                    ("booked", created.booking_reference),
                    ("id", created.booking_id),
                    ("stage", created.stage),
                    ("total", money(created.total_price, created.currency)),
                    ("next", next_of(created)),
                    ("to pay", f"ferry confirm {created.booking_id}"),
                ]
            )


def _open_journal(url: str | None) -> AbstractContextManager[Recorder | None]:
    if url is None:
        return nullcontext()
    from ferry_sdk.journal import Journal  # noqa: PLC0415 -- an extra, only where it is asked for

    return Journal(url)
