"""The question before a booking while an earlier one is unresolved.

Each search gives other ids, so the journal cannot see that a booking repeats an earlier one. For
that reason, every unresolved booking counts, whatever was booked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.cli.commands.journal.output import entry_details
from ferry_sdk.cli.terminal.errors import CommandError, Exit, next_step
from ferry_sdk.cli.terminal.output import count, error_console, members_of, print_details, warn
from ferry_sdk.cli.terminal.prompts import ask_consent

if TYPE_CHECKING:
    from ferry_sdk.cli.terminal.command_journal import CommandJournal
    from ferry_sdk.types import JournalEntry


def ask_about_unresolved(record: CommandJournal, question: str, *, yes: bool) -> None:
    """Return if the journal has no unresolved booking, or if the user agrees to book nevertheless.

    Raises:
        CommandError: There is one, and nobody can be asked, or the user declines.
    """
    entries = [entry for entry in record.unresolved() if is_create(entry)]
    if not entries:
        return

    newest = entries[-1]
    if yes:
        step = _next_step(record, newest)
        raise _unresolved_error(newest, others=len(entries) - 1, step=step)

    for entry in entries:
        details = dict(entry_details(entry)) | {"next": _next_step(record, entry)}
        print_details(*details.items(), on=error_console())
    warn(f"{count(len(entries), 'earlier booking')} may have happened; it is not known yet")
    ask_consent(question, yes=False)


def is_create(entry: JournalEntry) -> bool:
    """Return whether a write makes a booking."""
    row = SAFETY.get(entry.operation)
    return row is not None and row.effect == "bookings.create"


def _next_step(record: CommandJournal, entry: JournalEntry) -> str:
    """Return what resolves an entry, and the order that it belongs to."""
    step = next_step(entry.operation, entry.id, entry.booking_id)
    for order in record.load_orders(only_unfinished=True):
        if order.entry_id == entry.id:
            return f"{step}, then `ferry orders resume {order.id}`"
    return step


def _unresolved_error(entry: JournalEntry, *, others: int, step: str) -> CommandError:
    """Return the error that names an unresolved booking, and how many others there are."""
    began = f"{entry.began_at:%Y-%m-%d %H:%M:%S} UTC"
    ids = f"entry {entry.id}, correlation id {entry.correlation_id}"
    message = f"a booking of {began} may have happened ({ids})"
    if others:
        message += f", and {others} more in the journal"

    fields = members_of(entry, "operation", "correlation_id", "booking_id")
    return CommandError(
        Exit.UNKNOWN, message, hint=f"nothing was sent; {step}", **fields, entry_id=entry.id
    )
