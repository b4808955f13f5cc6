"""Order files, files of travellers, and bookings of two sailings."""

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


# ---- Orders with availabilities ---------------------------------------------------------------


@pytest.fixture
def arguments(cli):
    """The arguments of `bookings.create`, from the document of a search."""
    words = ["Tarifa", "MATNG", "--on", f"{later.DAY}", "--adult", "34F", "--company", "BALEARIA"]
    fare = cli("search", *words, "--json").document["trips"][0]["fares"][0]
    return {
        "availabilities": fare["availabilities"],
        "reservation_type": fare["reservation_type"],
        "passengers": [ADA],
        "contact": {"name": "Ada Reyes", "email": "ada@example.org"},
    }


def test_fare_of_a_search_is_booked(book, arguments):
    assert book(arguments).ticket_count == 1


def test_lost_order_is_not_booked_again(cli, ferry_sandbox, arguments, url):
    words = ["book", "--from", "-", "--yes", "--journal", url]
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    lost = cli(*words, given=json.dumps(arguments), code=5).err
    again = cli(*words, given=json.dumps(arguments), code=5).err
    with Journal(url) as journal:
        (entry,) = journal.unresolved()
    assert f"ferry journal settle {entry.id}" in lost
    assert "journal" in again
    assert effects(ferry_sandbox) == ["bookings.create"]


@pytest.mark.parametrize("content", ["[]", '"x"'])
def test_order_file_without_an_object_is_refused(cli, tmp_path, content):
    file = tmp_path / "order.json"
    file.write_text(content, "utf-8")
    ended = cli("book", "--from", str(file), "--yes", code=3)
    assert f"{file}: expected an object" in ended.err


def test_missing_order_file_is_named(cli):
    assert "nowhere.json" in cli("book", "--from", "nowhere.json", "--yes", code=3).err


# ---- Files of travellers ----------------------------------------------------------------------

HEAD = "first_name,last_name,gender,birth_date\n"


@pytest.fixture
def files(tmp_path):
    """A party as CSV, as Excel saves it, and one as JSON."""
    rows = "Zoë,Ngũgĩ,F,1991-04-02\r\nLeo,Ngũgĩ,M,2038-06-03\n"
    (tmp_path / "party.csv").write_text("\ufeff" + HEAD + rows, encoding="utf-8")
    party = [{"gender": "F", "birth_date": "1991-04-02"}, {"gender": "M", "age": 9}]
    (tmp_path / "party.json").write_text(json.dumps(party), encoding="utf-8")
    return tmp_path


STRAIT = ["Tarifa", "MATNG", "--company", "BALEARIA", "--json", "--travellers"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("file", "day", "ages"),
    [
        pytest.param("party.csv", "2050-06-02", [59, 11], id="before the birthday"),
        pytest.param("party.csv", "2050-06-03", [59, 12], id="on the birthday"),
        pytest.param("party.json", "2050-06-03", [59, 9], id="JSON"),
    ],
)
def test_travellers_have_the_ages_of_the_day(cli, file, day, ages):
    search = cli("search", *STRAIT, file, "--on", day).document["search"]
    assert [traveller["age"] for traveller in search["passengers"]] == ages


@pytest.mark.usefixtures("files")
def test_calendar_takes_travellers_of_a_file(cli):
    days = ["--from", "2050-06-02", "--to", "2050-06-03"]
    assert cli("calendar", *STRAIT, "party.csv", *days).document["cheapest"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param("first_name,colour\nAda,red\n", "travellers[0].colour", id="unknown field"),
        pytest.param('[{"age": 4, "age": 5}]', "duplicate name", id="duplicate name"),
        pytest.param("[]", "at least one", id="nobody"),
        pytest.param("[", "neither valid JSON nor CSV", id="neither"),
    ],
)
def test_invalid_file_of_travellers_is_refused(tmp_path, content, problem):
    (tmp_path / "wrong").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=re.escape(problem)):
        read_travellers(tmp_path / "wrong")


def test_command_names_an_invalid_file_of_travellers(cli, tmp_path):
    (tmp_path / "wrong").write_text("[", encoding="utf-8")
    ended = cli("search", *STRAIT, "wrong", "--on", "2050-06-03", code=3)
    assert "neither valid JSON nor CSV" in ended.document["error"]["message"]


# ---- Named travellers -------------------------------------------------------------------------


@pytest.fixture
def party(tmp_path):
    """The options of a booking for one named traveller."""
    (tmp_path / "party.csv").write_text(f"{HEAD}Ada,Reyes,F,1991-04-02\n", "utf-8")
    return ["--travellers", "party.csv", "--yes"]


TO_PALERMO = ["Genoa", "Palermo", "--on", "2050-06-01", "--flexible", "2"]


def test_cheapest_trip_is_booked_for_named_travellers(cli, ferry, party):
    words = [*TO_PALERMO, "--vehicle", "fiat 500"]
    cheapest = cli("search", *words, "--adult", "59F", "--json").document["trips"][0]
    ended = cli("book", *words, *party, "--json")
    assert f"{cheapest['price']} EUR" in ended.err

    (ticket,) = ferry.bookings.get(ended.document["booking"]["booking_id"]).tickets
    assert ticket.availability.outward.journey.depart_at.isoformat() == cheapest["depart_at"]
    (traveller,) = ticket.passengers
    assert (traveller.first_name, traveller.last_name) == ("Ada", "Reyes")
    assert ticket.vehicle.vehicule_code == "FIAT__500"


