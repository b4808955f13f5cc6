"""`ferry orders list`: the orders that a step has left unfinished."""

from __future__ import annotations

from ferry_sdk import orders
from ferry_sdk.cli.commands.orders.output import order_details, order_members
from ferry_sdk.cli.terminal.options import AsJson, JournalUrl, open_journal
from ferry_sdk.cli.terminal.output import print_blocks, print_json, say_on_stderr, warn
from ferry_sdk.errors import JournalError


def list_orders(*, journal: JournalUrl, as_json: AsJson = False) -> None:
    """List the orders with a step that was begun and has not ended, oldest first."""
    with open_journal(journal) as record:
        unfinished = orders.unfinished(journal=record)

    for order in unfinished:
        for part in order.parts:
            if isinstance(part.error, JournalError):
                warn(str(part.error))
    if as_json:
        print_json({"orders": [order_members(order) for order in unfinished]})
    elif unfinished:
        print_blocks([order_details(order) for order in unfinished], heading=3)
    else:
        say_on_stderr("No unfinished order.")
