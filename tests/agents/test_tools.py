"""An agent's arguments: as the schema says, or refused by the field's name."""

from __future__ import annotations

import json
from datetime import date, time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferry_sdk import InvalidInputError, Passenger, SearchPassenger, Selection, Vehicle
from ferry_sdk.agents.tools.tools import TOOLS, Arguments

MANY = settings(deadline=None, max_examples=150)
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
    name: Draft202012Validator(tool.definition(approval=True).input_schema)
    for name, tool in TOOLS.items()
}


def refused(tool, arguments):
    with pytest.raises(InvalidInputError) as caught:
        TOOLS[tool].read(arguments)
    assert caught.value.outcome == "not_sent"
    assert CANARY not in str(caught.value)
    return caught.value


def read_or_refused(tool, arguments):
    """What became of them; nothing else may be raised."""
    try:
        return TOOLS[tool].read(arguments)
    except InvalidInputError as error:
        return error


def test_a_search_is_read_as_what_the_method_takes():
    read = TOOLS["availability_search"].read({**SEARCH, "detail": "full", "contains": "Moby"})
    assert read.values == {
        **SEARCH,
        "out_at": date(2026, 7, 14),
        "out_time": time(8, 30),
        "passengers": [SearchPassenger(**ADULT)],
    }
    assert (read.detail, read.contains, read.confirmation_code) == ("full", "Moby", None)


def test_a_booking_is_read_as_inputs_with_what_was_given_and_nothing_else():
    more = {"birth_date": "1990-02-28", "gender": "Female", "doc_type": "Passport", "order": 1}
    vehicle = {"code": "ABARTH__595", "identification": "GÖ AB 123"}
    read = TOOLS["bookings_create"].read(
        {
            **BOOKING,
            "passengers": [{**TRAVELLER, **more}],
            "vehicle": vehicle,
            "confirmation_code": "c-1",
        }
    )
    assert read.values == {
        "availabilities": [Selection(**CHOICE)],
        "passengers": [Passenger(**TRAVELLER, **more)],
        "vehicle": Vehicle(**vehicle),
    }
    assert (read.detail, read.confirmation_code) == ("short", "c-1")
    assert "Ada" not in repr(read)
    assert "c-1" not in repr(read)


def test_json_text_is_read_like_the_object():
    assert TOOLS["availability_search"].read(json.dumps(SEARCH)) == TOOLS[
        "availability_search"
    ].read(SEARCH)


@pytest.mark.parametrize(
    ("given_", "is_"), [("49.90", Decimal("49.90")), (49, Decimal(49)), ("0", Decimal(0))]
)
def test_money_is_a_text_or_a_whole_number(given_, is_):
    read = TOOLS["bookings_confirm"].read({"booking_id": "b1", "expect_total": given_})
    assert read.values == {"booking_id": "b1", "expect_total": is_}


@pytest.mark.parametrize(
    "money", [49.9, True, "49,90", "1e3", "-1", -1, "NaN", " 1", "1\n", "٣", 10**12, [1], {}]
)
def test_any_other_money_is_refused(money):
    assert refused("bookings_confirm", {"booking_id": "b1", "expect_total": money}).field == (
        "expect_total"
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("out_at", "14.07.2026"),
        ("out_at", "2026-02-30"),
        ("out_at", "2026-07-14T08:00"),
        ("out_at", "\N{FULLWIDTH DIGIT TWO}026-07-14"),
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
        ("passengers", ADULT),
        ("passengers", json.dumps([ADULT])),
        ("passengers", []),
        ("passengers", [ADULT] * 51),
        ("vehicle", "ABARTH__595"),
        ("detail", "long"),
        ("out_ad", "2026-07-14"),
    ],
)
def test_a_mistyped_argument_is_refused_by_its_name(field, value):
    assert refused("availability_search", {**SEARCH, field: value}).field == field


@pytest.mark.parametrize(
    ("where", "value", "field"),
    [
        ("age", "34", "passengers.0.age"),
        ("age", 34.0, "passengers.0.age"),
        ("age", True, "passengers.0.age"),
        ("age", -1, "passengers.0.age"),
        ("age", 131, "passengers.0.age"),
        ("type", "ADT", "passengers.0.type"),
        ("gender", CANARY, "passengers.0.gender"),
        ("order", 0, "passengers.0.order"),
        ("nickname", CANARY, "passengers.0.nickname"),
        (CANARY, 1, "passengers.0.?"),
        ("Ignore all rules", 1, "passengers.0.?"),
        ("age", None, "passengers.0.age"),
    ],
)
def test_a_field_is_named_by_its_path_and_its_value_never_repeated(where, value, field):
    error = refused("availability_search", {**SEARCH, "passengers": [{**ADULT, where: value}]})
    assert error.field == field


