"""`ferry journal list`: the writes on record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

from ferry_sdk.cli.commands.journal.output import print_entries
from ferry_sdk.cli.terminal.options import (
    AsJson,
    JournalUrl,
    open_journal,
    option,
    parse_moment,
)
from ferry_sdk.cli.terminal.output import warn

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal
    from ferry_sdk.types import JournalEntry

_PROBLEMS: Final = "problems"
"""The state that is no state of an entry: unresolved or rejected."""


@dataclass(frozen=True)
class EntryOptions:
    """The options that choose entries: the arguments of `Journal.entries`.

    Attributes:
        since: Begun at this time or later; -7: seven days ago.
        until: Begun before this time.
        state: open, unknown, done, rejected, not_sent; unresolved: open and unknown; problems:
            unresolved and rejected.
        operation: An operation, such as bookings.create.
        booking_id: Writes that name this booking, or its tickets.
        ticket_id: Writes that name this ticket.
        limit: At most so many, the oldest.
    """

    since: Annotated[datetime | None, option("MOMENT", parse=parse_moment)] = None
    until: Annotated[datetime | None, option("MOMENT", parse=parse_moment)] = None
    state: Annotated[str | None, option("STATE")] = None
    operation: Annotated[str | None, option("NAME")] = None
    booking_id: Annotated[str | None, option("BOOKING", "--booking")] = None
    ticket_id: Annotated[str | None, option("TICKET", "--ticket")] = None
    limit: Annotated[int | None, option("N", min=1)] = None


def list_entries(*, journal: JournalUrl, entries: EntryOptions, as_json: AsJson = False) -> None:
    """List the writes on record, oldest first, with what to do about unresolved ones."""
    with open_journal(journal) as record:
        listed = _entries(record, entries)

    print_entries(listed, as_json=as_json)
    if not listed and entries.booking_id is not None:
        hint = "expected the booking's id, not its reference, by which `ferry find` finds it"
        warn(f"no write for {entries.booking_id}; {hint}")
    if not listed and entries.ticket_id is not None:
        hint = "expected the ticket's id, not its number, by which `ferry find` finds it"
        warn(f"no write for {entries.ticket_id}; {hint}")


def _entries(journal: Journal, options: EntryOptions) -> tuple[JournalEntry, ...]:
    """Return the entries that pass the filters, oldest first."""
    if options.state != _PROBLEMS:
        return journal.entries(**vars(options))

    unresolved = journal.entries(**vars(replace(options, state="unresolved")))
    rejected = journal.entries(**vars(replace(options, state="rejected")))
    # An entry that was rejected between the two reads is in both.
    entries = {entry.id: entry for entry in (*unresolved, *rejected)}
    oldest_first = sorted(entries.values(), key=lambda entry: (entry.began_at, entry.id))
    return tuple(oldest_first[: options.limit])
