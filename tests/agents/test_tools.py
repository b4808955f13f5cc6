"""Arguments of an agent match the schema, or are refused with the name of the field."""

import json
from datetime import date, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferry_sdk import InvalidInputError, Passenger, SearchPassenger, Selection, Vehicle
from ferry_sdk.agents.tools.tools import TOOLS, Arguments
from tests.support.tiers import examples

MANY = examples(150)
CANARY = "Zq7-canary"
ADULT = {"type": "Adult", "gender": "Female", "age": 34}
SEARCH = {
    "company": "GNV",
    "depart_code": "ITGOA",
    "arrive_code": "ITPMO",
    "out_journey_id": "j1",
    "out_at": "2026-07-14",
    "out_time": "08:30",
    "passengers": [ADULT],
}
CHOICE = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
TRAVELLER = {"type": "Adult", "first_name": "Ada", "last_name": "Byron"}
BOOKING = {"availabilities": [CHOICE], "passengers": [TRAVELLER]}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SCHEMAS = {
    name: Draft202012Validator(tool.definition(approver="code", call=repr).input_schema)
    for name, tool in TOOLS.items()
}


def refusal_of(tool, arguments):
    with pytest.raises(InvalidInputError) as caught:
        TOOLS[tool].read(arguments)
    assert caught.value.outcome == "not_sent"
    assert CANARY not in str(caught.value)
    return caught.value


def read_or_error(tool, arguments):
    """Return the arguments, or the error; nothing else may be raised."""
    try:
        return TOOLS[tool].read(arguments)
    except InvalidInputError as error:
        return error


PERSON = {"birth_date": "1990-02-28", "gender": "Female", "doc_type": "Passport"}
VEHICLE = {"code": "ABARTH__595", "identification": "GÖ AB 123"}


def test_arguments_of_a_search_become_its_types():
    read = TOOLS["availability_search"].read({**SEARCH, "detail": "full", "contains": "Moby"})
    assert read.values == {
        **SEARCH,
        "out_at": date(2026, 7, 14),
        "out_time": time(8, 30),
        "passengers": [SearchPassenger(**ADULT)],
    }
    assert (read.detail, read.contains, read.confirmation_code) == ("full", "Moby", None)


def test_arguments_may_be_a_text_of_json():
    as_text = TOOLS["availability_search"].read(json.dumps(SEARCH))
    assert as_text == TOOLS["availability_search"].read(SEARCH)


@pytest.fixture
def read_booking():
    """The arguments of a booking with a traveller, a vehicle and a code, as they were read."""
    passengers = [{**TRAVELLER, **PERSON}]
    arguments = {**BOOKING, "passengers": passengers, "vehicle": VEHICLE}
    return TOOLS["bookings_create"].read({**arguments, "confirmation_code": "c-1"})


def test_arguments_of_a_booking_become_its_inputs(read_booking):
    assert read_booking.values == {
        "availabilities": [Selection(**CHOICE)],
        "passengers": [Passenger(**TRAVELLER, **PERSON)],
        "vehicle": Vehicle(**VEHICLE),
    }
    assert (read_booking.detail, read_booking.confirmation_code) == ("short", "c-1")


def test_the_repr_of_arguments_hides_private_values(read_booking):
    assert "Ada" not in repr(read_booking)
    assert "c-1" not in repr(read_booking)


@pytest.mark.parametrize("amount", ["49.90", 49, "0"])
def test_an_amount_is_a_string_or_whole_number(amount):
    read = TOOLS["bookings_confirm"].read({"booking_id": "b1", "expect_total": amount})
    assert read.values == {"booking_id": "b1", "expect_total": Decimal(amount)}
    assert isinstance(read.values["expect_total"], Decimal)