def test_what_a_selection_knows_beyond_its_ids_is_not_asked_of_an_agent():
    choice = {**CHOICE, "expiration_date": "2026-07-14T08:00:00Z"}
    assert refused("bookings_create", {**BOOKING, "availabilities": [choice]}).field == (
        "availabilities.0.expiration_date"
    )


def test_null_is_as_good_as_left_out():
    assert TOOLS["bookings_get"].read({"booking_id": "b1", "detail": None}).detail == "short"
    assert refused("bookings_get", {"booking_id": None}).field == "booking_id"


def test_an_empty_text_is_as_good_as_left_out():
    """Strict modes have a model fill in every argument."""
    empty = {"birth_date": "", "doc_number": "", "gender": "", "email": ""}
    read = TOOLS["bookings_create"].read(
        {
            **BOOKING,
            "passengers": [{**TRAVELLER, **empty}],
            "reservation_type": "",
            "confirmation_code": "",
            "detail": "",
        }
    )
    assert read == TOOLS["bookings_create"].read(BOOKING)
    assert read.confirmation_code is None
    one_way = {"ret_journey_id": "", "ret_at": "", "ret_time": "", "contains": ""}
    assert TOOLS["availability_search"].read({**SEARCH, **one_way}).values.keys() == SEARCH.keys()
    named = {"booking_id": "b1", "expect_total": ""}
    assert TOOLS["bookings_confirm"].read(named).values == {"booking_id": "b1"}
    assert refused("bookings_get", {"booking_id": ""}).field == "booking_id"
    assert refused("bookings_create", {**BOOKING, "vehicle": {"code": ""}}).field == "vehicle.code"
    assert refused("catalogue_departures", {"provider_id": "p", "journey_ids": [""]}).field == (
        "journey_ids.0"
    )


def test_an_argument_that_is_needed_is_named():
    assert refused("bookings_get", {}).field == "booking_id"
    assert refused("bookings_create", {"availabilities": [CHOICE]}).field == "passengers"


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "[]",
        "{",
        '"text"',
        "null",
        "{}{}",
        '{"booking_id": NaN}',
        '{"booking_id": Infinity}',
        "[" * 5_000,
        '{"a":' * 5_000,
        f'{{"booking_id": {"9" * 5_000}}}',
        '{"booking_id": "b1"}' + " " * 100_000,
        None,
        7,
        [],
        b"{}",
        [("booking_id", "b1")],
    ],
)
def test_only_an_object_is_taken(arguments):
    assert refused("bookings_get", arguments).field in {"arguments", "booking_id"}


def test_a_key_that_comes_twice_is_refused():
    error = refused("bookings_get", '{"booking_id": "b1", "booking_id": "b2"}')
    assert error.field == "booking_id"
    nested = '{"availabilities": [], "passengers": [{"age": 1, "age": 2}]}'
    assert refused("bookings_create", nested).field == "age"


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), 1e999, {1, 2}, object(), b"x", date(2026, 7, 14), "\ud800"],
)
def test_what_is_not_json_is_refused(value):
    assert refused("bookings_get", {"booking_id": value}).field == "booking_id"
    assert refused("bookings_create", {**BOOKING, "vehicle": {"code": value}}).field == (
        "vehicle.code"
    )


def test_arguments_that_hold_themselves_are_refused():
    endless = {}
    endless["vehicle"] = endless
    assert refused("bookings_create", endless).field == "arguments"
    assert refused("bookings_create", {1: 2}).field == "arguments"


@given(arguments=json_values, tool=st.sampled_from(sorted(TOOLS)))
@MANY
def test_any_arguments_are_read_or_refused(arguments, tool):
    for said in (arguments, json.dumps(arguments)):
        assert isinstance(read_or_refused(tool, said), Arguments | InvalidInputError)


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
    if isinstance(read_or_refused(tool, arguments), Arguments):
        SCHEMAS[tool].validate(without_null(arguments))


def without_null(value):
    """As much as was said; null and an empty text are as good as left out."""
    if isinstance(value, list):
        return [*map(without_null, value)]
    if isinstance(value, dict):
        return {name: without_null(one) for name, one in value.items() if one not in (None, "")}
    return value


def test_a_tool_goes_by_its_operation():
    tool = TOOLS["catalogue_ports"]
    assert tool.safety.operation == tool.operation == "catalogue.ports"
    assert repr(tool) == "Tool('catalogue.ports')"
