"""Helpers: searches of the local service at a frozen time."""

from datetime import date, datetime, time, timedelta, timezone

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import Network, journey_id
from ferry_sdk.sandbox.offers.accommodation import Traveller
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.searches import (
    Search,
    SearchedPassenger,
    SearchedVehicle,
    SearchRequest,
)

NETWORK = Network.load()
PAIRS = [
    (NETWORK.companies[code], journey)
    for journey in NETWORK.journeys.values()
    for code in journey.route.companies
]
NOW = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
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
    request = {"company": company, "depart_code": depart, "arrive_code": arrive}
    request |= {"out_journey_id": journey_id(depart, arrive), "out_at": day}
    request |= {"out_time": earliest, "out_is_open": is_open}
    if back is not None:
        request["ret_journey_id"] = journey_id(arrive, depart)
        request |= {"ret_at": back, "ret_time": time(0), "ret_is_open": is_open}
    return Search.model_construct(
        request=SearchRequest.model_construct(**{**request, **changes}),
        passengers=[
            SearchedPassenger.model_construct(
                order=order, type=one.kind, age=one.age, gender=one.gender
            )
            for order, one in enumerate(party, start=1)
        ],
        vehicle=vehicle and SearchedVehicle.model_construct(code=vehicle),
    )


SHORT = ("BALEARIA", "ESALG", "MAPTM")
NIGHT = ("GNV", "ITGOA", "ITPMO")


def nightly(offers=None, **how):
    """Return the first result within a week on an overnight route."""
    offers = offers or at()
    answers = (offers.search(query(*NIGHT, day, **how)) for day in DAYS)
    return next(each for each in answers if each)
