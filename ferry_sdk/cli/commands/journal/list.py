"""`ferry journal list`: the writes on record."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from ferry_sdk.cli.commands.journal.output import print_entries
from ferry_sdk.cli.terminal.options import AsJson, JournalUrl, open_journal, option
from ferry_sdk.cli.terminal.output import warn


def _parse_moment(value: str) -> datetime:
    """Parse a day or a moment, in the zone of this machine if it has none."""
    with suppress(ValueError, OverflowError):
        # Python 3.10 reads no Z.
        return datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone()
    raise ValueError("expected a moment, such as 2027-03-01 or 2027-03-01T08:30Z")


@dataclass(frozen=True)
class EntryOptions:
    """The options that choose entries: the arguments of `Journal.entries`.

    Attributes:
        since: Begun at this time or later.
        until: Begun before this time.
        state: open, unknown, done, rejected, not_sent; or unresolved: open and unknown.
        operation: An operation, such as bookings.create.
        booking_id: Writes that name this booking, or its tickets.
        ticket_id: Writes that name this ticket.
        limit: At most so many, the oldest.
    """

    since: Annotated[datetime | None, option("MOMENT", parse=_parse_moment)] = None
    until: Annotated[datetime | None, option("MOMENT", parse=_parse_moment)] = None
    state: Annotated[str | None, option("STATE")] = None
    operation: Annotated[str | None, option("NAME")] = None
    booking_id: Annotated[str | None, option("BOOKING", "--booking")] = None
    ticket_id: Annotated[str | None, option("TICKET", "--ticket")] = None
    limit: Annotated[int | None, option("N", min=1)] = None


def list_entries(*, journal: JournalUrl, entries: EntryOptions, as_json: AsJson = False) -> None:
    """List the writes on record, oldest first, with what to do about unresolved ones."""
    with open_journal(journal) as record:
        listed = record.entries(**vars(entries))

    print_entries(listed, as_json=as_json)
    if not listed and entries.booking_id is not None:
        warn(f"no write for {entries.booking_id}; expected the booking's id, not its reference")
    if not listed and entries.ticket_id is not None:
        warn(f"no write for {entries.ticket_id}; expected the ticket's id, not its number")
