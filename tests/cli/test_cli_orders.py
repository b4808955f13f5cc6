"""Order files: both forms, and errors in them."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.support import trip as later
from tests.support.summer import DAY, stopped
from tests.support.tiers import mostly_long

PERSON = {
    "type": "Adult",
    "first_name": "Ada",
    "last_name": "Reyes",
    "gender": "Female",
    "age": 34,
}
SEARCH = {"origin": "Genova", "destination": "ITPMO", "on": f"{DAY}", "companies": ["GNV"]}


@pytest.fixture
def arguments(cli) -> dict:
    """The arguments of `bookings.create`, from the output of a search."""
    words = ["Tarifa", "MATNG", "--on", f"{later.DAY}", "--adult", "34F", "--company", "BALEARIA"]
    trip = cli("search", *words, "--json").document["trips"][0]
    return {
        "availabilities": trip["fares"][0]["availabilities"],
        "passengers": [PERSON],
        "reservation_type": trip["fares"][0]["reservation_type"],
        "contact": {"name": "Ada Reyes", "email": "ada@example.org"},
    }


def test_the_arguments_of_create(cli, ferry, arguments):
    made = cli("book", "--from", "-", "--yes", "--json", given=json.dumps(arguments)).document
    assert ferry.bookings.get(made["booking"]["booking_id"]).ticket_count == 1


def test_travellers_of_a_file_have_the_ages_of_the_day(cli, tmp_path):
    head = "first_name,last_name,gender,birth_date\n"
    rows = "Zoë,Ngũgĩ,F,1991-04-02\r\nLeo,Ngũgĩ,M,2038-06-03\n"
    (tmp_path / "party.csv").write_text("\ufeff" + head + rows, encoding="utf-8")
    party = [{"gender": "F", "birth_date": "1991-04-02"}, {"gender": "M", "age": 9}]
    (tmp_path / "party.json").write_text(json.dumps(party), encoding="utf-8")
    words = ["Tarifa", "MATNG", "--company", "BALEARIA", "--json", "--travellers"]
    for file, day, ages in [
        ("party.csv", "2050-06-02", [59, 11]),
        ("party.csv", "2050-06-03", [59, 12]),
        ("party.json", "2050-06-03", [59, 9]),
    ]:
        search = cli("search", *words, file, "--on", day).document["search"]
        assert [one["age"] for one in search["passengers"]] == ages, (file, day)
    days = ["--from", "2050-06-02", "--to", "2050-06-03"]
    assert cli("calendar", *words, "party.csv", *days).document["cheapest"]
    for content, said in [
        ("first_name,colour\nAda,red\n", "travellers[0].colour"),
        ('[{"age": 4, "age": 5}]', "duplicate name"),
        ("[]", "at least one"),
        ("[", "neither valid JSON nor CSV"),
    ]:
        (tmp_path / "wrong").write_text(content, encoding="utf-8")
        assert said in cli("search", *words, "wrong", "--on", "2050-06-03", code=3).out


def test_a_search_and_a_choice_with_a_vehicle(cli, ferry, ferry_sandbox):
    stopped(ferry_sandbox)
    order = {
        "search": {**SEARCH, "vehicle": "FIAT__500"},
        "choices": [{"leaves": "22:05", "tariff": "Option", "place": "Suite for 2"}],
        "passengers": [PERSON],
    }
    made = cli("book", "--from", "-", "--yes", "--json", given=json.dumps(order)).document
    booking = ferry.bookings.get(made["booking"]["booking_id"])
    assert booking.journey_details["outward"]["place_name"] == "Suite for 2"
    assert booking.tickets[0].vehicle.vehicule_code == "FIAT__500"
    left = booking.expire_at - ferry_sandbox.clock.now()
    assert left > timedelta(hours=12)  # a ticket would not be held so long


def test_a_search_of_a_file_may_be_for_a_presale(cli, ferry, ferry_sandbox):
    stopped(ferry_sandbox)
    for changes, choices, is_presale in [
        ({}, [], False),
        ({"reservation_type": "PRESALE"}, [], True),
        ({}, [{"tariff": "Presale"}], True),
    ]:
        order = {"search": {**SEARCH, **changes}, "choices": choices, "passengers": [PERSON]}
        made = cli("book", "--from", "-", "--yes", "--json", given=json.dumps(order)).document
        booking = ferry.bookings.get(made["booking"]["booking_id"])
        left = booking.expire_at - ferry_sandbox.clock.now()
        assert (left > timedelta(days=1)) is is_presale, (changes, choices)


def test_a_flexible_search_is_booked_from_a_file(cli, ferry):
    words = ["search", "Genoa", "Palermo", "--on=2050-06-01", "--flexible=2", "--adult=34F"]
    search = cli(*words, "--json").document["search"]
    order = json.dumps({"search": search, "passengers": [PERSON]})
    made = cli("book", "--from", "-", "--yes", "--json", given=order).document
    booking = ferry.bookings.get(made["booking"]["booking_id"])
    departure = booking.tickets[0].availability.outward.journey.depart_at
    assert f"{departure:%Y-%m-%d}" in {"2050-05-31", "2050-06-03"}


@pytest.mark.parametrize(
    ("order", "named"),
    mostly_long(
        [
            ("[", "not valid JSON"),
            ("[" * 100_000, "not valid JSON"),
            ("[]", "-: Input should be"),
            ('{"contact": null, "passengers": [{"age": 1, "age": 2}]}', "-: age: duplicate name"),
            ({"passengers": []}, "passengers"),
            ({"passengers": [PERSON]}, "availabilities or search"),
            ({"passengers": [{**PERSON, "age": "old"}], "search": SEARCH}, "passengers[0].age"),
            ({"passengers": [{**PERSON, "name": "x"}], "search": SEARCH}, "passengers[0].name"),
            ({"passengers": [PERSON], "search": {**SEARCH, "on": "soon"}}, "search.on"),
            (
                {
                    "passengers": [{k: PERSON[k] for k in ("type", "first_name", "last_name")}],
                    "search": SEARCH,
                },
                "passengers[0]",
            ),
            (
                {"passengers": [PERSON], "search": SEARCH, "choices": [{"leaves": "03:33"}]},
                "choices[0].leaves",
            ),
            (
                {"passengers": [PERSON], "search": SEARCH, "choices": [{"tariff": "Gift"}]},
                "choices[0].tariff",
            ),
            (
                {"passengers": [PERSON], "search": SEARCH, "choices": [{"place": "Deck"}]},
                "choices[0].place",
            ),
            ({"passengers": [PERSON], "search": SEARCH, "choices": [{}, {}]}, "choices"),
            (
                {"passengers": [PERSON], "search": {**SEARCH, "origin": "Genuva"}},
                "did you mean Genoa (ITGOA)?",
            ),
            ({"passengers": [PERSON], "search": {**SEARCH, "at": "8:30"}}, "search.at"),
            ({"passengers": [PERSON], "search": {**SEARCH, "flexible": -1}}, "search.flexible"),
            ({"passengers": [PERSON], "search": {**SEARCH, "changes": 1}}, "search.changes"),
            (
                {"passengers": [PERSON], "search": {**SEARCH, "vehicle": "FIAT__5OO"}},
                "",
            ),
        ],
        short=4,
    ),
)
def test_an_invalid_order_names_the_field(cli, ferry_sandbox, order, named):
    stopped(ferry_sandbox)
    given = order if isinstance(order, str) else json.dumps(order)
    code = 3 if named else 4
    ended = cli("book", "--from", "-", "--yes", given=given, code=code)
    assert named in ended.err
    assert "Reyes" not in ended.err
    assert "bookings.create" not in ferry_sandbox.counters.requests


def test_a_missing_order_file_is_named(cli):
    assert "nowhere.json" in cli("book", "--from", "nowhere.json", "--yes", code=3).err


def test_a_journal_prevents_a_second_booking(cli, ferry_sandbox, arguments, tmp_path):
    words = ["book", "--from", "-", "--yes", "--journal", f"sqlite:///{tmp_path}/ferry.db"]
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    cli(*words, given=json.dumps(arguments), code=5)
    assert "journal" in cli(*words, given=json.dumps(arguments), code=5).err
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
