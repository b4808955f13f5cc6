"""What a search finds: availabilities, their fares and their errors."""

import dataclasses
import hashlib
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from sandbox_queries import ADULT, DAYS, FAMILY, NETWORK, NOW, PAIRS, SHORT, at, nightly, query

from ferry_sdk import PlaceGender, PlaceUse
from ferry_sdk.sandbox.bookings.selection import age_on
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import journey_id, load_records
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Timetable
from ferry_sdk.sandbox.offers import offers as offers_module
from ferry_sdk.sandbox.offers.accommodation import Party, Traveller
from ferry_sdk.sandbox.offers.fares import Fares, euros
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.errors import RefusedError
from tests.support.exchanges import caught
from tests.support.tables import each


def digest():
    """Return a digest of the results of some searches."""
    offers = at()
    answers = [
        offer.to_wire("fr")
        for company, journey in PAIRS[::7]
        for offer in offers.search(
            query(company.code, journey.depart.code, journey.arrive.code, DAYS[0], party=FAMILY)
        )
    ]
    assert len(answers) > 100
    return hashlib.sha256(json.dumps(answers).encode()).hexdigest()


def test_a_search_gives_the_same_result_in_every_process(monkeypatch):
    seed = os.environ.get("PYTHONHASHSEED")
    monkeypatch.setenv("PYTHONHASHSEED", "2" if seed == "1" else "1")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as another:
        assert another.submit(digest).result() == digest()


def test_ids_of_offers_depend_on_the_time_of_the_search():
    asked = query(*SHORT, DAYS[0])
    offers = at()
    assert offers.search(asked) == offers.search(asked)
    ids = {each.id for each in offers.search(asked)}
    later = at(NOW + timedelta(seconds=1)).search(asked)
    assert ids.isdisjoint(each.id for each in later)


def test_another_seed_gives_other_prices_and_times():
    one, other = (at(seed=seed).search(query(*SHORT, DAYS[0])) for seed in (1, 2))
    assert [each.fare for each in one] != [each.fare for each in other]
    assert [each.sailing.depart_at for each in one] != [each.sailing.depart_at for each in other]


def test_every_company_has_offers_on_each_of_its_journeys():
    offers = at()
    for company, journey in PAIRS:
        assert any(
            offers.search(query(company.code, journey.depart.code, journey.arrive.code, day))
            for day in DAYS
        ), (company.code, journey.key)


def test_the_company_is_named_by_code_or_id():
    offers = at()
    by_id = query(NETWORK.companies["BALEARIA"].id, *SHORT[1:], DAYS[0])
    by_code = query(*SHORT, DAYS[0])
    assert [each.sailing for each in offers.search(by_id)] == [
        each.sailing for each in offers.search(by_code)
    ]


def test_offers_depart_from_the_requested_time_on_earliest_first():
    found = at().search(query(*SHORT, DAYS[0], earliest=time(15)))
    times = [each.sailing.depart_at for each in found]
    assert times == sorted(times)
    assert times[0].time() >= time(15)
    assert {each.date() for each in times} == {DAYS[0]}
    assert len(found) < len(at().search(query(*SHORT, DAYS[0])))


def test_past_sailings_are_not_offered():
    noon = datetime(2026, 7, 13, 12, tzinfo=timezone.utc)
    offers = at(noon)
    assert offers.search(query(*SHORT, DAYS[0] - timedelta(days=1))) == ()
    today = offers.search(query(*SHORT, DAYS[0]))
    assert today
    assert all(each.sailing.depart_at > noon for each in today)


@each("day", [date.min, date(2199, 12, 31), date(2300, 1, 1), date.max])
@each("is_open", [False, True])
def test_a_search_beyond_the_calendar_finds_nothing(day, is_open):
    found = at().search(query(*SHORT, day, is_open=is_open))
    assert bool(found) is (day.year == 2199)


