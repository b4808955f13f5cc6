"""`ferry book`: book a crossing."""

from __future__ import annotations

from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk import orders
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.orders import order_facts, order_members
from ferry_sdk.cli.commands.search import (
    ARRIVE,
    CHANGES,
    DEPART,
    ON,
    BookOptions,
)
from ferry_sdk.cli.orders.files import find_order, read_order, read_travellers
from ferry_sdk.cli.orders.order import print_summary, selections_of
from ferry_sdk.cli.orders.trips import Search
from ferry_sdk.cli.terminal.errors import print_written
from ferry_sdk.cli.terminal.options import Common, OptionalJournalUrl, Yes, open_recorder, option
from ferry_sdk.cli.terminal.output import next_of, show_progress
from ferry_sdk.cli.terminal.prompts import ask_consent, require_terminal

_FROM = "'--from'"
FROM_FILE = option("FILE", "--from", help="Order in JSON; - reads standard input.")


def book(
    *,
    origin: Annotated[str | None, DEPART] = None,
    destination: Annotated[str | None, ARRIVE] = None,
    on: Annotated[date | None, ON] = None,
    options: BookOptions,
    from_file: Annotated[Path | None, FROM_FILE] = None,
    journal: OptionalJournalUrl = None,
    yes: Yes = False,
    common: Common,
) -> None:
    """Book a crossing. Shows the cheapest trip with its cheapest fare, and asks before it books it.

    The booking is not paid; `ferry confirm` pays it. With --changes 1 there are two bookings: if
    the second is refused, the first is cancelled.
    """
    members = options.members
    required = {"origin": origin, "destination": destination, "on": on}
    route = [value for value in (*required.values(), options.travellers) if value is not None]
    if from_file is None:
        if options.travellers is None or None in required.values():
            problem = "expected FROM, TO, --on and --travellers, or a file"
            raise typer.BadParameter(problem, param_hint=_FROM)
        search = Search.model_validate(required | members)
        find = partial(find_order, search, read_travellers(options.travellers))
    elif route or members:
        raise typer.BadParameter("cannot be combined with a route or its options", param_hint=_FROM)
    else:
        find = partial(read_order, from_file)
    require_terminal(yes=yes)
    if options.changes and journal is None:
        raise typer.BadParameter("two bookings need a journal: pass --journal", param_hint=CHANGES)
    with open_recorder(journal) as record, common.open_client(journal=record) as ferry:
        order, choices = find(ferry)
        print_summary(order, choices)
        ask_consent("Book both?" if len(choices) > 1 else "Book it?", yes=yes)
        selections = selections_of(order, choices)
        if record is not None and len(choices) > 1:
            with show_progress("Booking"):
                held = orders.hold(ferry, selections, **order.party, journal=record)
            to_pay = tuple(f"ferry confirm {part.booking_id}" for part in held.parts)
            facts = [*order_facts(held), ("to pay", to_pay)]
            document = {"order": order_members(held)}
            print_written("it was booked", held.id, document, facts, as_json=common.as_json)
            return
        with show_progress("Booking"):
            (chosen,) = selections
            kind = choices[0].fare.reservation_type if choices else order.reservation_type
            kind = kind or None  # a tariff may say none
            created = ferry.bookings.create(
                availabilities=chosen, reservation_type=kind, **order.party
            )
    some_id = created.booking_id
    facts = [
        ("booked", created.booking_reference),
        ("id", some_id),
        ("stage", created.stage),
        ("total", money(created.total_price, created.currency)),
        ("next", next_of(created)),
        ("to pay", f"ferry confirm {some_id}"),
    ]
    booking = {"booking": created.model_dump(mode="json")}
    print_written("it was booked", some_id, booking, facts, as_json=common.as_json)
