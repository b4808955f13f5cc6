"""What a search finds: availabilities, their fares and their errors."""

import dataclasses
import hashlib
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_queries import ADULT, DAYS, FAMILY, NETWORK, NOW, PAIRS, SHORT, at, nightly, query

from ferry_sdk import PlaceGender, PlaceUse
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import journey_id, load_records
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Timetable
from ferry_sdk.sandbox.offers import offers as offers_module
from ferry_sdk.sandbox.offers.accommodation import Traveller
from ferry_sdk.sandbox.offers.fares import Fares
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.errors import RefusedError
from tests.support.exchanges import caught
from tests.support.tiers import LONG


def ask(company, journey, day, **how):
    return query(company.code, journey.depart.code, journey.arrive.code, day, **how)


def journey(depart, arrive):
    return NETWORK.journeys[journey_id(depart, arrive)]


def digest():
    offers = at()
    answers = []
    for pair in PAIRS[::7]:
        found = offers.search(ask(*pair, DAYS[0], party=FAMILY))
        answers += [offer.to_wire("fr") for offer in found]
    assert len(answers) > 100
    return hashlib.sha256(json.dumps(answers).encode()).hexdigest()


@LONG
def test_search_gives_the_same_result_in_every_process(monkeypatch):
    seed = os.environ.get("PYTHONHASHSEED")
    monkeypatch.setenv("PYTHONHASHSEED", "2" if seed == "1" else "1")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as another:
        assert another.submit(digest).result() == digest()


SEARCH = query(*SHORT, DAYS[0])


@pytest.fixture(scope="module")
def offers():
    """Return the offers of a service at a fixed time."""
    return at()


def test_same_search_finds_the_same_offers(offers):
    assert offers.search(SEARCH) == offers.search(SEARCH)


def test_same_seed_has_the_same_fares(offers):
    fares = [offer.fare for offer in offers.search(SEARCH)]
    assert fares == [offer.fare for offer in at().search(SEARCH)]


def test_later_search_has_other_ids(offers):
    ids = {offer.id for offer in offers.search(SEARCH)}
    later = at(NOW + timedelta(seconds=1)).search(SEARCH)
    assert ids.isdisjoint(offer.id for offer in later)


def test_another_seed_has_other_fares_with_other_times(offers):
    found = offers.search(SEARCH)
    other = at(seed=2).search(SEARCH)
    assert [offer.fare for offer in found] != [offer.fare for offer in other]
    times = [offer.sailing.depart_at for offer in found]
    assert times != [offer.sailing.depart_at for offer in other]


def test_company_is_named_by_code_or_id(offers):
    by_id = query(NETWORK.companies["BALEARIA"].id, *SHORT[1:], DAYS[0])
    sailings = [offer.sailing for offer in offers.search(SEARCH)]
    assert [offer.sailing for offer in offers.search(by_id)] == sailings


@pytest.fixture(scope="module")
def first_offers(offers):
    """Return the first offers within a week by company and journey."""
    by_pair = {}
    for pair in PAIRS:
        searches = (offers.search(ask(*pair, day)) for day in DAYS)
        by_pair[pair] = next((found for found in searches if found), ())
    return by_pair


@pytest.mark.slow
def test_every_company_has_offers_within_a_week(first_offers):
    for (company, line), found in first_offers.items():
        assert found, (company.code, line.key)


def test_fast_or_short_crossings_have_seats_only(first_offers):
    for (company, line), found in first_offers.items():
        if line.route.fast or line.route.minutes < 240:
            kinds = {place.kind.type for offer in found for place in offer.places}
            assert kinds == {"Seat"}, (company.code, line.key)


@pytest.mark.parametrize("month", [1, 8])
def test_no_sailing_is_sold_out_a_week_ahead(month):
    day = date(2027, month, 13)
    offers = at(datetime(2027, month, 5, tzinfo=UTC))
    for pair in PAIRS[month % 2 :: 2]:
        sailings = offers.timetable.sailings(*pair, day)
        assert len(offers.search(ask(*pair, day))) == len(sailings)


