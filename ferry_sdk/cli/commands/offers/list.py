"""`ferry offers list`: the wishes of a journal."""

from __future__ import annotations

from ferry_sdk import offers
from ferry_sdk.cli.commands.offers.output import wish_details, wish_members
from ferry_sdk.cli.terminal.options import AsJson, JournalUrl, open_journal
from ferry_sdk.cli.terminal.output import print_blocks, print_json, say_on_stderr


def list_wishes(*, journal: JournalUrl, as_json: AsJson = False) -> None:
    """List the wishes by their keys."""
    with open_journal(journal) as record:
        wishes = offers.wishes(record)

    if as_json:
        print_json({"wishes": [wish_members(key, wish) for key, wish in wishes.items()]})
    elif wishes:
        print_blocks([wish_details(key, wish) for key, wish in wishes.items()], heading=3)
    else:
        say_on_stderr("No wish.")
