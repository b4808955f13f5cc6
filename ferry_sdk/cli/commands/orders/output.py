"""Orders as the commands print them, and their common argument."""

from __future__ import annotations

from typing import Annotated

import typer

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.output import members_of, moment
from ferry_sdk.orders import Order, OrderPart

OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id.")]


def order_members(order: Order) -> dict[str, object]:
    """Return an order as a JSON object."""
    names = ("booking_id", "role", "state", "total", "currency", "expires_at")
    parts = [members_of(part, *names) for part in order.parts]
    return {**members_of(order, "id", "kind", "state"), "parts": parts}


def order_details(order: Order) -> list[tuple[str, object]]:
    """Return an order as names and values."""
    details: list[tuple[str, object]] = [
        ("kind", order.kind),
        ("state", order.state),
        ("order", order.id),
    ]
    for number, part in enumerate(order.parts, 1):
        role = part.role if order.kind == "change" else "booking"
        details.append((f"{role} {number}", _describe(part)))
    return details


def _describe(part: OrderPart) -> str:
    text = f"{part.booking_id or 'no booking'}, {part.state}"
    if part.total is not None:
        text += f", {money(part.total, part.currency or '')}"
    if part.state == "held":
        text += f", lapses {moment(part.expires_at)}"
    return text
