"""Entries of the journal as the commands print them, and their common argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

import typer

from ferry_sdk.cli.terminal.errors import next_step, settle_step
from ferry_sdk.cli.terminal.output import (
    age,
    members_of,
    print_blocks,
    print_json,
    say_on_stderr,
    words,
)
from ferry_sdk.errors import OutcomeUnknownError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.tickets import Ticket
from ferry_sdk.types import JournalEntry

ENTRY = typer.Argument(metavar="ENTRY", help="The entry's id.", show_default=False)
EntryId = Annotated[str, ENTRY]


def print_entries(
    entries: Sequence[JournalEntry], seen: Mapping[str, str] | None = None, *, as_json: bool
) -> None:
    """Print entries.

    Args:
        entries: The entries.
        seen: What a read of some entries showed instead of their effect, by their ids.
        as_json: Whether to print JSON.
    """
    seen = seen or {}
    if as_json:
        print_json({"entries": [_listed_members(entry, seen) for entry in entries]})
    elif entries:
        rows = [_listed_details(entry, seen.get(entry.id, "")) for entry in entries]
        print_blocks(rows, heading=4)
    else:
        say_on_stderr("No entry.")


def _listed_members(entry: JournalEntry, seen: Mapping[str, str]) -> dict[str, object]:
    members = entry_members(entry)
    if entry.id in seen:
        members["seen"] = seen[entry.id]
    return members


def entry_members(entry: JournalEntry) -> dict[str, object]:
    """Return an entry as a JSON object, with what to do next."""
    names = (*entry.__dataclass_fields__, "began_at", "ended_at")
    return {**members_of(entry, *names), "next": _next(entry) or None}


def _listed_details(entry: JournalEntry, seen: str = "") -> list[tuple[str, object]]:
    """Return an entry of a list; `seen` is what a read showed instead of its effect."""
    age_text = age(entry.began_at) if entry.is_unresolved else ""
    return [
        ("began", _time(entry.began_at)),
        ("operation", entry.operation),
        ("state", entry.state),
        ("age", age_text),
        ("booking", entry.booking_id or ""),
        ("tickets", " ".join(entry.ticket_ids or ())),
        ("rejection", words(entry.status_code, entry.code)),
        ("entry", entry.id),
        ("correlation id", entry.correlation_id),
        ("seen", seen),
        ("next", _next(entry, is_read=bool(seen))),
    ]


def entry_details(entry: JournalEntry) -> list[tuple[str, object]]:
    """Return all of an entry as names and values."""
    details = dict(_listed_details(entry))
    if entry.is_unresolved:
        details["state"] = f"{entry.state}, unresolved"
    details["ended"] = entry.ended_at and _time(entry.ended_at)
    details["request"] = f"{entry.method} {entry.path}"
    details["damaged"] = ", ".join(entry.damaged)
    return [*details.items()]


def _next(entry: JournalEntry, *, is_read: bool = False) -> str:
    """Return what resolves an entry; empty if it is resolved."""
    if not entry.is_unresolved:
        return ""
    # Another read would show the same, and a damaged entry cannot be read.
    if is_read or entry.damaged:
        return settle_step(entry.operation, entry.id)
    return next_step(entry.operation, entry.id, entry.booking_id)


def describe_seen(error: OutcomeUnknownError) -> str:
    """Return what the read of a write showed instead of its effect."""
    if error.__cause__ is not None:
        return f"not read: {error.__cause__}"
    match error.last_seen:
        case Booking() as booking:
            return f"the booking is {booking.stage}"
        case Ticket() as ticket:
            return f"the ticket is {ticket.status}"
        case _:
            return "no read shows it"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
