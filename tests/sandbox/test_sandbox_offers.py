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
    searches = (offers.search(ask(*pair, DAYS[0], party=FAMILY)) for pair in PAIRS[::7])
    answers = [offer.to_wire("fr") for found in searches for offer in found]
    assert len(answers) > 100
    return hashlib.sha256(json.dumps(answers).encode()).hexdigest()


@LONG
def test_a_search_gives_the_same_result_in_every_process(monkeypatch):
    seed = os.environ.get("PYTHONHASHSEED")
    monkeypatch.setenv("PYTHONHASHSEED", "2" if seed == "1" else "1")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as another:
        assert another.submit(digest).result() == digest()


def test_seed_request_and_time_determine_a_search():
    asked = query(*SHORT, DAYS[0])
    offers = at()
    found = offers.search(asked)
    assert found == offers.search(asked)
    assert [each.fare for each in found] == [each.fare for each in at().search(asked)]
    later = at(NOW + timedelta(seconds=1)).search(asked)
    assert {each.id for each in found}.isdisjoint(each.id for each in later)
    other = at(seed=2).search(asked)
    assert [each.fare for each in found] != [each.fare for each in other]
    assert [each.sailing.depart_at for each in found] != [each.sailing.depart_at for each in other]
    by_id = query(NETWORK.companies["BALEARIA"].id, *SHORT[1:], DAYS[0])
    assert [each.sailing for each in offers.search(by_id)] == [each.sailing for each in found]


def test_every_company_has_offers_and_no_sailing_is_sold_out_a_week_ahead():
    offers = at()
    for company, there in PAIRS:
        days = (offers.search(ask(company, there, day)) for day in DAYS)
        found = next((each for each in days if each), None)
        assert found, (company.code, there.key)
        if there.route.fast or there.route.minutes < 240:
            assert {place.kind.type for each in found for place in each.places} == {"Seat"}
    for month in (1, 8):
        day = date(2027, month, 13)
        offers = at(datetime(2027, month, 5, tzinfo=timezone.utc))
        for pair in PAIRS[month % 2 :: 2]:
            sailings = offers.timetable.sailings(*pair, day)
            assert len(offers.search(ask(*pair, day))) == len(sailings)


def test_offers_depart_from_the_requested_time_on_earliest_first():
    found = at().search(query(*SHORT, DAYS[0], earliest=time(15)))
    times = [each.sailing.depart_at for each in found]
    assert times == sorted(times)
    assert times[0].time() >= time(15)
    assert {each.date() for each in times} == {DAYS[0]}
    assert len(found) < len(at().search(query(*SHORT, DAYS[0])))
    noon = datetime(2026, 7, 13, 12, tzinfo=timezone.utc)
    offers = at(noon)
    assert offers.search(query(*SHORT, DAYS[0] - timedelta(days=1))) == ()
    today = offers.search(query(*SHORT, DAYS[0]))
    assert min(each.sailing.depart_at for each in today) > noon
    # A search beyond the calendar finds nothing.
    for day in (date(1000, 1, 1), date(2199, 12, 31), date(2300, 1, 1), date.max):
        for is_open in (False, True):
            found = at().search(query(*SHORT, day, is_open=is_open))
            assert bool(found) is (day.year == 2199), (day, is_open)


def test_a_search_of_open_tickets_covers_a_week_and_a_return_departs_after_an_arrival():
    found = at().search(query(*SHORT, DAYS[0], earliest=time(22), is_open=True))
    days = [each.sailing.depart_at.date() for each in found]
    assert sorted(set(days)) == DAYS
    assert days.count(DAYS[0]) < days.count(DAYS[1])
    for offer in found:
        assert offer.is_open is offer.to_wire("en")["is_open"] is True
        assert [each.level.code for each in offer.tariffs] == ["FLEX"]
        assert offer.valid_until == NOW + timedelta(days=365)
    found = at().search(query(*SHORT, DAYS[0], back=DAYS[0]))
    assert found[0].valid_until is None
    there = [each.sailing for each in found if each.direction == "Outward"]
    back = [each.sailing for each in found if each.direction == "Return"]
    assert [each.to_wire("en")["group_id"] for each in found] == [1] * len(there) + [2] * len(back)
    assert min(each.depart_at for each in back) >= min(each.arrive_at for each in there)
    assert {each.journey.key for each in back} == {"MAPTM-ESALG"}


