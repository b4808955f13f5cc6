"""A trip on the local service: what to search, whom to book, and when."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, TypedDict

from ferry_sdk.sandbox.network.network import journey_id

if TYPE_CHECKING:
    from ferry_sdk import Availability, BookingCreated, Ferry
    from ferry_sdk.models import PassengerDict, SearchPassengerDict

NOW = datetime(2050, 5, 3, 9, 1, tzinfo=timezone.utc)
"""When the services of tests start: the same on any day, and ahead of every clock.

No test lasts until a ship leaves or the day ends. What a service offers has not expired for a
client that has not heard the service's time yet.
"""
DAY = date(2050, 6, 2)
"""When the trips of tests begin, well ahead."""

TRAVELLERS: list[SearchPassengerDict] = [
    {"type": "Adult", "gender": "Female", "age": 34},
    {"type": "Child", "gender": "Male", "age": 7},
]
PASSENGERS: list[PassengerDict] = [
    {
        "type": "Adult",
        "first_name": "Marguerite",
        "last_name": "Okonkwo",
        "gender": "Female",
        "age": 34,
    },
    {
        "type": "Child",
        "first_name": "Théo",
        "last_name": "Okonkwo",
        "gender": "Male",
        "age": 7,
    },
]


class Search(TypedDict):
    company: str
    depart_code: str
    arrive_code: str
    out_journey_id: str
    out_at: date
    out_time: str
    passengers: list[SearchPassengerDict]


def search_arguments(
    *, company: str = "CTN", depart: str = "FRMRS", arrive: str = "TNLGN"
) -> Search:
    """A search that finds something."""
    return {
        "company": company,
        "depart_code": depart,
        "arrive_code": arrive,
        "out_journey_id": journey_id(depart, arrive),
        "out_at": DAY,
        "out_time": "00:00",
        "passengers": TRAVELLERS,
    }


def found(ferry: Ferry, **which: str) -> Availability:
    """A sailing of the local service's."""
    return ferry.availability.search(**search_arguments(**which))[0]


def booked(ferry: Ferry, **which: str) -> BookingCreated:
    """A booking of the local service's, not yet confirmed."""
    availability = found(ferry, **which)
    selection = availability.select(tariff=availability.tariffs[0], place=availability.places[0])
    return ferry.bookings.create(availabilities=[selection], passengers=PASSENGERS)
