"""A trip on the local service: what to search, whom to book, and when."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, TypedDict

from ferry_sdk import AvailabilityError
from ferry_sdk.sandbox.network import journey_id

if TYPE_CHECKING:
    from ferry_sdk import Availability, BookingCreated, Ferry, Records
    from ferry_sdk.models import PassengerDict, SearchPassengerDict

_TOMORROW = datetime.now(timezone.utc).date() + timedelta(days=1)
NOW = datetime.combine(_TOMORROW, time(9, 1), timezone.utc)
"""When the services of tests start: no test lasts until a ship leaves or the day ends.

It is ahead of every clock, so what a service offers has not expired for a client that has not
heard the service's time yet.
"""
TODAY = NOW.date()
DAY = TODAY + timedelta(days=30)
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
    ferry: Ferry, *, company: str = "CTN", depart: str = "FRMRS", arrive: str = "TNLGN"
) -> Search:
    """A search that finds something: on the first day, well ahead, on which something sails."""
    arguments, _ = _searched(ferry, company, depart, arrive)
    return arguments


def found(
    ferry: Ferry, *, company: str = "CTN", depart: str = "FRMRS", arrive: str = "TNLGN"
) -> Availability:
    """A sailing of the local service's."""
    _, sailings = _searched(ferry, company, depart, arrive)
    return sailings[0]


def _searched(
    ferry: Ferry, company: str, depart: str, arrive: str
) -> tuple[Search, Records[Availability]]:
    arguments: Search = {
        "company": company,
        "depart_code": depart,
        "arrive_code": arrive,
        "out_journey_id": journey_id(depart, arrive),
        "out_at": DAY,
        "out_time": "00:00",
        "passengers": TRAVELLERS,
    }
    for later in range(15):
        arguments["out_at"] = DAY + timedelta(days=later)
        with suppress(AvailabilityError):
            return arguments, ferry.availability.search(**arguments)
    raise LookupError("nothing sails for a fortnight")


def booked(ferry: Ferry, **which: str) -> BookingCreated:
    """A booking of the local service's, not yet confirmed."""
    availability = found(ferry, **which)
    selection = availability.select(tariff=availability.tariffs[0], place=availability.places[0])
    return ferry.bookings.create(availabilities=[selection], passengers=PASSENGERS)
