"""`ferry orders show`: an order as it is on record."""

from __future__ import annotations

from ferry_sdk import orders
from ferry_sdk.cli.commands.orders.output import OrderId, order_details, order_members
from ferry_sdk.cli.terminal.options import AsJson, JournalUrl, open_journal
from ferry_sdk.cli.terminal.output import print_result


def show_order(*, order_id: OrderId, journal: JournalUrl, as_json: AsJson = False) -> None:
    """Show an order as it is on record; nothing is read from the service."""
    with open_journal(journal) as record:
        order = orders.get(order_id, journal=record)
    print_result({"order": order_members(order)}, order_details(order), as_json=as_json)
