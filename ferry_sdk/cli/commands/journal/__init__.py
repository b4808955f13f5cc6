"""`ferry journal list`, `show`, `recover` and `settle`: the writes on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ferry_sdk.cli.commands.journal.list import list_entries
from ferry_sdk.cli.commands.journal.recover import recover_entries
from ferry_sdk.cli.commands.journal.settle import settle_entry
from ferry_sdk.cli.commands.journal.show import show_entry

COMMANDS: Final[Mapping[str, Callable[..., object]]] = {
    "list": list_entries,
    "show": show_entry,
    "recover": recover_entries,
    "settle": settle_entry,
}
