"""Helpers: searches of the local service at a frozen time."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import Network, journey_id
from ferry_sdk.sandbox.offers.offers import Leg, Offers, SearchQuery, Traveller

NETWORK = Network.load()
PAIRS = [
    (NETWORK.companies[code], journey)
    for journey in NETWORK.journeys.values()
    for code in journey.route.companies
]
NOW = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
DAYS = [date(2026, 7, 13) + timedelta(days=number) for number in range(7)]
ADULT = Traveller("Adult", 35, "Female")
FAMILY = (
    ADULT,
    Traveller("Adult", 36, "Male"),
    Traveller("Child", 8, "Male"),
    Traveller("Infant", 1, "Female"),
)


def at(moment=NOW, seed=1):
    clock = Clock()
    clock.freeze()
    clock.travel_to(moment)
    return Offers(NETWORK, clock, seed)


def leg(depart, arrive, day, earliest=time(0), is_open=False):
    return Leg(journey_id(depart, arrive), depart, arrive, day, earliest, is_open)


def query(
    company,
    depart,
    arrive,
    day,
    *,
    back=None,
    party=(ADULT,),
    vehicle=None,
    is_open=False,
    earliest=time(0),
):
    return SearchQuery(
        company,
        leg(depart, arrive, day, earliest, is_open),
        None if back is None else leg(arrive, depart, back, is_open=is_open),
        party,
        None if vehicle is None else NETWORK.vehicle(vehicle),
    )


SHORT = ("BALEARIA", "ESALG", "MAPTM")
NIGHT = ("GNV", "ITGOA", "ITPMO")


def nightly(offers=None, **how):
    """Return the first result within a week on an overnight route."""
    offers = offers or at()
    answers = (offers.search(query(*NIGHT, day, **how)) for day in DAYS)
    return next(each for each in answers if each)
