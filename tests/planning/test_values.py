"""Trips, fares and reports as values: their sums, their order, their copies and their text."""

import copy
import pickle
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from ferry_sdk import Availability, Tariff
from ferry_sdk.planning.request import flexible_rounds
from ferry_sdk.planning.results import AskedSearch, SearchReport
from ferry_sdk.planning.trips import FoundSailing, TripSearch, one_way, round_trip
from tests.planning.strait import ADULT, DAY

NOON = datetime(2050, 6, 6, 12, tzinfo=timezone.utc)

TARIFFS = st.lists(
    st.builds(
        Tariff.model_construct,
        id=st.uuids().map(str),
        type=st.sampled_from(["Ticket", "Presale", "Option"]),
        amount=st.decimals(0, 10_000, places=2),
        currency=st.sampled_from(["EUR", "GBP", "TND"]),
        roundtrip_locked=st.booleans(),
        expiration_date=st.integers(0, 1000).map(lambda hours: NOON + timedelta(hours=hours)),
    ),
    max_size=6,
)


FACTS = {"amount": 1, "expiration_date": NOON}
KINDS = [("Ticket", "EUR"), ("Ticket", "GBP"), ("Presale", "EUR")]
SOME = [
    Tariff.model_construct(
        id=f"{kind}{currency}{lock}", type=kind, currency=currency, roundtrip_locked=lock, **FACTS
    )
    for kind, currency in KINDS
    for lock in (False, True)
]
"""Each kind in each currency, locked and not."""


def offer(tariffs, hours, company="GNV"):
    depart = NOON + timedelta(hours=hours)
    sailing = Availability.model_construct(
        tariffs=tuple(tariffs),
        places=("a place",),
        depart_at=depart,
        arrive_at=depart + timedelta(hours=10),
        company=type("Company", (), {"id": company}),
    )
    return FoundSailing(sailing, AskedSearch(company, "ITGOA", "ITPMO", DAY))


@given(TARIFFS)
def test_a_way_alone_has_every_fare_that_is_not_locked(tariffs):
    trip = one_way(offer(tariffs, 0))
    free = [one for one in tariffs if not one.roundtrip_locked]
    if not free:
        assert trip is None
        return
    assert sorted(fare.tariffs[0].id for fare in trip.fares) == sorted(one.id for one in free)
    amounts = [fare.amount for fare in trip.fares]
    assert amounts == sorted(amounts)
    assert (trip.price, trip.currency) == (amounts[0], trip.fares[0].currency)
    assert {fare.kind for fare in trip.fares} == {"single"}


@example(SOME, SOME, True, "GNV", 10)
@example(SOME, SOME, False, "GNV", 10)
@example(SOME, SOME, True, "CTN", 10)
@given(TARIFFS, TARIFFS, st.booleans(), st.sampled_from(["GNV", "CTN"]), st.integers(-30, 30))
def test_two_ways_have_the_fares_that_one_booking_can_hold(out, back, are_together, company, hours):
    first, second = offer(out, 0), offer(back, hours, company)
    if are_together:
        second = replace(second, search=first.search)
    trip = round_trip(first, second)
    pairs = {
        (one.id, other.id): one.amount + other.amount
        for one in out
        for other in back
        if hours >= 10
        and one.currency == other.currency
        and one.type == other.type
        and (
            (are_together and company == "GNV")
            or not (one.roundtrip_locked or other.roundtrip_locked)
        )
    }
    if not pairs:
        assert trip is None
        return
    found = {tuple(one.id for one in fare.tariffs): fare.amount for fare in trip.fares}
    assert found == pairs
    assert [*found.values()] == sorted(pairs.values())
    for fare in trip.fares:
        is_locked = any(one.roundtrip_locked for one in fare.tariffs)
        assert fare.kind == ("round_trip" if is_locked else "two_singles")
        assert fare.expires_at == min(one.expiration_date for one in fare.tariffs)
    asked = "GNV" if are_together else company
    assert trip.companies == (("GNV",) if asked == "GNV" else ("GNV", "CTN"))
    assert (trip.outward_company, trip.back_company) == ("GNV", asked)


@given(st.lists(st.tuples(st.decimals(0, 100, places=2), st.integers(0, 99)), max_size=8))
def test_a_search_is_sorted_by_price_then_departure(found):
    tariff = {"currency": "EUR", "roundtrip_locked": False}
    trips = [
        one_way(offer([Tariff.model_construct(amount=amount, **tariff)], hours))
        for amount, hours in found
    ]
    search = TripSearch(trips, SearchReport())
    assert [(trip.price, trip.depart_at) for trip in search] == sorted(
        (amount, NOON + timedelta(hours=hours)) for amount, hours in found
    )


@given(st.dates(), st.integers(0, 40), st.one_of(st.none(), st.integers(0, 40)))
def test_neighbouring_days_are_nearest_first_and_move_together(on, flexible, nights):
    try:
        back = None if nights is None else on + timedelta(nights)
    except OverflowError:
        return
    rounds = flexible_rounds(on, back, flexible)
    assert rounds[0] == ((on, back),)
    neighbours = rounds[1]
    distances = [abs(out - on).days for out, _ in neighbours]
    assert distances == sorted(distances)
    assert len({out for out, _ in neighbours} | {on}) == len(neighbours) + 1
    assert all(distance <= flexible for distance in distances)
    for out, home in neighbours:
        assert (None if home is None else (home - out).days) == nights


def test_results_can_be_copied_and_pickled_and_their_texts_are_short(reader):
    ends, day = ("Genoa", "Tunis"), DAY
    found = reader.trips.search(*ends, on=day, passengers=ADULT)
    calendar = reader.trips.calendar(*ends, start=day, end=day, passengers=ADULT)
    values = (calendar, reader.routes.find(*ends), reader.places.find("Genoa"))
    for way in (copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
        again = way(found)
        assert ([*again], again.report) == ([*found], found.report)
        for value in values:
            assert way(value) == value
    days = {"on": DAY, "back": DAY + timedelta(7), "flexible": 3}
    found = reader.trips.search("Genoa", "Palermo", **days, passengers=ADULT)
    trip = found[0]
    out, back = (f"{way.depart_at:%Y-%m-%d %H:%M}" for way in (trip.outward, trip.back))
    ways = f"ITGOA-ITPMO {out}, back ITPMO-ITGOA {back}, {', '.join(trip.companies)}"
    assert repr(trip) == f"<Trip: {ways}, from {trip.price} {trip.currency}>"
    assert repr(found.report).endswith("0 failed, 0 not_asked>")
    assert max(len(repr(found)), len(repr(found.report))) < 100