def test_a_return_departs_after_an_outward_arrival():
    found = at().search(query(*SHORT, DAYS[0], back=DAYS[0]))
    there = [each.sailing for each in found if each.direction == "Outward"]
    back = [each.sailing for each in found if each.direction == "Return"]
    assert [each.to_wire("en")["group_id"] for each in found] == [1] * len(there) + [2] * len(back)
    assert min(each.depart_at for each in back) >= min(each.arrive_at for each in there)
    assert {each.journey.key for each in back} == {"MAPTM-ESALG"}


def test_no_sailing_is_sold_out_a_week_ahead():
    for month in (1, 8):
        day = date(2027, month, 13)
        offers = at(datetime(2027, month, 5, tzinfo=timezone.utc))
        for company, journey in PAIRS:
            ports = journey.depart.code, journey.arrive.code
            sailings = offers.timetable.sailings(company, journey, day)
            assert len(offers.search(query(company.code, *ports, day))) == len(sailings)


def test_a_search_of_open_tickets_covers_a_week_at_the_flexible_tariff():
    found = at().search(query(*SHORT, DAYS[0], earliest=time(22), is_open=True))
    days = [each.sailing.depart_at.date() for each in found]
    assert sorted(set(days)) == DAYS
    assert days.count(DAYS[0]) < days.count(DAYS[1])
    for offer in found:
        assert offer.is_open
        assert offer.to_wire("en")["is_open"] is True
        assert [each.level.code for each in offer.tariffs] == ["FLEX"]
        assert offer.valid_until == NOW + timedelta(days=365)
    (fixed, *_) = at().search(query(*SHORT, DAYS[0]))
    assert fixed.valid_until is None


def test_a_search_can_have_a_thousand_offers():
    found = at().search(query("ORESUND", "SEHEL", "DKHLS", DAYS[0], back=DAYS[1], is_open=True))
    assert len(found) == 2 * 7 * 72
    assert len({each.id for each in found}) == len(found)


def test_offers_tariffs_and_places_can_be_found_by_id():
    offers = at()
    found = offers.search(query(*SHORT, DAYS[0], party=FAMILY, vehicle="FIAT__500"))
    ids = set()
    for offer in found:
        again = offers.find(offer.id)
        assert again == offer
        for tariff in offer.tariffs:
            assert again.tariff(tariff.id) == tariff
        for place in offer.places:
            assert again.place(place.id) == place
        ids |= {offer.id, *(each.id for each in (*offer.tariffs, *offer.places))}
    assert len(ids) == sum(1 + len(each.tariffs) + len(each.places) for each in found)
    assert found[0].tariff(found[1].tariffs[0].id) is None
    assert found[0].place("nowhere") is None
    assert offers.find("nowhere") is None
    assert at().find(found[0].id) is None


def test_an_offer_keeps_the_prices_of_its_search():
    clock = Clock()
    clock.freeze()
    clock.travel_to(NOW)
    offers = Offers(NETWORK, clock, 1)
    (offer, *_) = offers.search(query(*SHORT, DAYS[0]))
    clock.advance(timedelta(days=70))
    assert offers.find(offer.id) == offer
    later = {each.sailing.id: each for each in offers.search(query(*SHORT, DAYS[0]))}
    assert later[offer.sailing.id].fare > offer.fare


def test_the_oldest_offers_are_forgotten(monkeypatch):
    offers = at()
    (first, *_, last) = offers.search(query(*SHORT, DAYS[0]))
    monkeypatch.setattr(offers_module, "_CACHE_SIZE", 5)
    more = offers.search(query(*SHORT, DAYS[1]))
    assert offers.find(first.id) is offers.find(last.id) is None
    assert [each.id for each in more if offers.find(each.id)] == [each.id for each in more[-5:]]


