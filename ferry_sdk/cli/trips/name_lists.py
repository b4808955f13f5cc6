"""Lists of ports, companies and vehicles: the names and codes that a search takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.output import print_json, print_table, warn
from ferry_sdk.cli.trips.searches import unreadable_members
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.planning.results import UnreadableAnswer, describe_unreadable

MOST_MATCHES: Final = 10


def print_names(
    name: str,
    records: Sequence[dict[str, Any]],
    *,
    members: Sequence[str],
    text: str,
    unreadable: Sequence[UnreadableAnswer],
    as_json: bool,
) -> Exit:
    """Print records as JSON, or some of their members as a table. Return the exit code.

    Args:
        name: The name of the list, such as "ports".
        records: The records as JSON objects.
        members: The members that are columns of the table.
        text: What was looked for; empty: all.
        unreadable: The records that could not be read.
        as_json: Whether to print JSON.

    Raises:
        InvalidInputError: The text finds nothing.
    """
    is_missing = bool(text) and not records
    if as_json:
        document: dict[str, object] = {name: [*records]}
        if unreadable:
            document["unreadable"] = unreadable_members(unreadable)
        print_json(document)
        return Exit.NOT_SENT if is_missing else Exit.DONE

    if unreadable:
        warn(describe_unreadable(unreadable))
    if is_missing:
        nothing = "nothing that could be read" if unreadable else "nothing"
        raise InvalidInputError(f"{nothing} is called {text!r}", field="TEXT")

    heads = [member.replace("_", " ") for member in members]
    rows = [[record[member] for member in members] for record in records]
    print_table(heads, rows, right=("score",))
    return Exit.DONE
