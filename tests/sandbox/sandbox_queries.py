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
    """Return the offers of a service at a frozen time."""
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
    """Return a search for a party on a day, with a return on the day `back` if given."""
    request = {
        **search_request((company, depart, arrive), day, back),
        **changes,
        "out_time": f"{earliest:%H:%M}",
        "out_is_open": is_open,
        "ret_is_open": is_open and back is not None,
    }
    passengers = [
        {
            "order": order,
            "type": traveller.kind,
            "param": traveller.kind[0],
            "age": traveller.age,
            "gender": traveller.gender,
        }
        for order, traveller in enumerate(party, start=1)
    ]
    body = {"request": request, "passengers": passengers}
    if vehicle is not None:
        body["vehicle"] = {"code": vehicle}
    return Search.read(body)


SHORT = ("BALEARIA", "ESALG", "MAPTM")
NIGHT = ("GNV", "ITGOA", "ITPMO")


def nightly(offers=None, **how):
    """Return the first result within a week on an overnight route."""
    offers = offers or at()
    answers = (offers.search(query(*NIGHT, day, **how)) for day in DAYS)
    return next(each for each in answers if each)