def test_a_repeated_search_renews_its_offers(monkeypatch):
    offers = at()
    day, night = (
        query(*SHORT, DAYS[0], earliest=time(21)),
        query(*SHORT, DAYS[1], earliest=time(21)),
    )
    size = len(offers.search(day))
    monkeypatch.setattr(offers_module, "_CACHE_SIZE", 2 * size)
    offers.search(night)
    again = offers.search(day)
    offers.search(query(*SHORT, DAYS[2], earliest=time(21)))
    assert all(offers.find(each.id) for each in again)


def test_an_offer_can_be_priced_for_other_ages():
    offers = at()
    (offer, *_) = nightly(offers, party=(ADULT, Traveller("Child", 11, "Male")))
    older = offers.for_travellers(offer, (ADULT, Traveller("Child", 12, "Male")))
    assert (older.id, older.sailing) == (offer.id, offer.sailing)
    assert offer.fare == older.fare * 3 / 4
    assert offers.for_travellers(offer, offer.party.travellers) == offer


def test_the_fare_includes_the_party_and_the_vehicle():
    alone, family, driving = (
        nightly(party=party, vehicle=vehicle)[0]
        for party, vehicle in (((ADULT,), None), (FAMILY, None), ((ADULT,), "FIAT__500"))
    )
    assert family.fare == alone.fare * Decimal("2.5")
    assert driving.fare == alone.fare + driving.vehicle_fare
    (entry,) = driving.to_wire("en")["vehicle"]
    assert entry["code"] == "FIAT__500"
    assert entry["amount"] == float(driving.vehicle_fare)


CTN = "CTN", "FRMRS", "TNLGN"


@each(
    ("asked", "field", "reason"),
    [
        (query("NOBODY", *CTN[1:], DAYS[0]), "request.company", "unknown_company"),
        (query("GNV", *CTN[1:], DAYS[0]), "request.company", "journey_not_sailed"),
        (query(*CTN[:2], "XXXXX", DAYS[0]), "request.arrive_code", "unknown_port"),
        (query(CTN[0], "XXXXX", CTN[2], DAYS[0]), "request.depart_code", "unknown_port"),
        (query(*CTN[:2], "ITGOA", DAYS[0]), "request.out_journey_id", "unknown_journey"),
        (
            query(*CTN, DAYS[0], out_journey_id=journey_id("ITGOA", "TNLGN")),
            "request.out_journey_id",
            "ports_mismatch",
        ),
        (
            query(*CTN, DAYS[0], back=DAYS[6], ret_journey_id="?"),
            "request.ret_journey_id",
            "unknown_journey",
        ),
        (
            query("LIBERTY", "ITMLZ", "ITLIP", DAYS[0], vehicle="FIAT__500"),
            "vehicle.code",
            "no_vehicles",
        ),
        (
            query("VIRTU", "ITPZL", "MTMLA", DAYS[0], vehicle="ADRIA_MOBIL__CORAL_XL"),
            "vehicle.code",
            "vehicle_too_high",
        ),
        (query(*CTN, DAYS[0], vehicle="GENERIC__TRUCK"), "vehicle.code", "vehicle_is_freight"),
    ],
)
def test_a_search_that_does_not_fit_the_network_names_its_field(asked, field, reason):
    error = caught(RefusedError, at().search, asked)
    (problem,) = error.problems
    assert (problem.path, problem.text) == (field, reason)


def test_a_fast_ship_carries_low_vehicles():
    assert at().search(query("VIRTU", "ITPZL", "MTMLA", DAYS[0], vehicle="FIAT__500"))


def test_the_client_knows_the_genders_and_uses_of_places():
    places = load_records("places.json")["places"]
    assert {place["gender"] for place in places} == {*PlaceGender}
    assert {place["use"] for place in places} == {*PlaceUse}


# Fares: their factors and the age bands of the company


WINTER = datetime(2026, 1, 10, 12, tzinfo=timezone.utc)

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
    assert fares.passenger(sailing, younger, WINTER) <= fares.passenger(sailing, older, WINTER)


