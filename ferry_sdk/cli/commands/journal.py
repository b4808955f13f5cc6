"""`ferry journal list`, `show`, `recover` and `settle`: the writes on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

import typer

from ferry_sdk._engine.safety import SAFETY, Proof
from ferry_sdk.cli.terminal.errors import Exit, next_step
from ferry_sdk.cli.terminal.options import AsJson, Common, JournalUrl, Yes, open_journal, option
from ferry_sdk.cli.terminal.output import (
    age,
    error_console,
    members_of,
    note,
    print_blocks,
    print_facts,
    print_json,
    print_result,
    show_progress,
    warn,
    words,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError, NotFoundError, OutcomeUnknownError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.tickets import Ticket
from ferry_sdk.types import JournalEntry


def _parse_moment(value: str) -> datetime:
    """Parse a day or a moment, in the zone of this machine if it has none."""
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone()
    raise ValueError("expected a moment, such as 2027-03-01 or 2027-03-01T08:30Z")


_ENTRY = typer.Argument(metavar="ENTRY", help="The entry's id.", show_default=False)
_EntryId = Annotated[str, _ENTRY]


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
    _print_all(listed, {}, as_json=as_json)
    if not listed and entries.booking_id is not None:
        warn(f"no write for {entries.booking_id}; expected the booking's id, not its reference")
    if not listed and entries.ticket_id is not None:
        warn(f"no write for {entries.ticket_id}; expected the ticket's id, not its number")


def show_entry(*, entry_id: _EntryId, journal: JournalUrl, as_json: AsJson = False) -> None:
    """Show one write on record."""
    with open_journal(journal) as record:
        entry = record.entry(entry_id)
    print_result({"entry": entry_members(entry)}, _all_facts(entry), as_json=as_json)


def recover_entries(
    *,
    entry_id: Annotated[str | None, _ENTRY] = None,
    journal: JournalUrl,
    every: Annotated[bool, typer.Option("--all", help="Every unresolved entry.")] = False,
    common: Common,
) -> Exit:
    """Read whether an unresolved write happened. If it did, it is recorded as done.

    Exits with 5 if a write is still unresolved.
    """
    if (entry_id is None) != every:
        raise typer.BadParameter("expected an entry or --all", param_hint="ENTRY")
    seen: dict[str, str] = {}
    with (
        open_journal(journal) as record,
        common.open_client(journal=record) as ferry,
        show_progress("Reading"),
    ):
        entries = [record.entry(entry_id)] if entry_id else [*record.unresolved()]
        for entry in entries:
            if entry.is_unresolved:
                try:
                    ferry.recover(entry)
                except OutcomeUnknownError as error:
                    seen[entry.id] = _seen(error)
        entries = [record.entry(entry.id) for entry in entries]
    _print_all(entries, seen, as_json=common.as_json)
    return Exit.UNKNOWN if any(entry.is_unresolved for entry in entries) else Exit.DONE


_HAPPENED = typer.Option("--happened/--not-happened", help="What the service has told you.")
_CREATED = option("BOOKING", help="The booking that the write created.")
_NO_CHECK = typer.Option("--no-check", help="Do not read whether the service agrees.")


def settle_entry(
    *,
    entry_id: _EntryId,
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
        print_facts(*_all_facts(entry), on=error_console())
        can_be_read = _proof_of(entry) is not None or (_is_named(entry) and booking is None)
        if not no_check and (can_be_read or booking is not None):
            with common.open_client() as ferry, show_progress("Reading"):
                if booking is not None:
                    made = ferry.bookings.get(booking)
                    about = f"{made.booking_reference}, {made.stage}, {made.booking_id}"
                    print_facts(("names", about), on=error_console())
                if can_be_read:
                    _check_outcome(ferry, entry, happened=happened)
        outcome = "happened" if happened else "did not happen"
        ask_consent(f"Record that it {outcome}?", yes=yes)
        entry = record.settle(entry, happened=happened, booking_id=booking)
    print_result({"entry": entry_members(entry)}, _all_facts(entry), as_json=common.as_json)


def _proof_of(entry: JournalEntry) -> Proof | None:
    """Return how `recover` reads whether a write happened; None if it cannot."""
    row = SAFETY.get(entry.operation)
    proofs = () if row is None else row.confirmed_by
    return next((proof for proof in proofs if proof.subject in entry.subject), None)


def _is_named(entry: JournalEntry) -> bool:
    """Return whether it is a create whose failed reply named the booking, which can be read."""
    row = SAFETY.get(entry.operation)
    return row is not None and row.read_if_named is not None and entry.booking_id is not None


def _check_outcome(ferry: Ferry, entry: JournalEntry, *, happened: bool) -> None:
    """Read whether a write happened, and print what the read shows.

    Raises:
        InvalidInputError: The service shows the opposite, or cannot be read.
    """
    problem, seen = "", "it happened"
    try:
        ferry.recover(entry)
    except OutcomeUnknownError as error:
        seen, failure, record = _seen(error), error.__cause__, error.last_seen
        is_refuted = isinstance(failure, NotFoundError)
        proof = _proof_of(entry)
        if proof is not None and isinstance(record, Booking | Ticket):
            is_refuted = proof.is_refuted_by(record, entry.subject.get("ticket_id"))
        if (happened and is_refuted) or (failure is not None and not is_refuted):
            problem = seen
    else:
        if not happened:
            problem = f"the service shows that it happened: run `ferry journal recover {entry.id}`"
    if problem:
        option = "--happened" if happened else "--not-happened"
        raise InvalidInputError(f"{problem}; --no-check settles it nevertheless", field=option)
    print_facts(("seen", seen), on=error_console())


def _print_all(entries: Sequence[JournalEntry], seen: Mapping[str, str], *, as_json: bool) -> None:
    """Print entries; `seen` is what a read of some showed, by their ids."""
    if as_json:
        read = {entry_id: {"seen": text} for entry_id, text in seen.items()}
        members = [entry_members(entry) | read.get(entry.id, {}) for entry in entries]
        print_json({"entries": members})
    elif entries:
        print_blocks([_facts(entry, seen.get(entry.id, "")) for entry in entries], heading=4)
    else:
        note("No entry.")


def _next(entry: JournalEntry, *, is_read: bool = False) -> str:
    if not entry.is_unresolved:
        return ""
    operation = "" if is_read or entry.damaged else entry.operation
    return next_step(operation, entry.id, entry.booking_id)


def _seen(error: OutcomeUnknownError) -> str:
    """Return what the read of a write showed instead of its effect."""
    record, failure = error.last_seen, error.__cause__
    if failure is not None:
        return f"not read: {failure}"
    if isinstance(record, Booking):
        return f"the booking is {record.stage}"
    return f"the ticket is {record.status}" if isinstance(record, Ticket) else "no read shows it"


def entry_members(entry: JournalEntry) -> dict[str, object]:
    """Return an entry as a JSON object, with what to do next."""
    names = (*entry.__dataclass_fields__, "began_at", "ended_at")
    return {**members_of(entry, *names), "next": _next(entry) or None}


def _facts(entry: JournalEntry, seen: str = "") -> list[tuple[str, object]]:
    """Return an entry as names and values; `seen` is what a read showed instead of its effect."""
    return [
        ("began", _time(entry.began_at)),
        ("operation", entry.operation),
        ("state", entry.state),
        ("age", age(entry.began_at) if entry.is_unresolved else ""),
        ("booking", entry.booking_id or ""),
        ("tickets", " ".join(entry.ticket_ids or ())),
        ("rejection", words(entry.status_code, entry.code)),
        ("entry", entry.id),
        ("correlation id", entry.correlation_id),
        ("seen", seen),
        ("next", _next(entry, is_read=bool(seen))),
    ]


def _all_facts(entry: JournalEntry) -> list[tuple[str, object]]:
    facts = dict(_facts(entry)) | {
        "state": f"{entry.state}, unresolved" if entry.is_unresolved else entry.state,
        "ended": entry.ended_at and _time(entry.ended_at),
        "request": f"{entry.method} {entry.path}",
        "damaged": ", ".join(entry.damaged),
    }
    return [*facts.items()]


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


COMMANDS: Final = (list_entries, show_entry, recover_entries, settle_entry)
