"""A trip on the local service: what to search, whom to book, and when."""

from datetime import UTC, date, datetime

from ferry_sdk.sandbox.network.network import journey_id

NOW = datetime(2050, 5, 3, 9, 1, tzinfo=UTC)
"""When the services of tests start: the same on any day, and ahead of every clock.

No test lasts until a ship leaves or the day ends. What a service offers has not expired for a
client that has not heard the service's time yet.
"""
DAY = date(2050, 6, 2)
"""When the trips of tests begin, well ahead."""

TRAVELLERS = [
    {"type": "Adult", "gender": "Female", "age": 34},
    {"type": "Child", "gender": "Male", "age": 7},
]
PASSENGERS = [
    traveller | {"first_name": name, "last_name": "Okonkwo"}
    for traveller, name in zip(TRAVELLERS, ("Marguerite", "Théo"), strict=True)
]


def search_arguments(*, company="CTN", depart="FRMRS", arrive="TNLGN"):
    """Return the arguments of a search for the trip."""
    return {
        "company": company,
        "depart_code": depart,
        "arrive_code": arrive,
        "out_journey_id": journey_id(depart, arrive),
        "out_at": DAY,
        "out_time": "00:00",
        "passengers": TRAVELLERS,
    }


def found(ferry, **which):
    """Search for the trip and return its first sailing."""
    return ferry.availability.search(**search_arguments(**which))[0]


def selected(ferry, place=0):
    """Search for the trip and select a ticket for it."""
    sailing = found(ferry)
    tariff = next(one for one in sailing.tariffs if one.type == "Ticket")
    return sailing.select(tariff=tariff, place=sailing.places[place])


def booked(ferry, **which):
    """Book the trip."""
    availability = found(ferry, **which)
    selection = availability.select(tariff=availability.tariffs[0], place=availability.places[0])
    return ferry.bookings.create(availabilities=[selection], passengers=PASSENGERS)