@given(seeds, pairs)
def test_a_child_pays_less_than_an_adult_and_an_infant_nothing(seed, pair):
    company, _ = pair
    sailing = first_sailing(seed, *pair, 7)
    fares = Fares(SeededRandom(seed))
    adult = fares.passenger(sailing, company.child_below, WINTER)
    child = fares.passenger(sailing, company.child_below - 1, WINTER)
    infant = fares.passenger(sailing, company.infant_below - 1, WINTER)
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
        assert fares.vehicle(sailing, smaller, WINTER) <= fares.vehicle(sailing, larger, WINTER)


def test_trailers_motorcycles_and_bicycles_are_cheap():
    sailing = first_sailing(1, NETWORK.companies["CTN"], journey("FRMRS", "TNLGN"), 7)
    fares = Fares(SeededRandom(1))
    price = {
        code: fares.vehicle(sailing, NETWORK.vehicle(f"GENERIC__{code}"), WINTER)
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
        fares.vehicle(sailing, type(car)("X", "X", "X", car.type, car.length, height), WINTER)
        for height in (company.low_vehicle, company.low_vehicle + 0.01, 2.6, 2.61)
    ]
    assert prices[0] < prices[1] == prices[2] < prices[3]


def test_a_longer_route_costs_more():
    fares = Fares(SeededRandom(1))
    gnv = NETWORK.companies["GNV"]
    near = first_sailing(1, gnv, journey("ITPMO", "TNLGN"), 7)
    far = first_sailing(1, gnv, journey("ITGOA", "TNLGN"), 7)
    assert fares.adult(near, WINTER) < fares.adult(far, WINTER)


def test_a_fast_ship_costs_more():
    sailing = first_sailing(1, NETWORK.companies["VIRTU"], journey("ITPZL", "MTMLA"), 7)
    there = sailing.journey
    slow = dataclasses.replace(
        sailing,
        journey=dataclasses.replace(there, route=dataclasses.replace(there.route, fast=False)),
    )
    fares = Fares(SeededRandom(1))
    assert fares.adult(sailing, WINTER) > fares.adult(slow, WINTER)


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
        assert 400 < fares.adult(sailing, WINTER) < 60_000


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


# One availability: its fields, tariffs and places


TABLE = {
    "id": str, "group_id": int, "direction": str, "journey_id": str, "sailing_id": str,
    "depart_name": str, "arrive_name": str, "depart_code": str, "arrive_code": str,
    "is_open": bool, "depart_at": str, "arrive_at": str, "company": dict, "provider": dict,
    "gateway": dict, "tariffs": list, "places": list, "passenger_count": int, "vehicle": list,
    "meals": list, "animals": (dict, type(None)), "stops": list, "ship_name": str,
    "duration": int,
}  # fmt: skip
TARIFF = {
    "id": str, "type": str, "amount": float, "balance_amount": float, "currency": str,
    "date": int, "expiration_date": int,
}  # fmt: skip
PLACE = {
    "id": str, "index": int, "code": str, "count": int, "type": str, "gender": str,
    "capacity": int, "use": str, "name": str, "in_board": dict,
}  # fmt: skip
IN_BOARD = {
    "adults": int, "childs": int, "babies": int, "has_shower": bool, "has_toilet": bool,
    "has_window": bool, "passengers": list,
}  # fmt: skip


def check(record, table, *optional):
    assert set(table) <= set(record) <= {*table, *optional}
    for name, kind in table.items():
        assert isinstance(record[name], kind), name
        assert kind is not int or not isinstance(record[name], bool), name