def test_offers_depart_earliest_first_from_a_time_on(offers):
    found = offers.search(query(*SHORT, DAYS[0], earliest=time(15)))
    times = [offer.sailing.depart_at for offer in found]
    assert times == sorted(times)
    assert times[0].time() >= time(15)
    assert {each.date() for each in times} == {DAYS[0]}
    assert len(found) < len(offers.search(SEARCH))


def test_ships_that_have_sailed_are_not_offered():
    noon = datetime(2026, 7, 13, 12, tzinfo=UTC)
    offers = at(noon)
    assert offers.search(query(*SHORT, DAYS[0] - timedelta(days=1))) == ()
    today = offers.search(SEARCH)
    assert min(offer.sailing.depart_at for offer in today) > noon


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize(
    ("day", "sails"),
    [
        (date(1000, 1, 1), False),
        (date(2199, 12, 31), True),
        (date(2300, 1, 1), False),
        (date.max, False),
    ],
    ids=str,
)
def test_search_beyond_the_calendar_finds_nothing(offers, day, sails, is_open):
    assert bool(offers.search(query(*SHORT, day, is_open=is_open))) is sails


def test_search_of_open_tickets_covers_a_week(offers):
    found = offers.search(query(*SHORT, DAYS[0], earliest=time(22), is_open=True))
    days = [offer.sailing.depart_at.date() for offer in found]
    assert sorted(set(days)) == DAYS
    assert days.count(DAYS[0]) < days.count(DAYS[1])


def test_open_offers_have_the_flexible_tariff_only(offers):
    for offer in offers.search(query(*SHORT, DAYS[0], earliest=time(22), is_open=True)):
        assert offer.is_open is offer.to_wire("en")["is_open"] is True
        assert [tariff.level.code for tariff in offer.tariffs] == ["FLEX"]
        assert offer.valid_until == NOW + timedelta(days=365)


def test_fixed_offer_has_no_validity(offers):
    assert offers.search(SEARCH)[0].valid_until is None


@pytest.fixture(scope="module")
def round_trip(offers):
    """Return the offers out and the offers back of one day."""
    found = offers.search(query(*SHORT, DAYS[0], back=DAYS[0]))
    out = [offer for offer in found if offer.direction == "Outward"]
    back = [offer for offer in found if offer.direction == "Return"]
    assert found == (*out, *back)
    return out, back


def test_directions_are_groups(round_trip):
    out, back = round_trip
    assert {offer.to_wire("en")["group_id"] for offer in out} == {1}
    assert {offer.to_wire("en")["group_id"] for offer in back} == {2}


def test_return_departs_after_an_arrival(round_trip):
    out, back = round_trip
    first_arrival = min(offer.sailing.arrive_at for offer in out)
    assert min(offer.sailing.depart_at for offer in back) >= first_arrival
    assert {offer.sailing.journey.key for offer in back} == {"MAPTM-ESALG"}


# Finding an offer again


@pytest.fixture(scope="module")
def found(offers):
    """Return the offers of a search for a family with a car."""
    return offers.search(query(*SHORT, DAYS[0], party=FAMILY, vehicle="FIAT__500"))


def test_offer_is_found_by_its_id(offers, found):
    assert tuple(offers.find(offer.id) for offer in found) == found


def test_tariffs_with_places_are_found_by_id(found):
    for offer in found:
        assert all(offer.tariff(tariff.id) == tariff for tariff in offer.tariffs)
        assert all(offer.place(place.id) == place for place in offer.places)


def test_every_id_is_different(found):
    ids = []
    for offer in found:
        ids += [offer.id, *(each.id for each in (*offer.tariffs, *offer.places))]
    assert len(ids) == len(set(ids))