def test_offers_tariffs_and_places_can_be_found_by_id_with_the_prices_of_their_search():
    clock = Clock(NOW, frozen=True)
    offers = Offers(clock, 1)
    found = offers.search(query(*SHORT, DAYS[0], party=FAMILY, vehicle="FIAT__500"))
    ids = set()
    for offer in found:
        again = offers.find(offer.id)
        assert again == offer
        assert all(again.tariff(tariff.id) == tariff for tariff in offer.tariffs)
        assert all(again.place(place.id) == place for place in offer.places)
        ids |= {offer.id, *(each.id for each in (*offer.tariffs, *offer.places))}
    assert len(ids) == sum(1 + len(each.tariffs) + len(each.places) for each in found)
    assert found[0].tariff(found[1].tariffs[0].id) is None
    assert found[0].place("nowhere") is offers.find("nowhere") is at().find(found[0].id) is None
    many = offers.search(query("ORESUND", "SEHEL", "DKHLS", DAYS[0], back=DAYS[1], is_open=True))
    assert len(many) == len({each.id for each in many}) == 2 * 7 * 72
    (offer, *_) = offers.search(query(*SHORT, DAYS[0]))
    clock.advance(timedelta(days=70))
    assert offers.find(offer.id) == offer
    later = {each.sailing.id: each for each in offers.search(query(*SHORT, DAYS[0]))}
    assert later[offer.sailing.id].fare > offer.fare


def test_the_oldest_offers_are_forgotten_and_a_repeated_search_renews_its_offers(monkeypatch):
    offers = at()
    first, second, third = (query(*SHORT, day, earliest=time(21)) for day in DAYS[:3])
    size = len(offers.search(first))
    monkeypatch.setattr(offers_module, "_CACHE_SIZE", 2 * size)
    forgotten = offers.search(second)
    again = offers.search(first)
    kept = offers.search(third)
    assert len(again) == len(kept) == size
    assert all(offers.find(each.id) for each in (*again, *kept))
    assert not any(offers.find(each.id) for each in forgotten)


def test_the_fare_includes_the_party_and_the_vehicle_and_can_follow_other_ages():
    offers = at()
    (offer, *_) = nightly(offers, party=(ADULT, Traveller("Child", 11, "Male")))
    older = offers.for_travellers(offer, (ADULT, Traveller("Child", 12, "Male")))
    assert (older.id, older.sailing) == (offer.id, offer.sailing)
    assert offer.fare == older.fare * 3 / 4
    assert offers.for_travellers(offer, offer.party.travellers) == offer
    [alone, *_], [family, *_] = nightly(), nightly(party=FAMILY)
    (driving, *_) = nightly(vehicle="FIAT__500")
    assert family.fare == alone.fare * Decimal("2.5")
    assert driving.fare > alone.fare
    (entry,) = driving.to_wire("en")["vehicle"]
    assert entry["code"] == "FIAT__500"


def test_a_search_that_does_not_fit_the_network_names_its_field():
    other = {"out_journey_id": journey_id("ITGOA", "TNLGN")}
    ctn, on_foot = ("CTN", "FRMRS", "TNLGN"), ("LIBERTY", "ITMLZ", "ITLIP")
    fast, unsailed = ("VIRTU", "ITPZL", "MTMLA"), {"back": DAYS[6], "ret_journey_id": "?"}
    for reason, field, line, how in (
        ("unknown_company", "request.company", ("NOBODY", *ctn[1:]), {}),
        ("journey_not_sailed", "request.company", ("GNV", *ctn[1:]), {}),
        ("unknown_port", "request.arrive_code", (*ctn[:2], "XXXXX"), {}),
        ("unknown_port", "request.depart_code", ("CTN", "XXXXX", "TNLGN"), {}),
        ("unknown_journey", "request.out_journey_id", (*ctn[:2], "ITGOA"), {}),
        ("ports_mismatch", "request.out_journey_id", ctn, other),
        ("unknown_journey", "request.ret_journey_id", ctn, unsailed),
        ("no_vehicles", "vehicle.code", on_foot, {"vehicle": "FIAT__500"}),
        ("vehicle_too_high", "vehicle.code", fast, {"vehicle": "ADRIA_MOBIL__CORAL_XL"}),
        ("vehicle_is_freight", "vehicle.code", ctn, {"vehicle": "GENERIC__TRUCK"}),
    ):
        (problem,) = caught(RefusedError, at().search, query(*line, DAYS[0], **how)).problems
        assert (problem.path, problem.text) == (field, reason), line
    # A fast ship carries low vehicles.
    assert at().search(query(*fast, DAYS[0], vehicle="FIAT__500"))


