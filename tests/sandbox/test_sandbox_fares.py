"""Fares: their factors and the age bands of the company."""

import dataclasses
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from sandbox_queries import NETWORK, PAIRS

from ferry_sdk.sandbox.bookings.selection import age_on
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Timetable
from ferry_sdk.sandbox.offers.accommodation import Party, Traveller
from ferry_sdk.sandbox.offers.fares import Fares, euros
from tests.support.tables import each

NOW = datetime(2026, 1, 10, 12, tzinfo=timezone.utc)

pairs = st.sampled_from(PAIRS)
seeds = st.integers(0, 2**64)


def first_sailing(seed, company, journey, month):
    timetable = Timetable(SeededRandom(seed))
    return next(timetable.sailings_from(company, journey, date(2026, month, 13), 14))


@given(seeds, pairs, st.integers(0, 99), st.integers(0, 99))
def test_an_older_passenger_never_pays_less(seed, pair, one, other):
    sailing = first_sailing(seed, *pair, 7)
    younger, older = sorted((one, other))
    fares = Fares(SeededRandom(seed))
    assert fares.passenger(sailing, younger, NOW) <= fares.passenger(sailing, older, NOW)


@given(seeds, pairs)
def test_a_child_pays_less_than_an_adult_and_an_infant_nothing(seed, pair):
    company, _ = pair
    sailing = first_sailing(seed, *pair, 7)
    fares = Fares(SeededRandom(seed))
    adult = fares.passenger(sailing, company.child_below, NOW)
    child = fares.passenger(sailing, company.child_below - 1, NOW)
    infant = fares.passenger(sailing, company.infant_below - 1, NOW)
    assert adult > child > infant == 0


@given(seeds, pairs, st.integers(0, 700))
def test_july_costs_more_than_february(seed, pair, hours):
    company, journey = pair
    if journey.route.season not in {"all-year", "mostly summer"}:
        return
    now = datetime(2025, 12, 1, tzinfo=timezone.utc) + timedelta(hours=hours)
    fares = Fares(SeededRandom(seed))
    february = first_sailing(seed, company, journey, 2)
    july = first_sailing(seed, company, journey, 7)
    assert fares.adult(july, now) > fares.adult(february, now)


@given(seeds, pairs, st.integers(0, 4000), st.integers(0, 4000))
def test_prices_rise_as_departure_approaches(seed, pair, one, other):
    sailing = first_sailing(seed, *pair, 7)
    late, early = sorted((one, other))
    fares = Fares(SeededRandom(seed))
    assert fares.adult(sailing, sailing.depart_at - timedelta(hours=late)) >= fares.adult(
        sailing, sailing.depart_at - timedelta(hours=early)
    )


cars = st.sampled_from(list(NETWORK.vehicle_models.values()))
by_road = st.sampled_from([each for each in PAIRS if each[1].route.vehicles])


@given(seeds, by_road, cars, cars)
def test_the_longer_and_higher_of_two_vehicles_costs_no_less(seed, pair, one, other):
    sailing = first_sailing(seed, *pair, 7)
    fares = Fares(SeededRandom(seed))
    wheels = {"MOTORCYCLE", "SCOOTER"}
    smaller, larger = sorted((one, other), key=lambda each: each.length)
    if smaller.height <= larger.height and (larger.type.code not in wheels):
        assert fares.vehicle(sailing, smaller, NOW) <= fares.vehicle(sailing, larger, NOW)


def test_trailers_motorcycles_and_bicycles_are_cheap():
    sailing = first_sailing(1, NETWORK.companies["CTN"], journey("FRMRS", "TNLGN"), 7)
    fares = Fares(SeededRandom(1))
    price = {
        code: fares.vehicle(sailing, NETWORK.vehicle(f"GENERIC__{code}"), NOW)
        for code in ("BICYCLE", "SCOOTER", "MOTORCYCLE", "CAR", "TRAILER", "VAN", "MOTORHOME")
    }
    assert price["BICYCLE"] < price["SCOOTER"] < price["MOTORCYCLE"] < price["CAR"]
    assert price["TRAILER"] < price["VAN"] < price["MOTORHOME"]
    assert price["BICYCLE"] * 5 < price["CAR"]