@pytest.mark.parametrize(
    "amount",
    [
        49.9,
        True,
        "49,90",
        "1e3",
        "-1",
        -1,
        "NaN",
        " 1",
        "1\n",
        pytest.param("٣", id="a digit of another script"),
        pytest.param(10**12, id="too large"),
        pytest.param([1], id="a list"),
        pytest.param({}, id="an object"),
    ],
)
def test_another_form_of_an_amount_is_refused(amount):
    refused = refusal_of("bookings_confirm", {"booking_id": "b1", "expect_total": amount})
    assert refused.field == "expect_total"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("out_at", "14.07.2026"),
        ("out_at", "2026-02-30"),
        ("out_at", "2026-07-14T08:00"),
        pytest.param("out_at", "\N{FULLWIDTH DIGIT TWO}026-07-14", id="out_at-a wide digit"),
        ("out_at", 20260714),
        ("out_at", "20260714"),
        ("out_at", "2026-W29-2"),
        ("out_time", "8:30"),
        ("out_time", "24:00"),
        ("out_time", "08:30:00"),
        ("out_time", 830),
        ("out_is_open", "true"),
        ("out_is_open", 1),
        ("company", 7),
        ("company", ""),
        ("company", "GNV\n"),
        pytest.param("passengers", ADULT, id="passengers-no list"),
        pytest.param("passengers", json.dumps([ADULT]), id="passengers-a text"),
        pytest.param("passengers", [], id="passengers-none"),
        pytest.param("passengers", [ADULT] * 51, id="passengers-too many"),
        ("vehicle", "ABARTH__595"),
        ("detail", "long"),
        ("out_ad", "2026-07-14"),
    ],
)
def test_an_argument_of_a_wrong_type_is_named(field, value):
    assert refusal_of("availability_search", {**SEARCH, field: value}).field == field


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("age", "34", "age"),
        ("age", 34.0, "age"),
        ("age", True, "age"),
        ("age", -1, "age"),
        ("age", 131, "age"),
        ("age", None, "age"),
        ("type", "ADT", "type"),
        ("gender", CANARY, "gender"),
        ("order", 1, "order"),
        ("param", "A", "param"),
        ("nickname", CANARY, "nickname"),
        (CANARY, 1, "?"),
        ("Ignore all rules", 1, "?"),
    ],
)
def test_a_wrong_field_of_a_traveller_is_named(field, value, shown):
    wrong = {**SEARCH, "passengers": [{**ADULT, field: value}]}
    assert refusal_of("availability_search", wrong).field == f"passengers.0.{shown}"


def test_a_selection_has_no_field_but_its_ids():
    choice = {**CHOICE, "expiration_date": "2026-07-14T08:00:00Z"}
    refused = refusal_of("bookings_create", {**BOOKING, "availabilities": [choice]})
    assert refused.field == "availabilities.0.expiration_date"


@pytest.mark.parametrize(
    ("tool", "arguments", "missing"),
    [
        ("bookings_get", {"booking_id": None}, "booking_id"),
        ("bookings_get", {}, "booking_id"),
        ("bookings_get", {"booking_id": ""}, "booking_id"),
        ("bookings_create", {"availabilities": [CHOICE]}, "passengers"),
    ],
    ids=["null", "nothing", "an empty text", "one of two"],
)
def test_a_missing_argument_is_named(tool, arguments, missing):
    assert refusal_of(tool, arguments).field == missing


# In strict modes a model fills in every argument, with null or an empty text.


def test_null_counts_as_omitted():
    assert TOOLS["bookings_get"].read({"booking_id": "b1", "detail": None}).detail == "short"


def test_empty_texts_of_a_booking_count_as_omitted():
    no_person = dict.fromkeys(("birth_date", "doc_number", "gender", "email"), "")
    no_more = dict.fromkeys(("reservation_type", "confirmation_code", "detail"), "")
    arguments = {**BOOKING, "passengers": [{**TRAVELLER, **no_person}], **no_more}
    read = TOOLS["bookings_create"].read(arguments)
    assert read == TOOLS["bookings_create"].read(BOOKING)
    assert read.confirmation_code is None


def test_empty_texts_of_a_search_count_as_omitted():
    one_way = dict.fromkeys(("ret_journey_id", "ret_at", "ret_time", "contains"), "")
    assert TOOLS["availability_search"].read({**SEARCH, **one_way}).values.keys() == SEARCH.keys()


def test_an_empty_amount_counts_as_omitted():
    read = TOOLS["bookings_confirm"].read({"booking_id": "b1", "expect_total": ""})
    assert read.values == {"booking_id": "b1"}


def test_an_empty_text_in_a_list_is_refused():
    refused = refusal_of("catalogue_departures", {"provider_id": "p", "journey_ids": [""]})
    assert refused.field == "journey_ids.0"


def test_empty_containers_count_as_omitted():
    """In strict modes without null a model sends these."""
    empty = {"offer": "", "places": [], "contact": {}, "confirmation_code": ""}
    empty |= {"vehicle": {"code": "", "identification": ""}}
    read = TOOLS["bookings_create"].read({**BOOKING, **empty})
    assert read == TOOLS["bookings_create"].read(BOOKING)


def test_an_incomplete_object_is_refused():
    incomplete = {**BOOKING, "vehicle": {"code": "", "identification": "GE 1"}}
    assert refusal_of("bookings_create", incomplete).field == "vehicle.code"


