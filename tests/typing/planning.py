"""The types of places, routes, trips and vehicles, on both clients."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from typing_extensions import assert_type

from ferry_sdk import (
    AsyncTripStream,
    PlaceMatch,
    Port,
    PriceCalendar,
    Route,
    Selection,
    TripSearch,
    TripStream,
    VehicleMatch,
)

if TYPE_CHECKING:
    from ferry_sdk import (
        AsyncFerry,
        Ferry,
        SearchPassengerDict,
    )

DAY = date(2050, 6, 6)


def plan(ferry: Ferry, party: list[SearchPassengerDict]) -> None:
    assert_type(ferry.places.find("Genoa"), tuple[PlaceMatch, ...])
    assert_type(ferry.places.get("Genoa"), Port)
    assert_type(ferry.routes.find("Genoa"), tuple[Route, ...])
    assert_type(ferry.vehicles.find("golf"), tuple[VehicleMatch, ...])
    trips = ferry.trips.search("Genoa", "Tunis", on=DAY, passengers=party)
    assert_type(trips, TripSearch)
    assert_type(trips[0].select(), tuple[Selection, ...])
    assert_type(ferry.trips.stream("Genoa", "Tunis", on=DAY, passengers=party), TripStream)
    calendar = ferry.trips.calendar("Genoa", "Tunis", start=DAY, end=DAY, passengers=party)
    assert_type(calendar, PriceCalendar)


async def plan_async(ferry: AsyncFerry, party: list[SearchPassengerDict]) -> None:
    assert_type(await ferry.places.get("Genoa"), Port)
    assert_type(await ferry.trips.search("Genoa", "Tunis", on=DAY, passengers=party), TripSearch)
    stream = ferry.trips.stream("Genoa", "Tunis", on=DAY, passengers=party)
    assert_type(stream, AsyncTripStream)
    async for trip in stream:
        assert_type(trip.select(), tuple[Selection, ...])
