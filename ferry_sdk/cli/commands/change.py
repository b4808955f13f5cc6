"""`ferry change`: replace a booking by another one, with one question before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk import orders
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.book import FROM_FILE
from ferry_sdk.cli.commands.orders.output import order_members
from ferry_sdk.cli.terminal.errors import print_write
from ferry_sdk.cli.terminal.options import Common, JournalUrl, Yes, open_command_journal
from ferry_sdk.cli.terminal.output import (
    error_console,
    print_details,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask_consent, require_terminal
from ferry_sdk.cli.trips.booking_request import print_summary, selections_of
from ferry_sdk.cli.trips.files import read_request
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.inputs import Selection
from ferry_sdk.models.sums import exact_sum


def change(
    *,
    booking_id: Annotated[str, typer.Argument(metavar="BOOKING", help="The booking's id.")],
    journal: JournalUrl,
    from_file: Annotated[Path, FROM_FILE],
    yes: Yes = False,
    common: Common,
) -> None:
    """Replace a booking by another one.

    The new one is made and paid, and only then the old one is cancelled. Shows what is paid, kept
    and given back, and asks once; a higher price or fee than shown is never accepted.
    """
    require_terminal(yes=yes)
    with open_command_journal(journal) as record, common.open_client() as ferry:
        with show_progress("Reading the booking"):
            old = ferry.bookings.get(booking_id)
            fee = ferry.bookings.cancel_fee(booking_id)
        request, choices = read_request(from_file, ferry)
        (selections,) = selections_of(request, choices)
        price, currency = _price_of(selections)

        print_summary(request, choices)
        print_details(
            ("booking", f"{old.booking_reference}, {money(old.total_price, old.currency)}"),
            ("kept of it", money(fee.penalty_amount, fee.currency)),
            ("given back", money(fee.refund_amount, fee.currency)),
            ("new booking", money(price, currency)),
            on=error_console(),
        )
        ask_consent(f"Pay {money(price, currency)} and cancel the old booking?", yes=yes)

        with show_progress("Changing"):
            order = orders.change(
                ferry,
                booking_id,
                to=selections,
                **request.party,
                expect_totals={currency: price},
                max_penalty={fee.currency: fee.penalty_amount},
                min_refund={fee.currency: fee.refund_amount},
                journal=record,
            )
    new_id = str(order.parts[0].booking_id)
    print_write(
        "it was changed",
        new_id,
        document={"order": order_members(order)},
        details=[("changed", new_id), ("order", order.id), ("show", f"ferry show {new_id}")],
        as_json=common.as_json,
    )


def _price_of(selections: Sequence[Selection]) -> tuple[Decimal, str]:
    """Return what the tariffs cost, with their currency.

    Raises:
        InvalidInputError: The selections do not say it.
    """
    currencies = {selection.currency for selection in selections}
    currency = currencies.pop() if len(currencies) == 1 else None
    amounts = [selection.amount for selection in selections if selection.amount is not None]
    if currency is None or len(amounts) != len(selections):
        problem = "the file has to say amount and currency of each"
        raise InvalidInputError(problem, field="availabilities")
    return exact_sum(amounts), currency
