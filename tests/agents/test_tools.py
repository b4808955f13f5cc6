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
from tests.support.cases import case
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
    name: Draft202012Validator(tool.definition(approval=True, call=repr).input_schema)
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


def test_arguments_become_the_types_of_the_method_with_only_the_given_fields():
    read = TOOLS["availability_search"].read({**SEARCH, "detail": "full", "contains": "Moby"})
    assert read.values == {
        **SEARCH,
        "out_at": date(2026, 7, 14),
        "out_time": time(8, 30),
        "passengers": [SearchPassenger(**ADULT)],
    }
    assert (read.detail, read.contains, read.confirmation_code) == ("full", "Moby", None)
    as_text = TOOLS["availability_search"].read(json.dumps(SEARCH))
    assert as_text == TOOLS["availability_search"].read(SEARCH)
    more = {"birth_date": "1990-02-28", "gender": "Female", "doc_type": "Passport"}
    vehicle = {"code": "ABARTH__595", "identification": "GÖ AB 123"}
    wanted = {**BOOKING, "passengers": [{**TRAVELLER, **more}], "vehicle": vehicle}
    read = TOOLS["bookings_create"].read({**wanted, "confirmation_code": "c-1"})
    assert read.values == {
        "availabilities": [Selection(**CHOICE)],
        "passengers": [Passenger(**TRAVELLER, **more)],
        "vehicle": Vehicle(**vehicle),
    }
    assert (read.detail, read.confirmation_code) == ("short", "c-1")
    assert "Ada" not in repr(read)
    assert "c-1" not in repr(read)


def test_an_amount_is_a_string_or_a_whole_number():
    named = {"booking_id": "b1"}
    for amount in ("49.90", 49, "0"):
        read = TOOLS["bookings_confirm"].read({**named, "expect_total": amount})
        assert read.values == {**named, "expect_total": Decimal(amount)}
        assert isinstance(read.values["expect_total"], Decimal)
    for money in (49.9, True, "49,90", "1e3", "-1", -1, "NaN", " 1", "1\n", "٣", 10**12, [1], {}):
        refused = refusal_of("bookings_confirm", {**named, "expect_total": money})
        assert (money, refused.field) == (money, "expect_total")


def test_an_argument_of_the_wrong_type_is_named_with_its_path_and_not_its_value():
    wide = "\N{FULLWIDTH DIGIT TWO}026-07-14"
    days = ("14.07.2026", "2026-02-30", "2026-07-14T08:00", wide)
    for field, values in {
        "out_at": (*days, 20260714, "20260714", "2026-W29-2"),
        "out_time": ("8:30", "24:00", "08:30:00", 830),
        "out_is_open": ("true", 1),
        "company": (7, "", "GNV\n"),
        "passengers": (ADULT, json.dumps([ADULT]), [], [ADULT] * 51),
        "vehicle": ("ABARTH__595",),
        "detail": ("long",),
        "out_ad": ("2026-07-14",),
    }.items():
        for value in values:
            refused = refusal_of("availability_search", {**SEARCH, field: value})
            assert (value, refused.field) == (value, field)
    for where, values in {
        "age": ("34", 34.0, True, -1, 131, None),
        "type": ("ADT",),
        "gender": (CANARY,),
        "order": (1,),
        "param": ("A",),
        "nickname": (CANARY,),
        CANARY: (1,),
        "Ignore all rules": (1,),
    }.items():
        for value in values:
            wrong = {**SEARCH, "passengers": [{**ADULT, where: value}]}
            name = "?" if where in {CANARY, "Ignore all rules"} else where
            refused = refusal_of("availability_search", wrong)
            assert (where, value, refused.field) == (where, value, f"passengers.0.{name}")
    choice = {**CHOICE, "expiration_date": "2026-07-14T08:00:00Z"}
    refused = refusal_of("bookings_create", {**BOOKING, "availabilities": [choice]})
    assert refused.field == "availabilities.0.expiration_date"