def test_flexible_search_of_a_document_is_booked(cli, book):
    search = cli("search", *TO_PALERMO, "--adult=34F", "--json").document["search"]
    (ticket,) = book({"search": search, "passengers": [ADA]}).tickets
    departure = ticket.availability.outward.journey.depart_at
    assert f"{departure:%Y-%m-%d}" in {"2050-05-31", "2050-06-03"}


# ---- Two sailings -----------------------------------------------------------------------------

BY_PORT = ["book", "Barcelona", "Tunis", "--on", f"{later.DAY}", "--changes", "1"]


def test_two_bookings_need_a_journal(cli, party):
    assert "--journal" in cli(*BY_PORT, *party, code=2).err


def test_refused_second_booking_cancels_the_first(cli, ferry, ferry_sandbox, party, url):
    fault = {"status": 409, "code": "CONFLICT", "after": 1}
    ferry_sandbox.faults.add("refused", "bookings.create", **fault)
    assert "CONFLICT" in cli(*BY_PORT, *party, "--journal", url, code=4).err
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.cancel"]
    first = ferry_sandbox.counters.effects[0].subject
    assert ferry.bookings.get(first).stage == "voided"


def test_two_sailings_that_meet_are_one_order(cli, ferry, ferry_sandbox, party, url):
    ended = cli(*BY_PORT, *party, "--journal", url)
    assert "separate tickets: nobody is bound to wait" in ended.err
    assert "held" in ended.out
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.create"]
    held = [ferry.bookings.get(effect.subject) for effect in ferry_sandbox.counters.effects]
    assert [booking.stage for booking in held] == ["payment_due", "payment_due"]
    prices = [f"{booking.total_price:.2f} EUR" for booking in held]
    steps = [f"ferry confirm {booking.booking_id}" for booking in held]
    assert [words for words in prices + steps if words not in ended.out] == []


def test_lost_second_booking_is_resumed(cli, ferry_sandbox, party, url):
    ferry_sandbox.faults.add("lose_reply", "bookings.create", after=1)
    message = cli(*BY_PORT, *party, "--journal", url, code=5).err
    with Journal(url) as journal:
        (order,) = unfinished(journal=journal)
    assert f"run `ferry orders resume {order.id}`" in message


@pytest.mark.slow
def test_birthday_between_two_sailings_is_refused(cli, ferry, ferry_sandbox, party, tmp_path, url):
    adult = later.TRAVELLERS[:1]
    itineraries = ferry.trips.connections("Barcelona", "Tunis", on=later.DAY, passengers=adult)
    first, second = (leg.depart_at.date() for leg in itineraries[0].legs)
    assert first < second
    birthday = second.replace(year=second.year - 35)
    (tmp_path / "party.csv").write_text(f"{HEAD}Ada,Reyes,F,{birthday}\n", "utf-8")
    message = cli(*BY_PORT, *party, "--journal", url, code=3).err
    assert "not the age of the birth date on the day of travel" in message
    assert not ferry_sandbox.counters.effects


# ---- Orders with a search ---------------------------------------------------------------------


@pytest.fixture
def chosen(book, ferry_sandbox):
    """The booking of an order that chooses time, tariff and place of its search."""
    stopped(ferry_sandbox)
    choice = {"leaves": "22:05", "tariff": "Option", "place": "Suite for 2"}
    search = {**SEARCH, "vehicle": "FIAT__500"}
    return book({"search": search, "choices": [choice], "passengers": [ADA]})


def test_order_chooses_among_the_results(chosen, ferry_sandbox):
    assert chosen.journey_details["outward"]["place_name"] == "Suite for 2"
    assert chosen.tickets[0].vehicle.vehicule_code == "FIAT__500"
    left = chosen.expire_at - ferry_sandbox.clock.now()
    assert left > timedelta(hours=12)  # a ticket would not be held so long


@pytest.mark.parametrize(
    ("changes", "choices", "is_presale"),
    [
        pytest.param({}, [], False, id="default"),
        pytest.param({"reservation_type": "PRESALE"}, [], True, id="type of the search"),
        pytest.param({}, [{"tariff": "Presale"}], True, id="tariff of a choice"),
    ],
)
def test_order_may_be_for_a_presale(book, ferry_sandbox, changes, choices, is_presale):
    stopped(ferry_sandbox)
    order = {"search": {**SEARCH, **changes}, "choices": choices, "passengers": [ADA]}
    left = book(order).expire_at - ferry_sandbox.clock.now()
    assert (left > timedelta(days=1)) is is_presale


INVALID = [
    ("[", "not valid JSON"),
    ("[" * 100_000, "not valid JSON"),
    ("[]", "-: expected an object"),
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


def id_of(row):
    order, field = row
    return field or json.dumps(order)[:40]


@pytest.mark.parametrize(("order", "field"), mostly_long(INVALID, short=4, ids=id_of))
def test_invalid_order_names_the_field(cli, ferry_sandbox, order, field):
    stopped(ferry_sandbox)
    valid = {"passengers": [ADA], "search": SEARCH}
    content = order if isinstance(order, str) else json.dumps(valid | order)
    ended = cli("book", "--from", "-", "--yes", given=content, code=3 if field else 4)
    assert field in ended.err
    assert "Reyes" not in ended.err
    assert "bookings.create" not in ferry_sandbox.counters.requests
