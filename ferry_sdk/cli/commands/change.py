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
from ferry_sdk.cli.commands.orders import order_members
from ferry_sdk.cli.orders.files import read_order
from ferry_sdk.cli.orders.order import print_summary, selections_of
from ferry_sdk.cli.terminal.errors import print_written
from ferry_sdk.cli.terminal.options import Common, JournalUrl, Yes, open_command_journal
from ferry_sdk.cli.terminal.output import (
    error_console,
    print_facts,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask_consent, require_terminal
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
        order, choices = read_order(from_file, ferry)
        (selections,) = selections_of(order, choices)
        price, currency = _price_of(selections)
        print_summary(order, choices)
        name = f"{old.booking_reference}, {money(old.total_price, old.currency)}"
        kept, back = money(fee.penalty_amount, fee.currency), money(fee.refund_amount, fee.currency)
        cost = money(price, currency)
        facts = [("booking", name), ("kept of it", kept), ("given back", back)]
        print_facts(*facts, ("new booking", cost), on=error_console())
        ask_consent(f"Pay {cost} and cancel the old booking?", yes=yes)
        with show_progress("Changing"):
            changed = orders.change(
                ferry,
                booking_id,
                to=selections,
                **order.party,
                expect_totals={currency: price},
                max_penalty={fee.currency: fee.penalty_amount},
                min_refund={fee.currency: fee.refund_amount},
                journal=record,
            )
    new = str(changed.parts[0].booking_id)
    facts = [("changed", new), ("order", changed.id), ("show", f"ferry show {new}")]
    document = {"order": order_members(changed)}
    print_written("it was changed", new, document, facts, as_json=common.as_json)


def _price_of(selections: Sequence[Selection]) -> tuple[Decimal, str]:
    """Return what the tariffs cost, with their currency.

    Raises:
        InvalidInputError: The selections do not say it.
    """
    currencies = {selection.currency for selection in selections}
    amounts = [selection.amount for selection in selections if selection.amount is not None]
    currency = currencies.pop() if len(currencies) == 1 else None
    if currency is None or len(amounts) != len(selections):
        problem = "the file has to say amount and currency of each"
        raise InvalidInputError(problem, field="availabilities")
    return exact_sum(amounts), currency