@given(
    st.sampled_from(PAIRS),
    st.sampled_from(DAYS),
    st.sampled_from(["en", "ar", "sv"]),
    st.booleans(),
    st.booleans(),
)
def test_an_availability_has_every_field_of_the_interface(pair, day, language, is_open, returning):
    company, journey = pair
    back = DAYS[-1] + timedelta(days=7) if returning else None
    ports = journey.depart.code, journey.arrive.code
    vehicle = "FIAT__500" if journey.route.vehicles else None
    asked = query(
        company.code, *ports, day, back=back, party=FAMILY, vehicle=vehicle, is_open=is_open
    )
    for offer in at().search(asked):
        record = json.loads(json.dumps(offer.to_wire(language)))
        check(record, TABLE)
        for name, fields in (
            ("company", "id name logo"),
            ("provider", "id name"),
            ("gateway", "id code provider"),
        ):
            check(record[name], dict.fromkeys(fields.split(), str))
        for tariff in record["tariffs"]:
            check(tariff, TARIFF, "roundtrip_locked")
            assert tariff["type"] in {"Ticket", "Presale", "Option"}
            assert tariff["currency"] == "Eur"
            assert tariff["amount"] == round(tariff["amount"], 2) > 0
            assert tariff["date"] < tariff["expiration_date"]
        assert [each["index"] for each in record["places"]] == [
            number + 1 for number in range(len(record["places"]))
        ]
        for place in record["places"]:
            check(place, PLACE)
            check(place["in_board"], IN_BOARD)
            assert place["type"] in {"Seat", "Cabin", "Suite"}
            assert place["count"] > 0
        departs, arrives = map(datetime.fromisoformat, (record["depart_at"], record["arrive_at"]))
        assert departs == offer.sailing.depart_at
        assert arrives - departs == timedelta(minutes=offer.sailing.minutes)
        assert abs(record["duration"] * 60 - offer.sailing.minutes) <= 40
        assert record["passenger_count"] == 4
        assert len(record["vehicle"]) == (vehicle is not None)
        assert record["direction"] in {"Outward", "Return"}


@given(st.sampled_from(PAIRS), st.integers(0, 14 * 24 * 60), st.booleans())
def test_no_tariff_expires_after_the_departure_or_the_end_of_an_open_ticket(pair, minutes, is_open):
    company, journey = pair
    departs = datetime(2026, 7, 14, 21, tzinfo=timezone.utc)
    offers = at(departs - timedelta(minutes=minutes))
    ports = journey.depart.code, journey.arrive.code
    for offer in offers.search(query(company.code, *ports, date(2026, 7, 14), is_open=is_open)):
        assert offer.is_open == is_open
        for tariff in offer.tariffs:
            assert tariff.issued_at < tariff.expires_at <= offer.ends_at
            if not is_open:
                assert tariff.expires_at <= offer.sailing.depart_at


def test_each_type_of_tariff_has_its_own_validity():
    (offer, *_) = nightly()
    holds = {each.level.code: each.expires_at - each.issued_at for each in offer.tariffs}
    assert holds == {
        "SAVER": timedelta(minutes=30),
        "STANDARD": timedelta(minutes=30),
        "FLEX": timedelta(minutes=30),
        "PRESALE": timedelta(days=3),
        "OPTION": timedelta(hours=24),
    }
    assert all(each.issued_at == NOW for each in offer.tariffs)
    assert {each.level.family for each in offer.tariffs} == {"saver", "standard", "flex"}


def test_flex_costs_more_than_standard_and_standard_more_than_saver():
    for offer in nightly(party=FAMILY, vehicle="FIAT__500"):
        tariff = {each.level.code: each for each in offer.tariffs}
        for place in offer.places:
            flex, standard, saver = (
                offer.price(tariff[name], place) for name in ("FLEX", "STANDARD", "SAVER")
            )
            assert flex > standard > saver


def test_options_and_presales_are_not_sold_shortly_before_departure():
    def types(before):
        day = datetime(2026, 7, 13, 12, tzinfo=timezone.utc)
        found = at(day - timedelta(days=before)).search(query(*SHORT, date(2026, 7, 14)))
        return {tariff.level.type for each in found for tariff in each.tariffs}

    assert types(20) == {"Ticket", "Presale", "Option"}
    assert types(5) == {"Ticket", "Option"}
    assert types(0) == {"Ticket"}


