"""Helpers: searches of the local service at a frozen time."""

from datetime import date, time, timedelta

from offline_service import NOW, search_request

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.offers.accommodation import Traveller
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.searches import Search

NETWORK = Network.load()
PAIRS = [
    (NETWORK.companies[code], journey)
    for journey in NETWORK.journeys.values()
    for code in journey.route.companies
]
DAYS = [date(2026, 7, 13) + timedelta(days=number) for number in range(7)]
ADULT = Traveller("Adult", 35, "Female")
FAMILY = (ADULT, Traveller("Adult", 36, "Male"), Traveller("Child", 8, "Male"))
FAMILY += (Traveller("Infant", 1, "Female"),)


def at(moment=NOW, seed=1):
    return Offers(Clock(moment, frozen=True), seed)


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
    **changes,
):
    request = search_request((company, depart, arrive), day, back) | changes
    request |= {"out_time": f"{earliest:%H:%M}", "out_is_open": is_open}
    request |= {"ret_is_open": is_open and back is not None}
    passengers = [
        {"order": order, "type": each.kind, "param": each.kind[0], "age": each.age}
        | {"gender": each.gender}
        for order, each in enumerate(party, start=1)
    ]
    body = {"request": request, "passengers": passengers}
    return Search.read(body | {"vehicle": vehicle and {"code": vehicle}})


SHORT = ("BALEARIA", "ESALG", "MAPTM")
NIGHT = ("GNV", "ITGOA", "ITPMO")


def nightly(offers=None, **how):
    """Return the first result within a week on an overnight route."""
    offers = offers or at()
    answers = (offers.search(query(*NIGHT, day, **how)) for day in DAYS)
    return next(each for each in answers if each)
