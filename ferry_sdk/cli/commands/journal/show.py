"""`ferry journal show`: one write on record."""

from __future__ import annotations

from ferry_sdk.cli.commands.journal.output import EntryId, entry_details, entry_members
from ferry_sdk.cli.terminal.options import AsJson, JournalUrl, open_journal
from ferry_sdk.cli.terminal.output import print_result


def show_entry(*, entry_id: EntryId, journal: JournalUrl, as_json: AsJson = False) -> None:
    """Show one write on record."""
    with open_journal(journal) as record:
        entry = record.entry(entry_id)
    print_result({"entry": entry_members(entry)}, entry_details(entry), as_json=as_json)