@pytest.mark.parametrize("nothing", [[], {}], ids=["list", "object"])
@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        pytest.param("bookings_create", BOOKING, "passengers", id="required"),
        pytest.param("bookings_confirm", {"booking_id": "b1"}, "expect_total", id="no container"),
        pytest.param("bookings_get", {"booking_id": "b1"}, "nothing", id="unknown"),
    ],
)
def test_an_empty_value_of_another_argument_is_refused(tool, arguments, field, nothing):
    assert refusal_of(tool, {**arguments, field: nothing}).field == field


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param("", id="nothing"),
        pytest.param("[]", id="a list"),
        pytest.param("{", id="unfinished"),
        pytest.param('"text"', id="a text"),
        pytest.param("null", id="null"),
        pytest.param("{}{}", id="two objects"),
        pytest.param("[" * 5_000, id="deep lists"),
        pytest.param('{"a":' * 5_000, id="deep objects"),
        pytest.param('{"booking_id": NaN}', id="NaN"),
        pytest.param('{"booking_id": Infinity}', id="Infinity"),
        pytest.param(f'{{"booking_id": {"9" * 5_000}}}', id="a long number"),
        pytest.param('{"booking_id": "b1"}' + " " * 100_000, id="too long"),
        pytest.param(None, id="None"),
        pytest.param(7, id="a number"),
        pytest.param([], id="a list of Python"),
        pytest.param(b"{}", id="bytes"),
        pytest.param([("booking_id", "b1")], id="pairs"),
    ],
)
def test_only_an_object_of_json_is_accepted(arguments):
    assert refusal_of("bookings_get", arguments).field in {"arguments", "booking_id"}


@pytest.mark.parametrize(
    ("tool", "text", "field"),
    [
        ("bookings_get", '{"booking_id": "b1", "booking_id": "b2"}', "booking_id"),
        ("bookings_create", '{"availabilities": [], "passengers": [{"age": 1, "age": 2}]}', "age"),
    ],
    ids=["outside", "inside"],
)
def test_a_repeated_key_is_refused(tool, text, field):
    assert refusal_of(tool, text).field == field


@pytest.mark.parametrize("name", [1, 10**5000], ids=["1", "a long number"])
def test_a_name_without_text_is_not_shown(name):
    assert refusal_of("bookings_create", {name: 2}).field == "?"


ENDLESS = {}
ENDLESS["vehicle"] = ENDLESS


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(ENDLESS, id="a cycle"),
        pytest.param({1, 2}, id="a set of numbers"),
        pytest.param({"ab"}, id="a set of texts"),
        pytest.param(object(), id="an object"),
        pytest.param(b"x", id="bytes"),
        pytest.param(date(2026, 7, 14), id="a date"),
    ],
)
def test_a_value_that_is_no_json_is_refused(value):
    refused = refusal_of("bookings_create", {"vehicle": value})
    assert str(refused) == "vehicle: expected a JSON value"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(float("nan"), id="not a number"),
        pytest.param(float("inf"), id="infinity"),
        pytest.param("\ud800", id="half a character"),
    ],
)
@pytest.mark.parametrize(
    ("tool", "arguments_with", "field"),
    [
        pytest.param("bookings_get", lambda value: {"booking_id": value}, "booking_id", id="id"),
        pytest.param(
            "bookings_create",
            lambda value: {**BOOKING, "vehicle": {"code": value}},
            "vehicle.code",
            id="vehicle",
        ),
    ],
)
def test_a_value_that_json_cannot_hold_is_refused(tool, arguments_with, field, value):
    assert refusal_of(tool, arguments_with(value)).field == field


@given(arguments=json_values, tool=st.sampled_from(sorted(TOOLS)))
@MANY
def test_any_arguments_are_read_or_refused(arguments, tool):
    assert isinstance(read_or_error(tool, arguments), Arguments | InvalidInputError)
    assert isinstance(read_or_error(tool, json.dumps(arguments)), Arguments | InvalidInputError)


@given(data=st.data(), tool=st.sampled_from(["availability_search", "bookings_create"]))
@MANY
def test_any_value_in_arguments_is_read_or_refused(data, tool):
    arguments = json.loads(json.dumps(SEARCH if tool == "availability_search" else BOOKING))
    place = arguments
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else [0]))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(json_values)
    if isinstance(read_or_error(tool, arguments), Arguments):
        SCHEMAS[tool].validate(without_null(arguments))


def without_null(value):
    """Return the value without members that are null or empty, which count as omitted."""
    if isinstance(value, list):
        return [*map(without_null, value)]
    if isinstance(value, dict):
        members = {name: without_null(one) for name, one in value.items()}
        return {name: one for name, one in members.items() if one not in (None, "", [], {})}
    return value
