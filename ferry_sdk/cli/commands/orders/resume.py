"""`ferry orders resume`: go on with an order after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferry_sdk import orders
from ferry_sdk.cli.commands.orders.output import OrderId, order_details, order_members
from ferry_sdk.cli.terminal.errors import Exit, exit_code_of, next_step
from ferry_sdk.cli.terminal.options import Common, JournalUrl, open_command_journal
from ferry_sdk.cli.terminal.output import print_result, show_progress, warn
from ferry_sdk.errors import OrderError

if TYPE_CHECKING:
    from ferry_sdk.cli.terminal.command_journal import CommandJournal


def resume_order(*, order_id: OrderId, journal: JournalUrl, common: Common) -> Exit:
    """Read the bookings of an order, and go on with what was begun.

    Sends nothing twice, and pays no other price than was agreed. Exits with 5 if a booking's
    outcome is still unknown.
    """
    failure: OrderError | None = None
    advice = ""
    with (
        open_command_journal(journal, may_be_new=False) as record,
        common.open_client() as ferry,
        show_progress("Reading"),
    ):
        try:
            order = orders.resume(ferry, order_id, journal=record)
        except OrderError as error:
            failure = error
            order = error.order
            advice = _advice(record, error)

    print_result({"order": order_members(order)}, order_details(order), as_json=common.as_json)
    if failure is None:
        return Exit.DONE
    warn(f"{failure.cause}{advice}")
    return exit_code_of(failure)


def _advice(record: CommandJournal, error: OrderError) -> str:
    """Return what resolves the write that the error names; empty if it names none."""
    for stored in record.load_orders(error.order.id):
        entry = stored.entry
        if entry is not None and entry.id in str(error.cause):
            step = next_step(entry.operation, entry.id, entry.booking_id)
            return f"; {step}, then resume again"
    return ""