def test_ids_of_a_long_search_are_different(offers):
    search = query("ORESUND", "SEHEL", "DKHLS", DAYS[0], back=DAYS[1], is_open=True)
    ids = [offer.id for offer in offers.search(search)]
    assert len(ids) == len(set(ids)) == 2 * 7 * 72


def test_ids_of_others_are_unknown(offers, found):
    assert found[0].tariff(found[1].tariffs[0].id) is None
    assert found[0].place("nowhere") is None
    assert offers.find("nowhere") is None
    assert at().find(found[0].id) is None


def test_found_offer_has_the_price_of_its_search():
    clock = Clock(NOW, frozen=True)
    offers = Offers(clock, 1)
    (offer, *_) = offers.search(SEARCH)
    clock.advance(timedelta(days=70))
    assert offers.find(offer.id) == offer
    later = {each.sailing.id: each for each in offers.search(SEARCH)}
    assert later[offer.sailing.id].fare > offer.fare


def test_oldest_offers_are_forgotten(monkeypatch):
    offers = at()
    first, second, third = (query(*SHORT, day, earliest=time(21)) for day in DAYS[:3])
    size = len(offers.search(first))
    monkeypatch.setattr(offers_module, "_CACHE_SIZE", 2 * size)
    forgotten = offers.search(second)
    renewed = offers.search(first)
    kept = offers.search(third)
    assert len(renewed) == len(kept) == size
    assert all(offers.find(offer.id) for offer in (*renewed, *kept))
    assert not any(offers.find(offer.id) for offer in forgotten)


# Searches that do not fit the network

CTN = ("CTN", "FRMRS", "TNLGN")
FAST = ("VIRTU", "ITPZL", "MTMLA")


@pytest.mark.parametrize(
    ("line", "details", "field", "reason"),
    [
        (("NOBODY", "FRMRS", "TNLGN"), {}, "request.company", "unknown_company"),
        (("GNV", "FRMRS", "TNLGN"), {}, "request.company", "journey_not_sailed"),
        (("CTN", "FRMRS", "XXXXX"), {}, "request.arrive_code", "unknown_port"),
        (("CTN", "XXXXX", "TNLGN"), {}, "request.depart_code", "unknown_port"),
        (("CTN", "FRMRS", "ITGOA"), {}, "request.out_journey_id", "unknown_journey"),
        (
            CTN,
            {"out_journey_id": journey_id("ITGOA", "TNLGN")},
            "request.out_journey_id",
            "ports_mismatch",
        ),
        (
            CTN,
            {"back": DAYS[6], "ret_journey_id": "?"},
            "request.ret_journey_id",
            "unknown_journey",
        ),
        (("LIBERTY", "ITMLZ", "ITLIP"), {"vehicle": "FIAT__500"}, "vehicle.code", "no_vehicles"),
        (FAST, {"vehicle": "ADRIA_MOBIL__CORAL_XL"}, "vehicle.code", "vehicle_too_high"),
        (CTN, {"vehicle": "GENERIC__TRUCK"}, "vehicle.code", "vehicle_is_freight"),
    ],
    ids=str,
)
def test_search_that_does_not_fit_names_its_field(offers, line, details, field, reason):
    (problem,) = caught(RefusedError, offers.search, query(*line, DAYS[0], **details)).problems
    assert (problem.path, problem.text) == (field, reason)


def test_fast_ship_carries_low_vehicles(offers):
    assert offers.search(query(*FAST, DAYS[0], vehicle="FIAT__500"))


# Fares


WINTER = datetime(2026, 1, 10, 12, tzinfo=UTC)
FARES = Fares(SeededRandom(1))


def first_sailing(company, journey, month=7, seed=1):
    timetable = Timetable(SeededRandom(seed))
    return next(timetable.sailings_from(company, journey, date(2026, month, 13), 14))


@pytest.fixture(scope="module")
def july():
    """Return a sailing to Tunis in July."""
    return first_sailing(NETWORK.companies["CTN"], journey("FRMRS", "TNLGN"))


