"""Wishes and their rules as the commands print them, and their common argument."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import typer

from ferry_sdk._runtime.money import exact_amount, money
from ferry_sdk.offers import Below, Drop, Opens, Wish

KEY_HELP = "A name of your choice for the wish."
WishKey = Annotated[str, typer.Argument(metavar="KEY", help=KEY_HELP)]


def describe_rule(rule: Below | Drop | Opens) -> str:
    """Return a rule in words, such as "below 90.00 EUR"."""
    match rule:
        case Below():
            return f"below {money(Decimal(rule.amount), rule.currency)}"
        case Drop(amount=None):
            return f"drop of {rule.percent} %"
        case Drop():
            return f"drop of {money(Decimal(rule.amount or 0), rule.currency or '')}"
        case Opens():
            return "opens" if rule.place is None else f"opens {rule.place}"


def rule_members(rule: Below | Drop | Opens) -> dict[str, object]:
    """Return a rule as a JSON object."""
    match rule:
        case Below():
            amount = exact_amount(Decimal(rule.amount), rule.currency)
            return {"kind": "below", "amount": amount, "currency": rule.currency}
        case Drop(amount=None):
            return {"kind": "drop", "percent": str(rule.percent)}
        case Drop():
            amount = exact_amount(Decimal(rule.amount or 0), rule.currency or "")
            return {"kind": "drop", "amount": amount, "currency": rule.currency}
        case Opens():
            return {"kind": "opens", "place": rule.place}


def wish_members(key: str, wish: Wish) -> dict[str, object]:
    """Return a wish as a JSON object."""
    times = wish.depart_between or (None, None)
    return {
        "key": key,
        "origin": wish.origin,
        "destination": wish.destination,
        "days": [str(day) for day in wish.days],
        "vehicle": wish.vehicle,
        "companies": wish.companies,
        "depart_between": [None if each is None else f"{each:%H:%M}" for each in times],
        "reservation_type": wish.reservation_type,
        "rules": [rule_members(rule) for rule in wish.rules],
    }


def wish_details(key: str, wish: Wish) -> list[tuple[str, object]]:
    """Return a wish as names and values."""
    return [
        ("wish", key),
        ("route", f"{wish.origin} → {wish.destination}"),
        ("days", " to ".join(str(day) for day in dict.fromkeys(wish.days))),
        ("vehicle", wish.vehicle),
        ("companies", ", ".join(wish.companies or ())),
        ("rules", ", ".join(describe_rule(rule) for rule in wish.rules)),
    ]
