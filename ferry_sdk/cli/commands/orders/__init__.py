"""`ferry orders list`, `show` and `resume`: several bookings as one, on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ferry_sdk.cli.commands.orders.list import list_orders
from ferry_sdk.cli.commands.orders.resume import resume_order
from ferry_sdk.cli.commands.orders.show import show_order

COMMANDS: Final[Mapping[str, Callable[..., object]]] = {
    "list": list_orders,
    "show": show_order,
    "resume": resume_order,
}
