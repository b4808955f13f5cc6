"""`ferry book`: book a crossing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ferry_sdk import orders
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.journal.unresolved import ask_about_unresolved
from ferry_sdk.cli.commands.orders.output import order_details, order_members
from ferry_sdk.cli.terminal.errors import print_write
from ferry_sdk.cli.terminal.options import Common, OptionalJournalUrl, Yes, open_recorder, option
from ferry_sdk.cli.terminal.output import next_of, show_progress
from ferry_sdk.cli.terminal.prompts import ask_consent, require_terminal
from ferry_sdk.cli.trips.booking_request import (
    BookingRequest,
    Choice,
    print_summary,
    selections_of,
)
from ferry_sdk.cli.trips.choices import request_cheapest
from ferry_sdk.cli.trips.files import read_request, read_travellers
from ferry_sdk.cli.trips.options import ARRIVE, CHANGES, DEPART, ON, BookOptions
from ferry_sdk.cli.trips.searches import Search
from ferry_sdk.models.bookings import BookingCreated

if TYPE_CHECKING:
    from ferry_sdk.client import Ferry

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
        make_request = partial(request_cheapest, search, read_travellers(options.travellers))
    elif route or members:
        raise typer.BadParameter("cannot be combined with a route or its options", param_hint=_FROM)
    else:
        make_request = partial(read_request, from_file)

    require_terminal(yes=yes)
    if options.changes and journal is None:
        raise typer.BadParameter("two bookings need a journal: pass --journal", param_hint=CHANGES)

    with open_recorder(journal) as record, common.open_client(journal=record) as ferry:
        if record is not None:
            ask_about_unresolved(record, "Book all the same?", yes=yes)
        request, choices = make_request(ferry)
        print_summary(request, choices)
        question = "Book both?" if len(choices) > 1 else "Book it?"
        ask_consent(question, yes=yes)

        if record is not None and len(choices) > 1:
            with show_progress("Booking"):
                selections = selections_of(request, choices)
                order = orders.hold(ferry, selections, **request.party, journal=record)
            _print_order(order, as_json=common.as_json)
            return
        created = _create(ferry, request, choices)
    _print_booking(created, as_json=common.as_json)


def _create(ferry: Ferry, request: BookingRequest, choices: Sequence[Choice]) -> BookingCreated:
    (selections,) = selections_of(request, choices)
    reservation_type = choices[0].fare.reservation_type if choices else request.reservation_type
    with show_progress("Booking"):
        return ferry.bookings.create(
            availabilities=selections,
            reservation_type=reservation_type or None,  # a tariff may have an empty one
            **request.party,
        )


def _print_order(order: orders.Order, *, as_json: bool) -> None:
    to_pay = tuple(f"ferry confirm {part.booking_id}" for part in order.parts)
    print_write(
        "it was booked",
        order.id,
        document={"order": order_members(order)},
        details=[*order_details(order), ("to pay", to_pay)],
        as_json=as_json,
    )


def _print_booking(created: BookingCreated, *, as_json: bool) -> None:
    print_write(
        "it was booked",
        created.booking_id,
        document={"booking": created.model_dump(mode="json")},
        details=[
            ("booked", created.booking_reference),
            ("id", created.booking_id),
            ("stage", created.stage),
            ("total", money(created.total_price, created.currency)),
            ("next", next_of(created)),
            ("to pay", f"ferry confirm {created.booking_id}"),
        ],
        as_json=as_json,
    )
