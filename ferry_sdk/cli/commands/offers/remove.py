"""`ferry offers remove`: remove a wish."""

from __future__ import annotations

from ferry_sdk import offers
from ferry_sdk.cli.commands.offers.output import WishKey
from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import AsJson, JournalUrl, open_journal
from ferry_sdk.cli.terminal.output import print_json, warn


def remove_wish(*, key: WishKey, journal: JournalUrl, as_json: AsJson = False) -> Exit:
    """Remove a wish, with its events that were not given; its prices stay in the history."""
    with open_journal(journal) as record:
        is_removed = offers.remove(record, key)

    if as_json:
        print_json({"key": key, "removed": is_removed})
    elif not is_removed:
        warn(f"no wish has the key {key}")
    return Exit.DONE if is_removed else Exit.REJECTED
