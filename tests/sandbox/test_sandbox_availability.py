"""One availability: its fields, tariffs and places."""

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from sandbox_queries import DAYS, FAMILY, NOW, PAIRS, SHORT, at, nightly, query

from ferry_sdk.sandbox.offers.accommodation import Traveller
from tests.support.tables import each

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
