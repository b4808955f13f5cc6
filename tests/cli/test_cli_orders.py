"""Order files: both forms, and errors in them."""

import json
import re
from datetime import timedelta

import pytest

from ferry_sdk import InvalidInputError
from ferry_sdk.cli.trips.files import read_travellers
from ferry_sdk.journal import Journal
from ferry_sdk.orders import unfinished
from tests.cli.conftest import ADA
from tests.support import trip as later
from tests.support.effects import effects
from tests.support.summer import DAY, stopped
from tests.support.tiers import mostly_long

SEARCH = {"origin": "Genova", "destination": "ITPMO", "on": f"{DAY}", "companies": ["GNV"]}


@pytest.fixture
def book(cli, ferry):
    """Book an order that comes through a pipe, and return the booking."""

    def book(order):
        words = ("book", "--from", "-", "--yes", "--json")
        made = cli(*words, given=json.dumps(order)).document["booking"]
        return ferry.bookings.get(made["booking_id"])

    return book


def test_the_arguments_of_create_are_not_booked_again_if_a_journal_knows_them(
    cli, book, ferry_sandbox, url
):
    words = ["Tarifa", "MATNG", "--on", f"{later.DAY}", "--adult", "34F", "--company", "BALEARIA"]
    fare = cli("search", *words, "--json").document["trips"][0]["fares"][0]
    chosen = {name: fare[name] for name in ("availabilities", "reservation_type")}
    contact = {"name": "Ada Reyes", "email": "ada@example.org"}
    arguments = {**chosen, "passengers": [ADA], "contact": contact}
    assert book(arguments).ticket_count == 1
    words = ["book", "--from", "-", "--yes", "--journal", url]
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    lost, again = (cli(*words, given=json.dumps(arguments), code=5).err for _ in range(2))
    with Journal(url) as journal:
        (entry,) = journal.unresolved()
    assert f"ferry journal settle {entry.id}" in lost
    assert "journal" in again
    assert effects(ferry_sandbox) == ["bookings.create"] * 2
    assert "nowhere.json" in cli("book", "--from", "nowhere.json", "--yes", code=3).err


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
        with pytest.raises(InvalidInputError, match=re.escape(said)):
            read_travellers(tmp_path / "wrong")
    ended = cli("search", *words, "wrong", "--on", "2050-06-03", code=3)
    assert "neither valid JSON nor CSV" in ended.document["error"]["message"]


@pytest.fixture
def party(tmp_path):
    """The options of a booking for one named traveller."""
    content = "first_name,last_name,gender,birth_date\nAda,Reyes,F,1991-04-02\n"
    (tmp_path / "party.csv").write_text(content, "utf-8")
    return ["--travellers", "party.csv", "--yes"]


def test_the_cheapest_trip_is_booked_for_named_travellers_and_a_flexible_search_of_a_file(
    cli, book, ferry, party
):
    words = ["Genoa", "Palermo", "--on", "2050-06-01", "--flexible", "2", "--vehicle", "fiat 500"]
    cheapest = cli("search", *words, "--adult", "59F", "--json").document["trips"][0]
    ended = cli("book", *words, *party, "--json")
    assert f"{cheapest['price']} EUR" in ended.err
    (ticket,) = ferry.bookings.get(ended.document["booking"]["booking_id"]).tickets
    assert ticket.availability.outward.journey.depart_at.isoformat() == cheapest["depart_at"]
    (traveller,) = ticket.passengers
    assert (traveller.first_name, traveller.last_name) == ("Ada", "Reyes")
    assert ticket.vehicle.vehicule_code == "FIAT__500"
    words = ["search", "Genoa", "Palermo", "--on=2050-06-01", "--flexible=2", "--adult=34F"]
    search = cli(*words, "--json").document["search"]
    (ticket,) = book({"search": search, "passengers": [ADA]}).tickets
    departure = ticket.availability.outward.journey.depart_at
    assert f"{departure:%Y-%m-%d}" in {"2050-05-31", "2050-06-03"}


def test_two_sailings_that_meet_are_booked_as_one_order(cli, ferry, ferry_sandbox, party, url):
    words = ["book", "Barcelona", "Tunis", "--on", f"{later.DAY}", "--changes", "1", *party]
    assert "--journal" in cli(*words, code=2).err
    words += ["--journal", url]
    ferry_sandbox.faults.add("refused", "bookings.create", status=409, code="CONFLICT", after=1)
    assert "CONFLICT" in cli(*words, code=4).err
    ended = cli(*words)
    assert "separate tickets: nobody is bound to wait" in ended.err
    creation = "bookings.create"
    assert effects(ferry_sandbox) == [creation, "bookings.cancel", creation, creation]
    first, _, *made = [one.subject for one in ferry_sandbox.counters.effects]
    assert ferry.bookings.get(first).stage == "voided"
    assert "held" in ended.out
    for booking in map(ferry.bookings.get, made):
        assert booking.stage == "payment_due"
        assert f"{booking.total_price:.2f} EUR" in ended.out
        assert f"ferry confirm {booking.booking_id}" in ended.out
    ferry_sandbox.faults.add("lose_reply", "bookings.create", after=1)
    message = cli(*words, code=5).err
    with Journal(url) as journal:
        (left,) = unfinished(journal=journal)
    assert f"run `ferry orders resume {left.id}`" in message