def test_the_amount_is_the_price_with_the_cheapest_place():
    (offer, *_) = nightly(party=FAMILY)
    for tariff in offer.tariffs:
        prices = [offer.price(tariff, place) for place in offer.places]
        assert tariff.amount == min(prices)
        assert all(price.as_tuple().exponent == -2 for price in prices)


def test_a_better_place_costs_more():
    (offer, *_) = nightly()
    tariff = offer.tariffs[0]
    price = {each.kind.code: offer.price(tariff, each) for each in offer.places}
    assert price["SEAT"] < price["RECLINER"] < price["BERTH_F"] < price["INSIDE_2"]
    assert price["INSIDE_2"] < price["OUTSIDE_2"] < price["SUITE_2"] < price["SUITE_4"]


def test_only_round_trips_have_round_trip_fares_in_both_directions():
    company = next(
        pair for pair in PAIRS if pair[0].round_trip_fares and pair[1].route.round_the_clock
    )
    ports = company[1].depart.code, company[1].arrive.code
    there = query(company[0].code, *ports, DAYS[0])
    locked = {True: set(), False: set()}
    for offer in at().search(query(company[0].code, *ports, DAYS[0], back=DAYS[3])):
        for tariff in offer.tariffs:
            locked[tariff.level.roundtrip].add((offer.direction, tariff.level.code))
        amounts = {each.level.code: each.amount for each in offer.tariffs}
        assert amounts["ROUNDTRIP"] < amounts["STANDARD"]
    assert locked[True] == {("Outward", "ROUNDTRIP"), ("Return", "ROUNDTRIP")}
    for offer in at().search(there):
        assert not any(each.level.roundtrip for each in offer.tariffs)
        assert all(each["roundtrip_locked"] is False for each in offer.to_wire("en")["tariffs"])


def test_a_round_trip_without_return_sailings_has_no_round_trip_fare():
    asked = query("GNV", "ITGOA", "ITOLB", DAYS[0], back=date(2300, 1, 1))
    found = at().search(asked)
    assert {each.direction for each in found} == {"Outward"}
    assert not any(tariff.level.roundtrip for each in found for tariff in each.tariffs)


def test_companies_without_round_trip_fares_omit_the_field():
    company, journey = next(
        pair for pair in PAIRS if not pair[0].round_trip_fares and pair[1].route.minutes < 100
    )
    asked = query(company.code, journey.depart.code, journey.arrive.code, DAYS[0], back=DAYS[1])
    found = at().search(asked)
    assert {each.direction for each in found} == {"Outward", "Return"}
    for offer in found:
        assert all("roundtrip_locked" not in each for each in offer.to_wire("en")["tariffs"])


def test_short_and_fast_crossings_have_seats_only():
    offers = at()
    for company, journey in PAIRS:
        if not (journey.route.fast or journey.route.minutes < 240):
            continue
        ports = journey.depart.code, journey.arrive.code
        for offer in offers.search(query(company.code, *ports, DAYS[0])):
            assert {each.kind.type for each in offer.places} == {"Seat"}


def test_overnight_ships_have_seats_cabins_and_suites():
    (offer, *_) = nightly()
    assert {each.kind.type for each in offer.places} == {"Seat", "Cabin", "Suite"}


MAN = Traveller("Adult", 40, "Male")
WOMAN = Traveller("Adult", 40, "Female")
BOY = Traveller("Child", 8, "Male")


@each(
    ("party", "shared"),
    [
        ((MAN,), {"BERTH_M"}),
        ((WOMAN, WOMAN), {"BERTH_F"}),
        ((MAN, WOMAN), set()),
        ((MAN, BOY), set()),
        ((MAN,) * 4, set()),
    ],
)
def test_shared_cabins_are_for_a_few_adults_of_one_gender(party, shared):
    (offer, *_) = nightly(party=party)
    assert {each.kind.code for each in offer.places if each.kind.use == "Shared"} == shared
    for place in offer.places:
        assert (place.kind.gender == "Any") is (place.kind.use == "Exclusive")