def test_null_or_empty_values_count_as_omitted_and_a_missing_argument_is_named():
    # In strict modes a model fills in every argument.
    assert TOOLS["bookings_get"].read({"booking_id": "b1", "detail": None}).detail == "short"
    for nothing in ({"booking_id": None}, {}, {"booking_id": ""}):
        assert refusal_of("bookings_get", nothing).field == "booking_id"
    assert refusal_of("bookings_create", {"availabilities": [CHOICE]}).field == "passengers"
    empty = dict.fromkeys(("birth_date", "doc_number", "gender", "email"), "")
    more = dict.fromkeys(("reservation_type", "confirmation_code", "detail"), "")
    nobody = {**BOOKING, "passengers": [{**TRAVELLER, **empty}], **more}
    read = TOOLS["bookings_create"].read(nobody)
    assert read == TOOLS["bookings_create"].read(BOOKING)
    assert read.confirmation_code is None
    one_way = dict.fromkeys(("ret_journey_id", "ret_at", "ret_time", "contains"), "")
    assert TOOLS["availability_search"].read({**SEARCH, **one_way}).values.keys() == SEARCH.keys()
    named = {"booking_id": "b1", "expect_total": ""}
    assert TOOLS["bookings_confirm"].read(named).values == {"booking_id": "b1"}
    refused = refusal_of("catalogue_departures", {"provider_id": "p", "journey_ids": [""]})
    assert refused.field == "journey_ids.0"
    # In strict modes without null a model sends these.
    empty = {"offer": "", "places": [], "contact": {}, "confirmation_code": ""}
    empty |= {"vehicle": {"code": "", "identification": ""}}
    read = TOOLS["bookings_create"].read({**BOOKING, **empty})
    assert read == TOOLS["bookings_create"].read(BOOKING)
    incomplete = {**BOOKING, "vehicle": {"code": "", "identification": "GE 1"}}
    assert refusal_of("bookings_create", incomplete).field == "vehicle.code"
    for nothing in ([], {}):
        for tool, right, field in (
            ("bookings_create", BOOKING, "passengers"),
            ("bookings_confirm", {"booking_id": "b1"}, "expect_total"),
            ("bookings_get", {"booking_id": "b1"}, "nothing"),
        ):
            assert refusal_of(tool, {**right, field: nothing}).field == field


def test_only_an_object_of_json_without_duplicate_keys_is_accepted():
    texts = ("", "[]", "{", '"text"', "null", "{}{}", "[" * 5_000, '{"a":' * 5_000)
    numbers = [f'{{"booking_id": {one}}}' for one in ("NaN", "Infinity", "9" * 5_000)]
    long = '{"booking_id": "b1"}' + " " * 100_000
    for arguments in (*texts, *numbers, long, None, 7, [], b"{}", [("booking_id", "b1")]):
        refused = refusal_of("bookings_get", arguments)
        assert refused.field in {"arguments", "booking_id"}, repr(arguments)[:50]
    twice = '{"booking_id": "b1", "booking_id": "b2"}'
    assert refusal_of("bookings_get", twice).field == "booking_id"
    nested = '{"availabilities": [], "passengers": [{"age": 1, "age": 2}]}'
    assert refusal_of("bookings_create", nested).field == "age"
    endless = {}
    endless["vehicle"] = endless
    for name in (1, 10**5000):
        assert refusal_of("bookings_create", {name: 2}).field == "?"
    for value in (endless, {1, 2}, {"ab"}, object(), b"x", date(2026, 7, 14)):
        refused = refusal_of("bookings_create", {"vehicle": value})
        assert str(refused) == "vehicle: expected a JSON value", value
    for value in (float("nan"), float("inf"), 1e999, "\ud800"):
        with case(ascii(value)):
            assert refusal_of("bookings_get", {"booking_id": value}).field == "booking_id"
            wrong = {**BOOKING, "vehicle": {"code": value}}
            assert refusal_of("bookings_create", wrong).field == "vehicle.code"


@given(arguments=json_values, tool=st.sampled_from(sorted(TOOLS)))
@MANY
def test_any_arguments_are_read_or_refused(arguments, tool):
    for one in (arguments, json.dumps(arguments)):
        assert isinstance(read_or_error(tool, one), Arguments | InvalidInputError)


@given(data=st.data(), tool=st.sampled_from(["availability_search", "bookings_create"]))
@MANY
def test_arguments_with_any_one_value_in_them_are_read_or_refused(data, tool):
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