def test_a_vehicle_above_the_height_limit_of_the_company_costs_more():
    company = NETWORK.companies["CTN"]
    sailing = first_sailing(1, company, journey("FRMRS", "TNLGN"), 7)
    fares = Fares(SeededRandom(1))
    car = NETWORK.vehicle("FIAT__500")
    prices = [
        fares.vehicle(sailing, type(car)("X", "X", "X", car.type, car.length, height), NOW)
        for height in (company.low_vehicle, company.low_vehicle + 0.01, 2.6, 2.61)
    ]
    assert prices[0] < prices[1] == prices[2] < prices[3]


def test_a_longer_route_costs_more():
    fares = Fares(SeededRandom(1))
    gnv = NETWORK.companies["GNV"]
    near = first_sailing(1, gnv, journey("ITPMO", "TNLGN"), 7)
    far = first_sailing(1, gnv, journey("ITGOA", "TNLGN"), 7)
    assert fares.adult(near, NOW) < fares.adult(far, NOW)


def test_a_fast_ship_costs_more():
    sailing = first_sailing(1, NETWORK.companies["VIRTU"], journey("ITPZL", "MTMLA"), 7)
    there = sailing.journey
    slow = dataclasses.replace(
        sailing,
        journey=dataclasses.replace(there, route=dataclasses.replace(there.route, fast=False)),
    )
    fares = Fares(SeededRandom(1))
    assert fares.adult(sailing, NOW) > fares.adult(slow, NOW)


def test_a_weekend_costs_more_than_the_days_before():
    timetable = Timetable(SeededRandom(1))
    company, there = NETWORK.companies["ORESUND"], journey("SEHEL", "DKHLS")
    fares = Fares(SeededRandom(1))
    now = datetime(2026, 7, 1, tzinfo=timezone.utc)

    def mean(day):
        prices = [
            fares.adult(each, now)
            for each in timetable.sailings(company, there, date(2026, 7, day))
        ]
        return sum(prices) / len(prices)

    assert mean(17) > mean(16) * 1.05  # Friday and Thursday


def test_fares_are_between_4_and_600_euros():
    fares = Fares(SeededRandom(1))
    for pair in PAIRS:
        sailing = first_sailing(1, *pair, 7)
        assert 400 < fares.adult(sailing, NOW) < 60_000


def test_companies_have_different_age_bands():
    gnv, ctn = NETWORK.companies["GNV"], NETWORK.companies["CTN"]
    assert [gnv.age_band(age) for age in (3, 14)] == ["Infant", "Adult"]
    assert [ctn.age_band(age) for age in (3, 14)] == ["Child", "Child"]


@each(
    ("born", "day", "age"),
    [
        (date(2014, 7, 14), date(2026, 7, 13), 11),
        (date(2014, 7, 14), date(2026, 7, 14), 12),
        (date(2012, 2, 29), date(2026, 2, 28), 13),
        (date(2012, 2, 29), date(2026, 3, 1), 14),
        (date(2026, 7, 1), date(2026, 7, 1), 0),
    ],
)
def test_the_age_is_that_on_the_given_day(born, day, age):
    assert age_on(born, day) == age


def test_a_party_counts_its_age_bands_and_infants_need_no_berth():
    party = Party(
        NETWORK.companies["GNV"],
        (
            Traveller("Adult", 40, "Female"),
            Traveller("Child", 14, "Male"),
            Traveller("Child", 5, "Male"),
            Traveller("Infant", 1, "Female"),
        ),
    )
    assert [party.number(kind) for kind in ("Adult", "Child", "Infant")] == [2, 1, 1]
    assert party.berths == 3


def test_cents_convert_to_euros_with_two_decimals():
    assert str(euros(12340)) == "123.40"
    assert euros(5) == Decimal("0.05")


def journey(depart, arrive):
    return NETWORK.journeys[journey_id(depart, arrive)]