def test_a_birthday_between_two_sailings_is_refused_before_anything_is_sent(
    cli, ferry, ferry_sandbox, party, tmp_path, url
):
    adult = later.TRAVELLERS[:1]
    found = ferry.trips.connections("Barcelona", "Tunis", on=later.DAY, passengers=adult)
    first, second = (leg.depart_at.date() for leg in found[0].legs)
    assert first < second
    birthday = second.replace(year=second.year - 35)
    content = f"first_name,last_name,gender,birth_date\nAda,Reyes,F,{birthday}\n"
    (tmp_path / "party.csv").write_text(content, "utf-8")
    words = ["Barcelona", "Tunis", "--on", f"{later.DAY}", "--changes", "1", "--journal", url]
    message = cli("book", *words, *party, code=3).err
    assert "not the age of the birth date on the day of travel" in message
    assert not ferry_sandbox.counters.effects


def test_a_search_of_a_file_has_choices_and_may_be_for_a_presale(book, ferry_sandbox):
    stopped(ferry_sandbox)
    suite = {"leaves": "22:05", "tariff": "Option", "place": "Suite for 2"}
    search = {**SEARCH, "vehicle": "FIAT__500"}
    booking = book({"search": search, "choices": [suite], "passengers": [ADA]})
    assert booking.journey_details["outward"]["place_name"] == "Suite for 2"
    assert booking.tickets[0].vehicle.vehicule_code == "FIAT__500"
    left = booking.expire_at - ferry_sandbox.clock.now()
    assert left > timedelta(hours=12)  # a ticket would not be held so long
    for changes, choices, is_presale in [
        ({}, [], False),
        ({"reservation_type": "PRESALE"}, [], True),
        ({}, [{"tariff": "Presale"}], True),
    ]:
        order = {"search": {**SEARCH, **changes}, "choices": choices, "passengers": [ADA]}
        left = book(order).expire_at - ferry_sandbox.clock.now()
        assert (left > timedelta(days=1)) is is_presale, (changes, choices)


INVALID = [
    ("[", "not valid JSON"),
    ("[" * 100_000, "not valid JSON"),
    ("[]", "-: Input should be"),
    ('{"contact": null, "passengers": [{"age": 1, "age": 2}]}', "-: age: duplicate name"),
    ({"passengers": []}, "passengers"),
    ({"search": None}, "availabilities or search"),
    ({"passengers": [{**ADA, "age": "old"}]}, "passengers[0].age"),
    ({"passengers": [{**ADA, "name": "x"}]}, "passengers[0].name"),
    ({"passengers": [{"type": "Adult", "first_name": "Ada"}]}, "passengers[0]"),
    ({"choices": [{"leaves": "03:33"}]}, "choices[0].leaves"),
    ({"choices": [{"tariff": "Gift"}]}, "choices[0].tariff"),
    ({"choices": [{"place": "Deck"}]}, "choices[0].place"),
    ({"choices": [{}, {}]}, "choices"),
    ({"search": {**SEARCH, "on": "soon"}}, "search.on"),
    ({"search": {**SEARCH, "origin": "Genuva"}}, "did you mean Genoa (ITGOA)?"),
    ({"search": {**SEARCH, "at": "8:30"}}, "search.at"),
    ({"search": {**SEARCH, "flexible": -1}}, "search.flexible"),
    ({"search": {**SEARCH, "changes": 1}}, "search.changes"),
    ({"search": {**SEARCH, "vehicle": "FIAT__5OO"}}, ""),
]


@pytest.mark.parametrize(("order", "named"), mostly_long(INVALID, short=4))
def test_an_invalid_order_names_the_field(cli, ferry_sandbox, order, named):
    stopped(ferry_sandbox)
    valid = {"passengers": [ADA], "search": SEARCH}
    given = order if isinstance(order, str) else json.dumps(valid | order)
    ended = cli("book", "--from", "-", "--yes", given=given, code=3 if named else 4)
    assert named in ended.err
    assert "Reyes" not in ended.err
    assert "bookings.create" not in ferry_sandbox.counters.requests
