"""`ferry offers add`, `list`, `remove`, `watch` and `history`: prices and places over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ferry_sdk.cli.commands.offers.add import add_wish
from ferry_sdk.cli.commands.offers.history import show_history
from ferry_sdk.cli.commands.offers.list import list_wishes
from ferry_sdk.cli.commands.offers.remove import remove_wish
from ferry_sdk.cli.commands.offers.watch import watch_offers

COMMANDS: Final[Mapping[str, Callable[..., object]]] = {
    "add": add_wish,
    "list": list_wishes,
    "remove": remove_wish,
    "watch": watch_offers,
    "history": show_history,
}
