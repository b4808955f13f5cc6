"""The types of places, routes, trips and vehicles, on both clients."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, assert_type

import ferry_sdk as sdk
from ferry_sdk import TripSearch

if TYPE_CHECKING:
    from ferry_sdk import AsyncFerry, Ferry, SearchPassengerDict

DAY = date(2050, 6, 6)


def plan(ferry: Ferry, party: list[SearchPassengerDict]) -> None:
    assert_type(ferry.places.find("Genoa"), sdk.Matches[sdk.PlaceMatch])
    assert_type(ferry.places.find("Genoa").unreadable, tuple[sdk.UnreadableAnswer, ...])
    assert_type(ferry.places.get("Genoa"), sdk.Port)
    assert_type(ferry.routes.find("Genoa"), sdk.Matches[sdk.Route])
    assert_type(ferry.vehicles.find("golf"), sdk.Matches[sdk.VehicleMatch])
    trips = ferry.trips.search("Genoa", "Tunis", on=DAY, passengers=party)
    assert_type(trips, TripSearch)
    assert_type(trips[0].select(), tuple[sdk.Selection, ...])
    assert_type(ferry.trips.stream("Genoa", "Tunis", on=DAY, passengers=party), sdk.TripStream)
    calendar = ferry.trips.calendar("Genoa", "Tunis", start=DAY, end=DAY, passengers=party)
    assert_type(calendar, sdk.PriceCalendar)


async def plan_async(ferry: AsyncFerry, party: list[SearchPassengerDict]) -> None:
    assert_type(await ferry.places.get("Genoa"), sdk.Port)
    assert_type(await ferry.trips.search("Genoa", "Tunis", on=DAY, passengers=party), TripSearch)
    stream = ferry.trips.stream("Genoa", "Tunis", on=DAY, passengers=party)
    assert_type(stream, sdk.AsyncTripStream)
    async for trip in stream:
        assert_type(trip.select(), tuple[sdk.Selection, ...])