@each("size", [1, 2, 3, 4, 5, 9])
def test_every_place_holds_the_whole_party(size):
    (offer, *_) = nightly(party=(MAN,) * (size - 1) + (WOMAN, Traveller("Infant", 0, "Male")))
    assert offer.places
    assert all(each.capacity >= size for each in offer.places)
    assert ("INSIDE_2" in {each.kind.code for each in offer.places}) is (size <= 2)


def test_a_cabin_has_one_price_and_a_large_party_gets_several():
    supplement, count = {}, {}
    for size in (1, 4, 5):
        (offer, *_) = nightly(party=(MAN,) * size)
        (cabin,) = (each for each in offer.places if each.kind.code == "INSIDE_4")
        supplement[size], count[size] = cabin.supplement, cabin.count
        assert cabin.capacity == (8 if size == 5 else 4)
    assert supplement[1] == supplement[4]
    assert abs(supplement[5] - 2 * supplement[4]) <= Decimal("0.01")
    assert count[5] == count[4] // 2


def test_in_board_counts_passengers_by_the_age_bands_of_the_company():
    (offer, *_) = nightly(party=(*FAMILY, Traveller("Child", 14, "Male")))
    record = offer.to_wire("en")
    aboard = record["places"][0]["in_board"]
    assert (aboard["adults"], aboard["childs"], aboard["babies"]) == (3, 1, 1)
    assert aboard["passengers"][4] == {"order": 5, "type": "Adult", "age": 14}


def test_names_are_localised():
    (offer, *_) = nightly()
    names = {language: offer.to_wire(language) for language in ("en", "fr", "it", "es", "el", "ar")}
    assert names["fr"]["depart_name"] == "Gênes"
    assert names["it"]["depart_name"] == "Genova"
    assert names["ar"]["depart_name"] == "جنوة"
    for number in range(len(offer.places)):
        assert len({record["places"][number]["name"] for record in names.values()}) >= 3
    meals = {tuple(meal["name"] for meal in record["meals"]) for record in names.values()}
    assert ("Dîner", "Petit-déjeuner", "Déjeuner") in meals
    assert len(meals) == 6
    assert offer.to_wire("sv")["places"][0]["name"] == "Seat"


def test_fast_ships_take_no_animals():
    (fast, *_) = at().search(query("TRASMAPI", "ESIBZ", "ESFLD", DAYS[0]))
    assert fast.to_wire("en")["animals"] is None
    (night, *_) = nightly()
    assert night.to_wire("en")["animals"]["cabin"] is True


def test_ships_are_fuller_in_summer_and_at_weekends():
    def left(day):
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=timezone.utc)
        found = at(noon - timedelta(days=20)).search(query("ORESUND", "SEHEL", "DKHLS", day))
        return sum(each.places[0].count for each in found) / len(found)

    assert left(date(2026, 7, 15)) < left(date(2026, 2, 11)) * 0.9
    assert left(date(2026, 7, 18)) < left(date(2026, 7, 15)) * 0.95


def test_fewer_places_are_left_as_departure_approaches():
    day = date(2026, 8, 14)
    start = datetime(2026, 8, 14, tzinfo=timezone.utc)
    counts = {}
    offered = []
    for before in (200, 100, 60, 20, 5, 1):
        found = at(start - timedelta(days=before)).search(query(*SHORT, day))
        offered.append(len(found))
        for offer in found:
            counts.setdefault(offer.sailing.id, []).append(offer.places[0].count)
    assert all(each == sorted(each, reverse=True) for each in counts.values())
    assert all(each[0] > each[-1] for each in counts.values())
    assert offered == sorted(offered, reverse=True)
    assert 0 < offered[-1] < offered[0]
