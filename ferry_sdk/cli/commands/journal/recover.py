"""`ferry journal recover`: read whether unresolved writes happened."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk.cli.commands.journal.output import ENTRY, describe_seen, print_entries
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common, JournalUrl, open_journal
from ferry_sdk.cli.terminal.output import show_progress
from ferry_sdk.errors import OutcomeUnknownError


def recover_entries(
    *,
    entry_id: Annotated[str | None, ENTRY] = None,
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
                    seen[entry.id] = describe_seen(error)
        entries = [record.entry(entry.id) for entry in entries]

    print_entries(entries, seen, as_json=common.as_json)
    if any(entry.is_unresolved for entry in entries):
        return Exit.UNKNOWN
    return Exit.DONE
