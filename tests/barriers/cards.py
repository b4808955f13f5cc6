"""A page with every kind of card and table that a notebook shows: cards.py FOLDER."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferry_sdk import Ferry, Traveller, Travellers
from ferry_sdk.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cards</title>
<style>:root {{ background: Canvas; color-scheme: light dark; font-family: sans-serif }}</style>
<main><h1>Cards</h1>{}</main>
</html>
"""


def shown(ferry: Ferry) -> Iterator[Any]:
    """Yield what a notebook shows, of a search, a booking, its tickets and its cancellation."""
    day = date.today() + timedelta(days=30)  # noqa: DTZ011 -- the day of the port
    party: Any = [{"type": "Adult", "gender": "Female", "age": 34}]
    trips = ferry.trips.search("Tarifa", "MATNG", on=day, passengers=party)
    yield from (trips, trips[0], trips[0].outward)
    yield ferry.trips.calendar(
        "Tarifa", "MATNG", start=day, end=day + timedelta(days=6), passengers=party
    )
    week = [day + timedelta(days=number) for number in range(7)]  # they do not sail every day
    ports = ("Tunis (La Goulette)", "Algiers")
    searches = (ferry.trips.connections(*ports, on=on, passengers=party) for on in week)
    found = next(filter(None, searches))
    yield from (found, found[0])
    places = ferry.places.find("Tang")
    yield from (places, places[0], ferry.routes.find("Tarifa"), ferry.catalogue.ports())
    yield Travellers([Traveller(type="Adult", first_name="Ada", last_name="Reyes")])
    booking = ferry.bookings.create(
        availabilities=trips[0].select(),
        passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
    )
    yield from (booking, ferry.bookings.confirm(booking.booking_id))
    sold = ferry.bookings.wait(booking.booking_id, until="ticketed", deadline=60)
    yield from (sold, ferry.tickets.get(sold.tickets[0].id))
    yield ferry.bookings.cancel_fee(booking.booking_id)
    yield ferry.bookings.cancel(booking.booking_id, max_penalty="1000")


def main(folder: Path) -> None:
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        cards = [one._repr_html_() for one in shown(ferry)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(PAGE.format("".join(cards)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
