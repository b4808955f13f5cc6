"""`ferry book`: book a crossing."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.orders import order_facts, order_members
from ferry_sdk.cli.commands.search import (
    ARRIVE,
    CHANGES,
    DEPART,
    ON,
    SearchOptions,
)
from ferry_sdk.cli.commands.show import next_of
from ferry_sdk.cli.orders.files import read_order, read_travellers
from ferry_sdk.cli.orders.interview import ask_order
from ferry_sdk.cli.orders.order import hold_order, print_summary, send_order
from ferry_sdk.cli.terminal.errors import report_output_failure
from ferry_sdk.cli.terminal.options import Common, OptionalJournalUrl, Yes, open_recorder
from ferry_sdk.cli.terminal.output import (
    print_result,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask_consent, is_interactive
from ferry_sdk.orders import Order

_FROM = "'--from'"
File = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Order in JSON; - reads standard input."),
]


def book(
    *,
    origin: Annotated[str | None, DEPART] = None,
    destination: Annotated[str | None, ARRIVE] = None,
    on: Annotated[date | None, ON] = None,
    options: SearchOptions,
    from_file: File = None,
    journal: OptionalJournalUrl = None,
    yes: Yes = False,
    common: Common,
) -> None:
    """Book a crossing. Prompts for missing values and asks before it sends the booking.

    The booking is not paid; `ferry confirm` pays it. With --changes 1 there are two bookings: if
    the second is refused, the first is cancelled.
    """
    if from_file is None and not is_interactive():
        raise typer.BadParameter("no terminal to ask on: pass a file", param_hint=_FROM)
    if not yes and not is_interactive():
        raise typer.BadParameter("no terminal to ask on: pass --yes", param_hint="'--yes'")
    if options.changes and journal is None:
        raise typer.BadParameter("two bookings need a journal: pass --journal", param_hint=CHANGES)
    travellers = options.travellers
    named = options.members
    trip = {
        "origin": origin,
        "destination": destination,
        "on": on,
        "passengers": options.passengers,
    }
    given = {name: value for name, value in trip.items() if value} | named
    if from_file is not None and (given or travellers is not None):
        raise typer.BadParameter("cannot be combined with a route or its options", param_hint=_FROM)
    with open_recorder(journal) as record, common.open_client(journal=record) as ferry:
        party = None if travellers is None else read_travellers(travellers)
        order, choices = (
            read_order(from_file, ferry) if from_file else ask_order(ferry, given, party)
        )
        print_summary(order, choices)
        ask_consent("Book both?" if len(choices) > 1 else "Book it?", yes=yes)
        if record is not None and len(choices) > 1:
            with show_progress("Booking"):
                held = hold_order(ferry, order, choices, record)
            _print_held(held, as_json=common.as_json)
            return
        with show_progress("Booking"):
            created = send_order(ferry, order, choices)
    with report_output_failure("it was booked", created.booking_id):
        facts = [
            ("booked", created.booking_reference),
            ("id", created.booking_id),
            ("stage", created.stage),
            ("total", money(created.total_price, created.currency)),
            ("next", next_of(created)),
            ("to pay", f"ferry confirm {created.booking_id}"),
        ]
        document = {"booking": created.model_dump(mode="json")}
        print_result(document, facts, as_json=common.as_json)


def _print_held(order: Order, *, as_json: bool) -> None:
    with report_output_failure("it was booked", order.id):
        to_pay = tuple(f"ferry confirm {part.booking_id}" for part in order.parts)
        facts = [*order_facts(order), ("to pay", to_pay)]
        print_result({"order": order_members(order)}, facts, as_json=as_json)
