"""Results and errors of searches."""

import hashlib
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

from sandbox_queries import ADULT, DAYS, FAMILY, NETWORK, NOW, PAIRS, SHORT, at, nightly, query

from ferry_sdk import PlaceGender, PlaceUse
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import journey_id, load_records
from ferry_sdk.sandbox.offers import offers as offers_module
from ferry_sdk.sandbox.offers.accommodation import Traveller
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