WINTER = datetime(2026, 1, 10, 12, tzinfo=timezone.utc)
FARES = Fares(SeededRandom(1))


def first_sailing(company, journey, month=7, seed=1):
    timetable = Timetable(SeededRandom(seed))
    return next(timetable.sailings_from(company, journey, date(2026, month, 13), 14))


def test_fares_follow_the_age_the_days_ahead_and_the_month():
    pair = NETWORK.companies["CTN"], journey("FRMRS", "TNLGN")
    july, february = (first_sailing(*pair, month=month) for month in (7, 2))
    adult = FARES.adult(july, WINTER)
    ages = [FARES.passenger(july, age, WINTER) for age in (1, 2, 15, 16)]
    assert ages == [0, adult // 2, adult // 2, adult]
    early, late = (FARES.adult(july, july.depart_at - timedelta(days=left)) for left in (99, 1))
    assert late > early
    long_ago = datetime(2025, 9, 1, tzinfo=timezone.utc)
    assert FARES.adult(july, long_ago) > FARES.adult(february, long_ago)


def test_fares_depend_on_the_route_the_ship_the_vehicle_and_the_day_of_the_week():
    for pair in PAIRS:
        assert 400 < FARES.adult(first_sailing(*pair), WINTER) < 60_000  # cents
    gnv, ctn = NETWORK.companies["GNV"], NETWORK.companies["CTN"]
    near, far = (first_sailing(gnv, journey(port, "TNLGN")) for port in ("ITPMO", "ITGOA"))
    assert FARES.adult(near, WINTER) < FARES.adult(far, WINTER)
    fast = first_sailing(NETWORK.companies["VIRTU"], journey("ITPZL", "MTMLA"))
    route = dataclasses.replace(fast.journey.route, fast=False)
    slow = dataclasses.replace(fast, journey=dataclasses.replace(fast.journey, route=route))
    assert FARES.adult(fast, WINTER) > FARES.adult(slow, WINTER)
    pair = NETWORK.companies["ORESUND"], journey("SEHEL", "DKHLS")
    now = datetime(2026, 7, 1, tzinfo=timezone.utc)
    days = (Timetable.of_seed(1).sailings(*pair, date(2026, 7, day)) for day in (16, 17))
    thursday, friday = ([FARES.adult(each, now) for each in sailings] for sailings in days)
    assert sum(friday) / len(friday) > sum(thursday) / len(thursday) * 1.05
    sailing = first_sailing(ctn, journey("FRMRS", "TNLGN"))
    fiat = NETWORK.vehicle("FIAT__500")
    low, higher, high, highest = (
        FARES.vehicle(sailing, type(fiat)("X", "X", "X", fiat.type, fiat.length, height), WINTER)
        for height in (ctn.low_vehicle, ctn.low_vehicle + 0.01, 2.6, 2.61)
    )
    assert low < higher == high < highest


def test_the_values_of_an_availability_are_those_of_its_offer():
    for offer in nightly(back=DAYS[-1] + timedelta(days=7), party=FAMILY, vehicle="FIAT__500"):
        record = json.loads(json.dumps(offer.to_wire("ar")))
        for tariff in record["tariffs"]:
            assert tariff["type"] in {"Ticket", "Presale", "Option"}
            assert tariff["currency"] == "Eur"
            assert tariff["amount"] == round(tariff["amount"], 2) > 0
            assert tariff["date"] < tariff["expiration_date"]
        for number, place in enumerate(record["places"], 1):
            assert place["index"] == number
            assert place["type"] in {"Seat", "Cabin", "Suite"}
            assert place["count"] > 0
        departs, arrives = map(datetime.fromisoformat, (record["depart_at"], record["arrive_at"]))
        assert departs == offer.sailing.depart_at
        assert arrives - departs == timedelta(minutes=offer.sailing.minutes)
        assert abs(record["duration"] * 60 - offer.sailing.minutes) <= 40
        assert record["passenger_count"] == 4
        assert len(record["vehicle"]) == 1


@given(st.sampled_from(PAIRS), st.integers(0, 14 * 24 * 60), st.booleans())
def test_no_tariff_expires_after_the_departure_or_the_end_of_an_open_ticket(pair, minutes, is_open):
    departs = datetime(2026, 7, 14, 21, tzinfo=timezone.utc)
    offers = at(departs - timedelta(minutes=minutes))
    for offer in offers.search(ask(*pair, date(2026, 7, 14), is_open=is_open)):
        assert offer.is_open == is_open
        for tariff in offer.tariffs:
            assert offer.issued_at < tariff.expires_at <= offer.ends_at
            assert is_open or tariff.expires_at <= offer.sailing.depart_at


def test_each_tariff_has_its_own_validity_and_better_tariffs_and_places_cost_more():
    (offer, *_) = nightly()
    holds = {each.level.code: each.expires_at - offer.issued_at for each in offer.tariffs}
    half_an_hour = dict.fromkeys(("SAVER", "STANDARD", "FLEX"), timedelta(minutes=30))
    days = {"PRESALE": timedelta(days=3), "OPTION": timedelta(days=1)}
    assert holds == half_an_hour | days
    assert offer.issued_at == NOW
    assert {each.level.family for each in offer.tariffs} == {"saver", "standard", "flex"}
    day = datetime(2026, 7, 13, 12, tzinfo=timezone.utc)
    later = {5: {"Ticket", "Option"}, 0: {"Ticket"}}
    for before, types in ({20: {"Ticket", "Presale", "Option"}} | later).items():
        found = at(day - timedelta(days=before)).search(query(*SHORT, date(2026, 7, 14)))
        assert {tariff.level.type for each in found for tariff in each.tariffs} == types, before
    for offer in nightly(party=FAMILY, vehicle="FIAT__500"):
        tariffs = {each.level.code: each for each in offer.tariffs}
        names = ("FLEX", "STANDARD", "SAVER")
        for place in offer.places:
            flex, standard, saver = (offer.price(tariffs[name], place) for name in names)
            assert flex > standard > saver
        for fare in offer.tariffs:
            prices = [offer.price(fare, place) for place in offer.places]
            assert fare.amount == min(prices)
            assert all(price.as_tuple().exponent == -2 for price in prices)
    (offer, *_) = nightly()
    price = {each.kind.code: offer.price(offer.tariffs[0], each) for each in offer.places}
    assert price["SEAT"] < price["RECLINER"] < price["BERTH_F"] < price["INSIDE_2"]
    assert price["INSIDE_2"] < price["OUTSIDE_2"] < price["SUITE_2"] < price["SUITE_4"]


def test_only_round_trips_have_round_trip_fares_in_both_directions():
    fares = [pair for pair in PAIRS if pair[0].round_trip_fares and pair[1].route.round_the_clock]
    locked = set()
    for offer in at().search(ask(*fares[0], DAYS[0], back=DAYS[3])):
        amounts = {each.level.code: each.amount for each in offer.tariffs}
        assert amounts["ROUNDTRIP"] < amounts["STANDARD"]
        assert [each.level.code for each in offer.tariffs if each.level.roundtrip] == ["ROUNDTRIP"]
        locked.add(offer.direction)
    assert locked == {"Outward", "Return"}
    for offer in at().search(ask(*fares[0], DAYS[0])):
        assert not any(each.level.roundtrip for each in offer.tariffs)
        assert all(each["roundtrip_locked"] is False for each in offer.to_wire("en")["tariffs"])
    # Nothing sails back.
    found = at().search(query("GNV", "ITGOA", "ITOLB", DAYS[0], back=date(2300, 1, 1)))
    assert {each.direction for each in found} == {"Outward"}
    assert not any(tariff.level.roundtrip for each in found for tariff in each.tariffs)
    # Companies without these fares omit the field.
    none = [pair for pair in PAIRS if not pair[0].round_trip_fares and pair[1].route.minutes < 100]
    found = at().search(ask(*none[0], DAYS[0], back=DAYS[1]))
    assert {each.direction for each in found} == {"Outward", "Return"}
    for offer in found:
        assert all("roundtrip_locked" not in each for each in offer.to_wire("en")["tariffs"])


MAN, WOMAN = Traveller("Adult", 40, "Male"), Traveller("Adult", 40, "Female")


def test_places_hold_the_whole_party_and_shared_cabins_a_few_adults_of_one_gender():
    boy = Traveller("Child", 8, "Male")
    for party, shared in {
        (MAN,): {"BERTH_M"},
        (WOMAN, WOMAN): {"BERTH_F"},
        **{(MAN, *others): set() for others in ([WOMAN], [boy], [MAN] * 3)},
    }.items():
        (offer, *_) = nightly(party=party)
        found = {each.kind.code for each in offer.places if each.kind.use == "Shared"}
        assert found == shared, party
        for place in offer.places:
            assert (place.kind.gender == "Any") is (place.kind.use == "Exclusive")
    for size in (1, 2, 3, 4, 5, 8):
        party = (MAN,) * (size - 1) + (WOMAN, Traveller("Infant", 0, "Male"))
        (offer, *_) = nightly(party=party)
        assert min(each.capacity for each in offer.places) >= size
    kinds = load_records("places.json")["places"]  # the client knows them
    assert {place["gender"] for place in kinds} == {*PlaceGender}
    assert {place["use"] for place in kinds} == {*PlaceUse}
    # A cabin has one price, and a large party gets several.
    offers = [nightly(party=(MAN,) * size)[0] for size in (1, 4, 5)]
    alone, four, five = (
        next(each for each in offer.places if each.kind.code == "INSIDE_4") for offer in offers
    )
    assert (alone.capacity, four.capacity, five.capacity) == (4, 4, 8)
    assert alone.supplement == four.supplement
    assert abs(five.supplement - 2 * four.supplement) <= Decimal("0.01")
    assert five.count == four.count // 2


def test_names_are_localised_and_overnight_ships_have_cabins_and_animals():
    (offer, *_) = nightly()
    names = {language: offer.to_wire(language) for language in ("en", "fr", "it", "es", "el", "ar")}
    ports = [names[language]["depart_name"] for language in ("fr", "it", "ar")]
    assert ports == ["Gênes", "Genova", "جنوة"]
    for number in range(len(offer.places)):
        assert len({record["places"][number]["name"] for record in names.values()}) >= 3
    meals = {tuple(meal["name"] for meal in record["meals"]) for record in names.values()}
    assert ("Dîner", "Petit-déjeuner", "Déjeuner") in meals
    assert len(meals) == 6
    assert offer.to_wire("sv")["places"][0]["name"] == "Seat"
    assert names["en"]["animals"]["cabin"] is True
    assert {each.kind.type for each in offer.places} == {"Seat", "Cabin", "Suite"}
    (fast, *_) = at().search(query("TRASMAPI", "ESIBZ", "ESFLD", DAYS[0]))
    assert fast.to_wire("en")["animals"] is None


def test_fewer_places_are_left_as_departure_approaches():
    start = datetime(2026, 8, 14, tzinfo=timezone.utc)
    counts, offered = {}, []
    for before in (200, 100, 60, 20, 5, 1):
        found = at(start - timedelta(days=before)).search(query(*SHORT, start.date()))
        offered.append(len(found))
        for offer in found:
            counts.setdefault(offer.sailing.id, []).append(offer.places[0].count)
    assert all(each == sorted(each, reverse=True) for each in counts.values())
    assert all(each[0] > each[-1] for each in counts.values())
    assert offered == sorted(offered, reverse=True)
    assert 0 < offered[-1] < offered[0]