def test_fare_includes_the_whole_party():
    (alone, *_) = nightly()
    (family, *_) = nightly(party=FAMILY)
    assert family.fare == alone.fare * Decimal("2.5")


def test_fare_includes_the_vehicle():
    (alone, *_) = nightly()
    (driving, *_) = nightly(vehicle="FIAT__500")
    assert driving.fare > alone.fare
    (entry,) = driving.to_wire("en")["vehicle"]
    assert entry["code"] == "FIAT__500"


def test_offer_can_follow_other_ages(offers):
    (offer, *_) = nightly(offers, party=(ADULT, Traveller("Child", 11, "Male")))
    older = offers.for_travellers(offer, (ADULT, Traveller("Child", 12, "Male")))
    assert (older.id, older.sailing) == (offer.id, offer.sailing)
    assert offer.fare == older.fare * 3 / 4
    assert offers.for_travellers(offer, offer.party.travellers) == offer


def test_fare_follows_the_age(july):
    adult = FARES.adult(july, WINTER)
    fares = [FARES.passenger(july, age, WINTER) for age in (1, 2, 15, 16)]
    assert fares == [0, adult // 2, adult // 2, adult]


def test_fare_rises_as_departure_approaches(july):
    early = FARES.adult(july, july.depart_at - timedelta(days=99))
    late = FARES.adult(july, july.depart_at - timedelta(days=1))
    assert late > early


def test_fare_is_higher_in_summer(july):
    february = first_sailing(july.company, july.journey, month=2)
    long_ago = datetime(2025, 9, 1, tzinfo=UTC)
    assert FARES.adult(july, long_ago) > FARES.adult(february, long_ago)


def test_every_fare_is_plausible():
    for pair in PAIRS:
        assert 400 < FARES.adult(first_sailing(*pair), WINTER) < 60_000  # cents


def test_longer_route_is_dearer():
    gnv = NETWORK.companies["GNV"]
    near = first_sailing(gnv, journey("ITPMO", "TNLGN"))
    far = first_sailing(gnv, journey("ITGOA", "TNLGN"))
    assert FARES.adult(near, WINTER) < FARES.adult(far, WINTER)


def test_fast_ship_is_dearer():
    fast = first_sailing(NETWORK.companies["VIRTU"], journey("ITPZL", "MTMLA"))
    route = dataclasses.replace(fast.journey.route, fast=False)
    slow = dataclasses.replace(fast, journey=dataclasses.replace(fast.journey, route=route))
    assert FARES.adult(fast, WINTER) > FARES.adult(slow, WINTER)


def test_weekend_is_dearer():
    pair = NETWORK.companies["ORESUND"], journey("SEHEL", "DKHLS")
    now = datetime(2026, 7, 1, tzinfo=UTC)

    def average_fare(day):
        fares = [FARES.adult(each, now) for each in Timetable.of_seed(1).sailings(*pair, day)]
        return sum(fares) / len(fares)

    thursday = date(2026, 7, 16)
    friday = date(2026, 7, 17)
    assert average_fare(friday) > average_fare(thursday) * 1.05


def test_higher_vehicle_is_dearer(july):
    fiat = NETWORK.vehicle("FIAT__500")
    limit = july.company.low_vehicle
    low, higher, high, highest = (
        FARES.vehicle(july, dataclasses.replace(fiat, height=height), WINTER)
        for height in (limit, limit + 0.01, 2.6, 2.61)
    )
    assert low < higher == high < highest


# The record of an offer


@pytest.fixture(scope="module")
def recorded():
    """Return offers of a round trip for a family with a car, each with its record as JSON."""
    found = nightly(back=DAYS[-1] + timedelta(days=7), party=FAMILY, vehicle="FIAT__500")
    return [(offer, json.loads(json.dumps(offer.to_wire("ar")))) for offer in found]


def test_recorded_tariffs_have_their_fields(recorded):
    for _, record in recorded:
        for tariff in record["tariffs"]:
            assert tariff["type"] in {"Ticket", "Presale", "Option"}
            assert tariff["currency"] == "Eur"
            assert tariff["amount"] == round(tariff["amount"], 2) > 0
            assert tariff["date"] < tariff["expiration_date"]


def test_recorded_places_have_their_fields(recorded):
    for _, record in recorded:
        for number, place in enumerate(record["places"], 1):
            assert place["index"] == number
            assert place["type"] in {"Seat", "Cabin", "Suite"}
            assert place["count"] > 0


def test_record_has_the_times_of_the_sailing(recorded):
    for offer, record in recorded:
        departs = datetime.fromisoformat(record["depart_at"])
        arrives = datetime.fromisoformat(record["arrive_at"])
        assert departs == offer.sailing.depart_at
        assert arrives - departs == timedelta(minutes=offer.sailing.minutes)
        assert abs(record["duration"] * 60 - offer.sailing.minutes) <= 40


def test_record_has_the_party(recorded):
    for _, record in recorded:
        assert record["passenger_count"] == 4
        assert len(record["vehicle"]) == 1


LANGUAGES = ("en", "fr", "it", "es", "el", "ar")


@pytest.fixture(scope="module")
def localised():
    """Return the record of an overnight offer in each language."""
    (offer, *_) = nightly()
    return {language: offer.to_wire(language) for language in LANGUAGES}


def test_ports_of_an_offer_are_localised(localised):
    names = [localised[language]["depart_name"] for language in ("fr", "it", "ar")]
    assert names == ["Gênes", "Genova", "جنوة"]


def test_places_of_an_offer_are_localised(localised):
    for number in range(len(localised["en"]["places"])):
        names = {record["places"][number]["name"] for record in localised.values()}
        assert len(names) >= 3


def test_meals_of_an_offer_are_localised(localised):
    meals = {tuple(meal["name"] for meal in record["meals"]) for record in localised.values()}
    assert ("Dîner", "Petit-déjeuner", "Déjeuner") in meals
    assert len(meals) == len(LANGUAGES)


def test_unknown_language_is_english():
    (offer, *_) = nightly()
    assert offer.to_wire("sv")["places"][0]["name"] == "Seat"


# Tariffs


@given(st.sampled_from(PAIRS), st.integers(0, 14 * 24 * 60), st.booleans())
def test_no_tariff_expires_after_the_departure(pair, minutes, is_open):
    departs = datetime(2026, 7, 14, 21, tzinfo=UTC)
    offers = at(departs - timedelta(minutes=minutes))
    for offer in offers.search(ask(*pair, date(2026, 7, 14), is_open=is_open)):
        assert offer.is_open == is_open
        for tariff in offer.tariffs:
            assert offer.issued_at < tariff.expires_at <= offer.ends_at
            assert is_open or tariff.expires_at <= offer.sailing.depart_at


@pytest.mark.parametrize(
    ("tariff", "validity"),
    [
        pytest.param("SAVER", timedelta(minutes=30), id="SAVER"),
        pytest.param("STANDARD", timedelta(minutes=30), id="STANDARD"),
        pytest.param("FLEX", timedelta(minutes=30), id="FLEX"),
        pytest.param("PRESALE", timedelta(days=3), id="PRESALE"),
        pytest.param("OPTION", timedelta(days=1), id="OPTION"),
    ],
)
def test_each_tariff_has_its_validity(tariff, validity):
    (offer, *_) = nightly()
    (expires_at,) = [each.expires_at for each in offer.tariffs if each.level.code == tariff]
    assert offer.issued_at == NOW
    assert expires_at - offer.issued_at == validity


def test_tariffs_are_of_three_families():
    (offer, *_) = nightly()
    assert len(offer.tariffs) == 5
    assert {tariff.level.family for tariff in offer.tariffs} == {"saver", "standard", "flex"}


@pytest.mark.parametrize(
    ("days_ahead", "types"),
    [(20, {"Ticket", "Presale", "Option"}), (5, {"Ticket", "Option"}), (0, {"Ticket"})],
    ids=["20-days", "5-days", "same-day"],
)
def test_some_tariffs_are_sold_early_only(days_ahead, types):
    day = datetime(2026, 7, 13, 12, tzinfo=UTC)
    found = at(day - timedelta(days=days_ahead)).search(query(*SHORT, date(2026, 7, 14)))
    assert {tariff.level.type for offer in found for tariff in offer.tariffs} == types


@pytest.fixture(scope="module")
def driving():
    """Return overnight offers for a family with a car."""
    return nightly(party=FAMILY, vehicle="FIAT__500")


def test_better_tariff_costs_more(driving):
    for offer in driving:
        tariffs = {tariff.level.code: tariff for tariff in offer.tariffs}
        for place in offer.places:
            names = ("FLEX", "STANDARD", "SAVER")
            flex, standard, saver = (offer.price(tariffs[name], place) for name in names)
            assert flex > standard > saver


def test_tariff_has_the_price_of_the_cheapest_place(driving):
    for offer in driving:
        for tariff in offer.tariffs:
            assert tariff.amount == min(offer.price(tariff, place) for place in offer.places)


def test_prices_are_in_cents(driving):
    for offer in driving:
        for tariff in offer.tariffs:
            prices = [offer.price(tariff, place) for place in offer.places]
            assert all(price.as_tuple().exponent == -2 for price in prices)


def test_better_place_costs_more():
    (offer, *_) = nightly()
    price = {place.kind.code: offer.price(offer.tariffs[0], place) for place in offer.places}
    assert price["SEAT"] < price["RECLINER"] < price["BERTH_F"] < price["INSIDE_2"]
    assert price["INSIDE_2"] < price["OUTSIDE_2"] < price["SUITE_2"] < price["SUITE_4"]


# Round-trip fares

WITH_ROUND_TRIPS = next(
    pair for pair in PAIRS if pair[0].round_trip_fares and pair[1].route.round_the_clock
)
WITHOUT_ROUND_TRIPS = next(
    pair for pair in PAIRS if not pair[0].round_trip_fares and pair[1].route.minutes < 100
)


def has_round_trip_fare(offer):
    return any(tariff.level.roundtrip for tariff in offer.tariffs)


def test_round_trip_has_cheaper_fares_in_both_directions(offers):
    found = offers.search(ask(*WITH_ROUND_TRIPS, DAYS[0], back=DAYS[3]))
    assert {offer.direction for offer in found} == {"Outward", "Return"}
    for offer in found:
        amounts = {tariff.level.code: tariff.amount for tariff in offer.tariffs}
        assert amounts["ROUNDTRIP"] < amounts["STANDARD"]
        locked = [tariff.level.code for tariff in offer.tariffs if tariff.level.roundtrip]
        assert locked == ["ROUNDTRIP"]


def test_one_way_has_no_round_trip_fare(offers):
    for offer in offers.search(ask(*WITH_ROUND_TRIPS, DAYS[0])):
        assert not has_round_trip_fare(offer)
        tariffs = offer.to_wire("en")["tariffs"]
        assert all(tariff["roundtrip_locked"] is False for tariff in tariffs)


def test_sailing_without_return_has_no_round_trip_fare(offers):
    found = offers.search(query("GNV", "ITGOA", "ITOLB", DAYS[0], back=date(2300, 1, 1)))
    assert {offer.direction for offer in found} == {"Outward"}
    assert not any(has_round_trip_fare(offer) for offer in found)


def test_company_without_round_trip_fares_omits_the_field(offers):
    found = offers.search(ask(*WITHOUT_ROUND_TRIPS, DAYS[0], back=DAYS[1]))
    assert {offer.direction for offer in found} == {"Outward", "Return"}
    for offer in found:
        assert all("roundtrip_locked" not in each for each in offer.to_wire("en")["tariffs"])


# Places


MAN = Traveller("Adult", 40, "Male")
WOMAN = Traveller("Adult", 40, "Female")
BOY = Traveller("Child", 8, "Male")
BABY = Traveller("Infant", 0, "Male")


@pytest.mark.parametrize(
    ("party", "shared"),
    [
        pytest.param((MAN,), {"BERTH_M"}, id="man"),
        pytest.param((WOMAN, WOMAN), {"BERTH_F"}, id="two-women"),
        pytest.param((MAN, WOMAN), set(), id="couple"),
        pytest.param((MAN, BOY), set(), id="father-with-son"),
        pytest.param((MAN, MAN, MAN, MAN), set(), id="four-men"),
    ],
)
def test_few_adults_of_one_gender_share_a_cabin(party, shared):
    (offer, *_) = nightly(party=party)
    assert {place.kind.code for place in offer.places if place.kind.use == "Shared"} == shared


def test_only_shared_places_are_for_one_gender():
    (offer, *_) = nightly(party=(MAN,))
    for place in offer.places:
        assert (place.kind.gender == "Any") is (place.kind.use == "Exclusive")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8])
