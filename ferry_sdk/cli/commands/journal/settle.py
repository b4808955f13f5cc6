"""`ferry journal settle`: record what the service's support has said about a write."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk._engine.safety import SAFETY, Proof
from ferry_sdk.cli.commands.journal.output import (
    EntryId,
    describe_seen,
    entry_details,
    entry_members,
)
from ferry_sdk.cli.commands.journal.unresolved import is_create
from ferry_sdk.cli.commands.show import details_of
from ferry_sdk.cli.terminal.options import Common, JournalUrl, Yes, open_journal, option
from ferry_sdk.cli.terminal.output import (
    error_console,
    print_details,
    print_result,
    show_progress,
    warn,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError, NotFoundError, OutcomeUnknownError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.tickets import Ticket
from ferry_sdk.types import JournalEntry

_HAPPENED = typer.Option("--happened/--not-happened", help="What the service has told you.")
_CREATED = option("BOOKING", help="The booking that the write created.")
_NO_CHECK = typer.Option("--no-check", help="Do not read whether the service agrees.")


def settle_entry(
    *,
    entry_id: EntryId,
    journal: JournalUrl,
    happened: Annotated[bool, _HAPPENED],
    booking: Annotated[str | None, _CREATED] = None,
    no_check: Annotated[bool, _NO_CHECK] = False,
    yes: Yes = False,
    common: Common,
) -> None:
    """Record whether an unresolved write happened. The same write may then be made again.

    Reads the booking or the ticket first, and refuses what it contradicts. To correct the booking
    of an entry that was settled, settle it again.
    """
    with open_journal(journal) as record:
        entry = record.entry(entry_id)
        print_details(*entry_details(entry), on=error_console())

        can_be_read = _proof_of(entry) is not None or (
            booking is None and _names_created_booking(entry)
        )
        if not no_check and (can_be_read or booking is not None):
            with common.open_client() as ferry, show_progress("Reading"):
                if booking is not None:
                    _print_booking(ferry, booking)
                if can_be_read:
                    _check_outcome(ferry, entry, happened=happened)

        if happened and booking is None and is_create(entry) and entry.booking_id is None:
            warn(
                "`ferry find` and `ferry reconcile` will not know the booking; "
                "pass --booking ID, with the id that the service has told you"
            )
        outcome = "happened" if happened else "did not happen"
        ask_consent(f"Record that it {outcome}?", yes=yes)
        entry = record.settle(entry, happened=happened, booking_id=booking)
    print_result({"entry": entry_members(entry)}, entry_details(entry), as_json=common.as_json)


def _proof_of(entry: JournalEntry) -> Proof | None:
    """Return how `recover` reads whether a write happened; None if it cannot."""
    row = SAFETY.get(entry.operation)
    if row is None:
        return None
    return next((proof for proof in row.confirmed_by if proof.subject in entry.subject), None)


def _names_created_booking(entry: JournalEntry) -> bool:
    """Return whether it is a create whose failed reply named the booking, which can be read."""
    row = SAFETY.get(entry.operation)
    return row is not None and row.read_if_named is not None and entry.booking_id is not None


def _print_booking(ferry: Ferry, booking_id: str) -> None:
    """Print the booking that the user names, for the question that follows."""
    booking = ferry.bookings.get(booking_id)
    text = f"{booking.booking_reference}, {booking.stage}, {booking.booking_id}"
    print_details(("names", text), *details_of(booking), on=error_console())


def _check_outcome(ferry: Ferry, entry: JournalEntry, *, happened: bool) -> None:
    """Read whether a write happened, and print what the read shows.

    Raises:
        InvalidInputError: The service shows the opposite, or cannot be read.
    """
    try:
        ferry.recover(entry)
    except OutcomeUnknownError as error:
        seen = describe_seen(error)
        is_refuted = _is_refuted(error, entry)
        is_unread = error.__cause__ is not None and not is_refuted
        is_contradicted = happened and is_refuted
        problem = seen if is_unread or is_contradicted else None
    else:
        seen = "it happened"
        problem = None
        if not happened:
            problem = f"the service shows that it happened: run `ferry journal recover {entry.id}`"

    if problem is not None:
        option_name = "--happened" if happened else "--not-happened"
        raise InvalidInputError(f"{problem}; --no-check settles it nevertheless", field=option_name)
    print_details(("seen", seen), on=error_console())


def _is_refuted(error: OutcomeUnknownError, entry: JournalEntry) -> bool:
    """Return whether the read of a write shows that it has no effect and will have none."""
    proof = _proof_of(entry)
    record = error.last_seen
    if proof is not None and isinstance(record, Booking | Ticket):
        return proof.is_refuted_by(record, entry.subject.get("ticket_id"))
    return isinstance(error.__cause__, NotFoundError)
