"""Find the cheapest day of a month from Genoa to Palermo, with a car."""

from __future__ import annotations

from datetime import date, timedelta

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox


def main(ferry: Ferry) -> None:
    """Print the cheapest fare of each day, and the cheapest of all."""
    calendar = ferry.trips.calendar(
        "Genoa",
        "Palermo",
        start=date.today() + timedelta(days=60),
        end=date.today() + timedelta(days=90),
        passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
        vehicle={"code": "FIAT__500"},
    )
    for day in calendar.values():
        print(f"{day.day:%a %d %b}", day.price or "-", day.company or "")
    if best := calendar.cheapest:
        print(f"The cheapest: {best.price} {best.currency}, {best.depart_at:%a %d %b %H:%M}")


if __name__ == "__main__":
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as client:
        main(client)