def test_every_place_holds_the_whole_party(size):
    men = (MAN,) * (size - 1)
    (offer, *_) = nightly(party=(*men, WOMAN, BABY))
    assert min(place.capacity for place in offer.places) >= size


def test_client_knows_the_kinds_of_place():
    kinds = load_records("places.json")["places"]
    assert {kind["gender"] for kind in kinds} == {*PlaceGender}
    assert {kind["use"] for kind in kinds} == {*PlaceUse}


def inside_cabin(size):
    """Return the inside cabin of four berths that a party of this size is offered."""
    (offer, *_) = nightly(party=(MAN,) * size)
    (cabin,) = [place for place in offer.places if place.kind.code == "INSIDE_4"]
    return cabin


def test_cabin_has_one_price_for_any_party():
    assert inside_cabin(1).capacity == inside_cabin(4).capacity == 4
    assert inside_cabin(1).supplement == inside_cabin(4).supplement


def test_large_party_gets_two_cabins():
    one_cabin = inside_cabin(4)
    two_cabins = inside_cabin(5)
    assert two_cabins.capacity == 8
    assert abs(two_cabins.supplement - 2 * one_cabin.supplement) <= Decimal("0.01")
    assert two_cabins.count == one_cabin.count // 2


def test_overnight_ship_has_cabins(localised):
    (offer, *_) = nightly()
    assert {place.kind.type for place in offer.places} == {"Seat", "Cabin", "Suite"}
    assert localised["en"]["animals"]["cabin"] is True


def test_fast_ship_takes_no_animals(offers):
    (fast, *_) = offers.search(query("TRASMAPI", "ESIBZ", "ESFLD", DAYS[0]))
    assert fast.to_wire("en")["animals"] is None


@pytest.fixture(scope="module")
def approaching():
    """Return the offers of one day, searched on days that approach it."""
    day = datetime(2026, 8, 14, tzinfo=UTC)
    days_ahead = (200, 100, 60, 20, 5, 1)
    search = query(*SHORT, day.date())
    return [at(day - timedelta(days=each)).search(search) for each in days_ahead]


def test_fewer_places_are_left_as_departure_approaches(approaching):
    counts = {}
    for found in approaching:
        for offer in found:
            counts.setdefault(offer.sailing.id, []).append(offer.places[0].count)
    for left in counts.values():
        assert left == sorted(left, reverse=True)
        assert left[0] > left[-1]


def test_fewer_sailings_are_offered_as_departure_approaches(approaching):
    numbers = [len(found) for found in approaching]
    assert numbers == sorted(numbers, reverse=True)
    assert 0 < numbers[-1] < numbers[0]
