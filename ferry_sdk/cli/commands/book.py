"""`ferry book`: book from prompts or from a file, after confirmation."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk.cli.commands.search import (
    Adult,
    At,
    Back,
    Child,
    Company,
    Infant,
    JourneyId,
    Vehicle,
)
from ferry_sdk.cli.orders.files import read_order
from ferry_sdk.cli.orders.interview import GivenOptions, ask_order
from ferry_sdk.cli.orders.order import Order, print_summary
from ferry_sdk.cli.orders.query import party_option
from ferry_sdk.cli.terminal.connection import open_client
from ferry_sdk.cli.terminal.errors import report_output_failure
from ferry_sdk.cli.terminal.formats import money
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile, Yes, parse_day_option, ports
from ferry_sdk.cli.terminal.output import print_facts, print_json, show_progress
from ferry_sdk.cli.terminal.prompts import ask_consent, is_interactive
from ferry_sdk.cli.terminal.records import next_of
from ferry_sdk.client import Ferry
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.types import Recorder

_FROM = "'--from'"
_PORT = "A port's code or part of its name; prompted for if omitted."
Depart = Annotated[str | None, typer.Argument(metavar="FROM", help=_PORT, autocompletion=ports)]
Arrive = Annotated[str | None, typer.Argument(metavar="TO", help=_PORT, autocompletion=ports)]
On = Annotated[str | None, typer.Option("--on", metavar="DAY", help="Day of departure, or +30.")]
File = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Order in JSON; - reads standard input."),
]
JournalUrl = Annotated[
    str | None,
    typer.Option("--journal", metavar="URL", help="A journal, such as sqlite:///ferry.db."),
]


def book(  # noqa: PLR0913 -- the options of one command
    *,
    depart: Depart = None,
    arrive: Arrive = None,
    on: On = None,
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
    route_options = (depart, arrive, on, back, adult, child, infant, vehicle, company, journey)
    if from_file is not None and (any(route_options) or at != "00:00"):
        raise typer.BadParameter("cannot be combined with a route or its options", param_hint=_FROM)
    given = GivenOptions(
        depart=depart,
        arrive=arrive,
        out_at=parse_day_option(on, "--on"),
        out_time=at,
        ret_at=parse_day_option(back, "--back"),
        passengers=party_option(adult or (), child or (), infant or ()),
        vehicle=vehicle,
        company=company,
        journey=journey,
    )
    with (
        _open_journal(journal) as record,
        open_client(base_url, token_file, journal=record) as ferry,
    ):
        order = _order(ferry, from_file, given)
        print_summary(order)
        ask_consent("Book it?", yes=yes)
        with show_progress("Booking"):
            created = order.send(ferry)
    with report_output_failure("it was booked", created.booking_id):
        if as_json:
            print_json({"booking": created.model_dump(mode="json")})
        else:
            _print_booking(created)


def _order(ferry: Ferry, from_file: Path | None, given: GivenOptions) -> Order:
    if from_file is None:
        return ask_order(ferry, given)
    with show_progress("Searching"):
        return read_order(from_file, ferry)


def _print_booking(created: BookingCreated) -> None:
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


@contextmanager
def _open_journal(url: str | None) -> Generator[Recorder | None, None, None]:
    if url is None:
        yield None
        return
    from ferry_sdk.journal import Journal  # noqa: PLC0415 -- an extra, only where it is asked for

    with Journal(url) as journal:
        yield journal
