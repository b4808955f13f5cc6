"""What a ship offers besides the passage: meals, and room for animals."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ferry_sdk.sandbox.network.network import packaged
from ferry_sdk.sandbox.offers.accommodation import groups_of

if TYPE_CHECKING:
    from ferry_sdk.sandbox.network.timetable import Sailing


def meals_on(sailing: Sailing, language: str) -> list[dict[str, object]]:
    """The meals served on a sailing, with the price of each for one person."""
    groups = groups_of(sailing.journey.route)
    return [
        {
            "id": f"{sailing.id}.{meal['code']}",
            "code": meal["code"],
            "name": meal["names"].get(language, meal["names"]["en"]),
            "price": meal["price"] / 100,
            "currency": "Eur",
        }
        for meal in _meals()
        if meal["on"] in groups
    ]


def animals_on(sailing: Sailing) -> dict[str, object] | None:
    """How animals travel; None where a ship takes none, as fast ones do."""
    route = sailing.journey.route
    if route.fast:
        return None
    return {"allowed": True, "kennel": route.overnight, "cabin": route.overnight}


@functools.cache
def _meals() -> list[dict[str, Any]]:
    return packaged("meals.json")["meals"]
