"""`ferry orders list`, `show` and `resume`: several bookings as one, on record."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from ferry_sdk import orders
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.errors import Exit, exit_code_of, next_step
from ferry_sdk.cli.terminal.options import (
    AsJson,
    Common,
    JournalUrl,
    open_command_journal,
    open_journal,
)
from ferry_sdk.cli.terminal.output import (
    members_of,
    moment,
    note,
    print_blocks,
    print_json,
    print_result,
    show_progress,
    warn,
)
from ferry_sdk.errors import JournalError, OrderError
from ferry_sdk.orders import Order

_OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id.")]


def list_orders(*, journal: JournalUrl, as_json: AsJson = False) -> None:
    """List the orders with a step that was begun and has not ended, oldest first."""
    with open_journal(journal) as record:
        unfinished = orders.unfinished(journal=record)
    for part in (part for order in unfinished for part in order.parts):
        if isinstance(part.error, JournalError):
            warn(str(part.error))
    if as_json:
        print_json({"orders": [order_members(order) for order in unfinished]})
    elif unfinished:
        print_blocks([order_facts(order) for order in unfinished], heading=3)
    else:
        note("No unfinished order.")


def show_order(*, order_id: _OrderId, journal: JournalUrl, as_json: AsJson = False) -> None:
    """Show an order as it is on record; nothing is read from the service."""
    with open_journal(journal) as record:
        order = orders.get(order_id, journal=record)
    print_result({"order": order_members(order)}, order_facts(order), as_json=as_json)


def resume_order(*, order_id: _OrderId, journal: JournalUrl, common: Common) -> Exit:
    """Read the bookings of an order, and go on with what was begun.

    Sends nothing twice, and pays no other price than was agreed. Exits with 5 if a booking's
    outcome is still unknown.
    """
    failure: OrderError | None = None
    todo = ""
    with (
        open_command_journal(journal, may_be_new=False) as record,
        common.open_client() as ferry,
        show_progress("Reading"),
    ):
        try:
            order = orders.resume(ferry, order_id, journal=record)
        except OrderError as error:
            order, failure = error.order, error
            for entry in (written.entry for written in record.load_orders(order.id)):
                if entry is not None and entry.id in str(error.cause):
                    step = next_step(entry.operation, entry.id, entry.booking_id)
                    todo = f"; {step}, then resume again"
    print_result({"order": order_members(order)}, order_facts(order), as_json=common.as_json)
    if failure is None:
        return Exit.DONE
    warn(f"{failure.cause}{todo}")
    return exit_code_of(failure)


def order_members(order: Order) -> dict[str, object]:
    """Return an order as a JSON object."""
    names = ("booking_id", "role", "state", "total", "currency", "expires_at")
    parts = [members_of(part, *names) for part in order.parts]
    return {**members_of(order, "id", "kind", "state"), "parts": parts}


def order_facts(order: Order) -> list[tuple[str, object]]:
    """Return an order as names and values."""
    parts: list[tuple[str, object]] = []
    for number, part in enumerate(order.parts, 1):
        lapses = f", lapses {moment(part.expires_at)}" if part.state == "held" else ""
        price = "" if part.total is None else f", {money(part.total, part.currency or '')}"
        text = f"{part.booking_id or 'no booking'}, {part.state}{price}{lapses}"
        parts.append((f"{part.role if order.kind == 'change' else 'booking'} {number}", text))
    return [("kind", order.kind), ("state", order.state), ("order", order.id), *parts]


COMMANDS: Final = (list_orders, show_order, resume_order)
