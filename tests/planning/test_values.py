"""Trips, fares and reports as values: their sums, their order, their copies and their text."""

import copy
import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ferry_sdk import Availability, Tariff
from ferry_sdk.planning.request import flexible_rounds
from ferry_sdk.planning.results import AskedSearch, SearchReport
from ferry_sdk.planning.trips import FoundSailing, TripSearch, one_way, round_trip
from tests.planning.strait import ADULT, DAY

NOON = datetime(2050, 6, 6, 12, tzinfo=UTC)

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


def tariff_of(kind, currency, *, is_locked):
    return Tariff.model_construct(
        id=f"{kind}{currency}{is_locked}",
        type=kind,
        amount=1,
        currency=currency,
        roundtrip_locked=is_locked,
        expiration_date=NOON,
    )


SOME = [
    tariff_of("Ticket", "EUR", is_locked=False),
    tariff_of("Ticket", "EUR", is_locked=True),
    tariff_of("Ticket", "GBP", is_locked=False),
    tariff_of("Ticket", "GBP", is_locked=True),
    tariff_of("Presale", "EUR", is_locked=False),
    tariff_of("Presale", "EUR", is_locked=True),
]


def sailing_of(tariffs, hours, company="GNV"):
    """Return a sailing with these tariffs, so many hours after noon, that a search has found."""
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
def test_one_way_has_every_unlocked_fare(tariffs):
    trip = one_way(sailing_of(tariffs, 0))
    unlocked = [tariff.id for tariff in tariffs if not tariff.roundtrip_locked]
    if not unlocked:
        assert trip is None
        return
    assert sorted(fare.tariffs[0].id for fare in trip.fares) == sorted(unlocked)
    amounts = [fare.amount for fare in trip.fares]
    assert amounts == sorted(amounts)
    assert (trip.price, trip.currency) == (amounts[0], trip.fares[0].currency)
    assert {fare.kind for fare in trip.fares} == {"single"}


@example(SOME, SOME, True, "GNV", 10)
@example(SOME, SOME, False, "GNV", 10)
@example(SOME, SOME, True, "CTN", 10)
@given(TARIFFS, TARIFFS, st.booleans(), st.sampled_from(["GNV", "CTN"]), st.integers(-30, 30))
def test_round_trip_has_the_fares_of_one_booking(out, back, are_together, company, hours):
    """The way back leaves so many hours after the way out, which takes ten."""
    first, second = sailing_of(out, 0), sailing_of(back, hours, company)
    if are_together:
        second = replace(second, search=first.search)
    trip = round_trip(first, second)

    def may_be_combined(one, other):
        is_locked = one.roundtrip_locked or other.roundtrip_locked
        may_be_locked = are_together and company == "GNV"
        return (
            hours >= 10
            and one.currency == other.currency
            and one.type == other.type
            and (may_be_locked or not is_locked)
        )

    pairs = {
        (one.id, other.id): one.amount + other.amount
        for one, other in product(out, back)
        if may_be_combined(one, other)
    }
    if not pairs:
        assert trip is None
        return
    amounts = {tuple(tariff.id for tariff in fare.tariffs): fare.amount for fare in trip.fares}
    assert amounts == pairs
    assert [*amounts.values()] == sorted(pairs.values())
    for fare in trip.fares:
        is_locked = any(tariff.roundtrip_locked for tariff in fare.tariffs)
        assert fare.kind == ("round_trip" if is_locked else "two_singles")
        assert fare.expires_at == min(tariff.expiration_date for tariff in fare.tariffs)
    back_company = "GNV" if are_together else company
    assert trip.companies == (("GNV",) if back_company == "GNV" else ("GNV", "CTN"))
    assert (trip.outward_company, trip.back_company) == ("GNV", back_company)


@given(st.lists(st.tuples(st.decimals(0, 100, places=2), st.integers(0, 99)), max_size=8))
def test_search_is_sorted_by_price_then_departure(sailings):
    tariff = {"currency": "EUR", "roundtrip_locked": False}
    trips = [
        one_way(sailing_of([Tariff.model_construct(amount=amount, **tariff)], hours))
        for amount, hours in sailings
    ]
    search = TripSearch(trips, SearchReport())
    assert [(trip.price, trip.depart_at) for trip in search] == sorted(
        (amount, NOON + timedelta(hours=hours)) for amount, hours in sailings
    )


@given(st.dates(), st.integers(0, 40), st.one_of(st.none(), st.integers(0, 40)))
def test_neighbouring_days_come_nearest_first(on, flexible, nights):
    try:
        back = None if nights is None else on + timedelta(nights)
    except OverflowError:
        return
    first, neighbours = flexible_rounds(on, back, flexible)
    assert first == ((on, back),)
    distances = [abs(days.out - on).days for days in neighbours]
    assert distances == sorted(distances)
    assert all(distance <= flexible for distance in distances)
    assert len({days.out for days in neighbours} | {on}) == len(neighbours) + 1
    for days in neighbours:
        assert (None if days.back is None else (days.back - days.out).days) == nights


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.fixture(scope="module")
def trips(reader):
    return reader.trips.search("Genoa", "Tunis", on=DAY, passengers=ADULT)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickled])
class TestCopies:
    def test_trips_are_equal(self, trips, duplicate):
        again = duplicate(trips)
        assert ([*again], again.report) == ([*trips], trips.report)

    def test_calendar_is_equal(self, reader, duplicate):
        days = {"start": DAY, "end": DAY}
        calendar = reader.trips.calendar("Genoa", "Tunis", **days, passengers=ADULT)
        assert duplicate(calendar) == calendar

    def test_routes_are_equal(self, reader, duplicate):
        routes = reader.routes.find("Genoa", "Tunis")
        assert duplicate(routes) == routes

    def test_places_are_equal(self, reader, duplicate):
        places = reader.places.find("Genoa")
        assert duplicate(places) == places


@pytest.fixture(scope="module")
def both_ways(reader):
    days = {"on": DAY, "back": DAY + timedelta(7), "flexible": 3}
    return reader.trips.search("Genoa", "Palermo", **days, passengers=ADULT)


class TestTexts:
    def test_trip_has_both_ways(self, both_ways):
        trip = both_ways[0]
        out, back = (f"{way.depart_at:%Y-%m-%d %H:%M}" for way in (trip.outward, trip.back))
        ways = f"ITGOA-ITPMO {out}, back ITPMO-ITGOA {back}, {', '.join(trip.companies)}"
        assert repr(trip) == f"<Trip: {ways}, from {trip.price} {trip.currency}>"

    def test_report_counts_searches(self, both_ways):
        assert repr(both_ways.report).endswith("0 failed, 0 not_asked>")

    def test_texts_are_short(self, both_ways):
        assert max(len(repr(both_ways)), len(repr(both_ways.report))) < 100
