"""`ferry book`: a booking, asked for step by step or read from a file; never without a yes."""

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
from ferry_sdk.cli.orders.files import order_in
from ferry_sdk.cli.orders.interview import Said, order_asked
from ferry_sdk.cli.orders.order import Order, summary
from ferry_sdk.cli.orders.query import party_option
from ferry_sdk.cli.terminal.connection import connected
from ferry_sdk.cli.terminal.errors import shown
from ferry_sdk.cli.terminal.formatting import money
from ferry_sdk.cli.terminal.options import AsJson, BaseUrl, TokenFile, Yes, parse_day_option, ports
from ferry_sdk.cli.terminal.output import document, facts, working
from ferry_sdk.cli.terminal.prompts import agreed, can_ask
from ferry_sdk.cli.terminal.records import next_of
from ferry_sdk.client import Ferry
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.types import Recorder

_FROM = "'--from'"
_PORT = "A port's code or a part of its name; asked for if left out."
Depart = Annotated[str | None, typer.Argument(metavar="FROM", help=_PORT, autocompletion=ports)]
Arrive = Annotated[str | None, typer.Argument(metavar="TO", help=_PORT, autocompletion=ports)]
On = Annotated[str | None, typer.Option("--on", metavar="DAY", help="Day of departure, or +30.")]
File = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="An order in JSON; - reads standard input."),
]
JournalUrl = Annotated[
    str | None,
    typer.Option("--journal", metavar="URL", help="Keep it on record, as in sqlite:///ferry.db."),
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
    """Book a crossing. Asks for what is not said; nothing is sent before you say yes.

    The booking is not paid: `ferry confirm` does that.
    """
    if from_file is None and not can_ask():
        raise typer.BadParameter("nobody can be asked here: name a file", param_hint=_FROM)
    if not yes and not can_ask():
        raise typer.BadParameter("nobody can be asked here: say --yes", param_hint="'--yes'")
    asked = (depart, arrive, on, back, adult, child, infant, vehicle, company, journey)
    if from_file is not None and (any(asked) or at != "00:00"):
        raise typer.BadParameter("the file says what to book, and nothing else", param_hint=_FROM)
    said = Said(
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
    with _recorded(journal) as record, connected(base_url, token_file, journal=record) as ferry:
        order = _order(ferry, from_file, said)
        summary(order)
        agreed("Book it?", yes=yes)
        with working("Booking"):
            created = order.send(ferry)
    with shown("it is booked", created.booking_id):
        if as_json:
            document({"booking": created.model_dump(mode="json")})
        else:
            _show(created)


def _order(ferry: Ferry, from_file: Path | None, said: Said) -> Order:
    if from_file is None:
        return order_asked(ferry, said)
    with working("Searching"):
        return order_in(from_file, ferry)


def _show(created: BookingCreated) -> None:
    facts(
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
def _recorded(url: str | None) -> Generator[Recorder | None, None, None]:
    if url is None:
        yield None
        return
    from ferry_sdk.journal import Journal  # noqa: PLC0415 -- an extra, only where it is asked for

    with Journal(url) as journal:
        yield journal
