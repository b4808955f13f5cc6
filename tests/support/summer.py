"""A summer that stands still on the local service, and trips in it."""

from datetime import UTC, date, datetime

from ferry_sdk.sandbox.network.network import journey_id
from tests.support.trip import search_arguments

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = date(2026, 7, 14)
BACK = date(2026, 7, 21)
ONE_TICKET = ("BALEARIA", "ESALG", "MAPTM")
TWO_TICKETS = ("GNV", "ITGOA", "ITPMO")
CAR = "ABARTH__595"
PARTY = [{"type": "Adult", "gender": "Female", "age": 34}]
TRAVELLER = {"type": "Adult", "first_name": "Marguerite", "last_name": "Okonkwo"}


def stopped(sandbox):
    """Stop the clock of the service at the start of this summer."""
    sandbox.clock.freeze()
    sandbox.clock.travel_to(NOW)
    return sandbox


def search(line=TWO_TICKETS, *, back=False, **more):
    """Return the arguments of a search for a trip, or for a return trip."""
    company, depart, arrive = line
    trip = search_arguments(company=company, depart=depart, arrive=arrive)
    trip |= {"out_at": DAY, "passengers": PARTY}
    if back:
        trip |= {"ret_journey_id": journey_id(arrive, depart), "ret_at": BACK, "ret_time": "00:00"}
    return trip | more


def chosen(found, kind="Ticket"):
    """Select the first sailing of each direction with the first tariff of this type."""
    firsts = {}
    for availability in found:
        firsts.setdefault(availability.direction, availability)
    return [
        one.select(
            tariff=next(
                tariff
                for tariff in one.tariffs
                if tariff.type == kind and not tariff.roundtrip_locked
            ),
            place=one.places[0],
        )
        for one in firsts.values()
    ]


def ids_of(selection):
    """Return the ids of a selection."""
    return selection.model_dump(include={"availability_id", "tariff_id", "place_id"})


def booked(ferry, *, kind="Ticket", back=False, **more):
    """Book a trip."""
    selections = chosen(ferry.availability.search(**search(back=back)), kind)
    return ferry.bookings.create(availabilities=selections, passengers=[TRAVELLER], **more)


def ticket_of(ferry, **more):
    """Book and confirm a trip, and return its ticket."""
    return ferry.tickets.get(ferry.bookings.confirm(booked(ferry, **more).booking_id).ticket_id)
