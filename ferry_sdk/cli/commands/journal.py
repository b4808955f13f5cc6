"""`ferry journal list`, `show` and `settle`: the writes on record."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ferry_sdk.cli.terminal.errors import report_errors
from ferry_sdk.cli.terminal.options import AsJson, Yes, parser
from ferry_sdk.cli.terminal.output import (
    error_console,
    note,
    print_facts,
    print_json,
    print_table,
)
from ferry_sdk.cli.terminal.prompts import ask_consent
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.types import JournalEntry

if TYPE_CHECKING:
    from rich.console import Console

    from ferry_sdk.journal import Journal


def _parse_moment(value: str) -> datetime:
    """Parse a day or a moment, in the zone of this machine if it has none."""
    try:
        return datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone()
    except (ValueError, OverflowError):
        raise ValueError("expected a moment, such as 2027-03-01 or 2027-03-01T08:30Z") from None


def _moment_option(name: str, help_text: str) -> object:
    return typer.Option(name, metavar="MOMENT", help=help_text, parser=parser(_parse_moment))


_Url = Annotated[
    str, typer.Option("--journal", metavar="URL", help="The journal, such as sqlite:///ferry.db.")
]
_EntryId = Annotated[str, typer.Argument(metavar="ENTRY", help="The entry's id.")]


def list_entries(
    *,
    journal: _Url,
    since: Annotated[
        datetime | None, _moment_option("--since", "Begun at this time or later.")
    ] = None,
    until: Annotated[datetime | None, _moment_option("--until", "Begun before this time.")] = None,
    state: Annotated[
        str | None,
        typer.Option(metavar="STATE", help="open, unknown, done, rejected or not_sent."),
    ] = None,
    operation: Annotated[
        str | None, typer.Option(metavar="NAME", help="An operation, such as bookings.create.")
    ] = None,
    booking: Annotated[
        str | None, typer.Option(metavar="BOOKING", help="Writes that name this booking.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At most so many, the oldest.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the writes on record, oldest first."""
    with open_journal(journal) as record:
        found = record.entries(
            since=since,
            until=until,
            state=state,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] -- checked there
            operation=operation,
            booking_id=booking,
            limit=limit,
        )
    if as_json:
        print_json({"entries": [_document(entry) for entry in found]})
    elif found:
        heads = ["began", "operation", "state", "booking", "rejection", "entry"]
        rows = [
            (
                _time(entry.began_at),
                entry.operation,
                entry.state,
                entry.booking_id or "",
                _rejection(entry),
                entry.id,
            )
            for entry in found
        ]
        print_table(heads, rows)
    else:
        note("No entry.")


def show_entry(*, entry_id: _EntryId, journal: _Url, as_json: AsJson = False) -> None:
    """Show one write on record."""
    with open_journal(journal) as record:
        entry = record.entry(entry_id)
    _print(entry, as_json=as_json)


def settle_entry(
    *,
    entry_id: _EntryId,
    journal: _Url,
    happened: Annotated[
        bool,
        typer.Option("--happened/--not-happened", help="What you have learned from the service."),
    ],
    booking: Annotated[
        str | None, typer.Option(metavar="BOOKING", help="The booking that the write created.")
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Record whether an unresolved write happened. The same write may then be made again."""
    with open_journal(journal) as record:
        entry = record.entry(entry_id)
        _print_facts(entry, on=error_console())
        outcome = "happened" if happened else "did not happen"
        ask_consent(f"Record that it {outcome}?", yes=yes)
        entry = record.settle(entry, happened=happened, booking_id=booking)
    _print(entry, as_json=as_json)


def open_journal(url: str) -> Journal:
    """Open a journal for a command that reads it first.

    Raises:
        InvalidInputError: The URL is invalid, or its file does not exist.
        ModuleNotFoundError: The extra is not installed.
    """
    from ferry_sdk.journal import Journal  # noqa: PLC0415 -- an extra
    from ferry_sdk.journal.engines import missing_file  # noqa: PLC0415 -- an extra

    journal = Journal(url)
    missing = missing_file(url)
    if missing is not None:
        raise InvalidInputError(f"there is no file {missing}", field="journal")
    return journal


def _document(entry: JournalEntry) -> dict[str, object]:
    members = asdict(entry) | {"began_at": entry.began_at, "ended_at": entry.ended_at}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in members.items()
    }


def _print(entry: JournalEntry, *, as_json: bool) -> None:
    if as_json:
        print_json({"entry": _document(entry)})
    else:
        _print_facts(entry)


def _print_facts(entry: JournalEntry, on: Console | None = None) -> None:
    print_facts(
        [
            ("entry", entry.id),
            ("operation", entry.operation),
            ("state", f"{entry.state}, unresolved" if entry.is_unresolved else entry.state),
            ("booking", entry.booking_id),
            ("tickets", "\n".join(entry.ticket_ids or ())),
            ("rejection", _rejection(entry)),
            ("began", _time(entry.began_at)),
            ("ended", entry.ended_at and _time(entry.ended_at)),
            ("request", f"{entry.method} {entry.path}"),
            ("correlation id", entry.correlation_id),
            ("damaged", ", ".join(entry.damaged)),
        ],
        on=on,
    )


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _rejection(entry: JournalEntry) -> str:
    return " ".join(str(part) for part in (entry.status_code, entry.code) if part is not None)


app: typer.Typer = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Look up the writes on record, and settle them.",
)
app.command("list")(report_errors(list_entries))
app.command("show")(report_errors(show_entry))
app.command("settle")(report_errors(settle_entry))
