"""What a mistake in an input says, to people and as JSON."""

import json

import pytest
from pydantic import TypeAdapter, ValidationError

from ferry_sdk import Ferry, InvalidInputError
from ferry_sdk.models import CancellationFee, SearchPassenger, Selection, Traveller
from ferry_sdk.sandbox import Sandbox
from tests.support.exchanges import caught
from tests.support.trip import DAY, NOW

ADA = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes", "gender": "F", "age": 34}
SEARCHED = [{"type": "Adult", "gender": "Female", "age": 34}]


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (SearchPassenger, {"type": "Dog", "gender": "none", "age": "x"}),
        (SearchPassenger, {"type": "Adult", "gender": "F", "age": 34, "param": "C"}),
        (Traveller, {"type": 1, "birth_date": "never"}),
        (Selection, {"availability_id": "", "amount": 1.5, "depart_at": "now"}),
        (Selection, {"amount": "1e9999"}),
        (CancellationFee, {"penalty_amount": -1, "refund_amount": True, "currency": 1}),
    ],
)
def test_the_errors_of_an_input_are_json(model, value):
    """A web framework answers with them, and shows an exception in them as an empty object."""
    error = caught(ValidationError, TypeAdapter(model).validate_python, value)
    for row in error.errors(include_url=False):
        json.dumps(row)
        assert not [value for value in row.get("ctx", {}).values() if isinstance(value, Exception)]
        assert not row["msg"].startswith("Value error, ")


def search(ferry, vehicle=None):
    return ferry.trips.search("Tarifa", "MATNG", on=DAY, passengers=SEARCHED, vehicle=vehicle)


@pytest.fixture(scope="module")
def trips():
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        return search(ferry)


@pytest.fixture
def offline():
    """A client that sends nothing in these tests."""
    with Ferry("t", base_url="https://service.example") as ferry:
        yield ferry


WRONG_SELECTIONS = {
    "a trip": (lambda trips: trips[0], "availabilities"),
    "a sailing": (lambda trips: trips[0].outward, "availabilities"),
    "a list of a trip": (lambda trips: [trips[0]], "availabilities[0]"),
    "the trips": (lambda trips: trips, "availabilities[0]"),
    "a list of a sailing": (lambda trips: [trips[0].outward], "availabilities[0]"),
}


@pytest.mark.parametrize(("choose", "field"), WRONG_SELECTIONS.values(), ids=WRONG_SELECTIONS)
def test_a_trip_is_no_selection(offline, trips, choose, field):
    order = {"availabilities": choose(trips), "passengers": [ADA]}
    error = caught(InvalidInputError, offline.bookings.create, **order)
    assert (error.field, error.outcome) == (field, "not_sent")
    assert "select() of a trip" in str(error)


def test_a_name_is_no_vehicle_of_a_booking(offline, trips):
    order = {"availabilities": trips[0].select(), "passengers": [ADA], "vehicle": "golf"}
    error = caught(InvalidInputError, offline.bookings.create, **order)
    assert "vehicles.find('golf')[0].booking()" in str(error)


@pytest.mark.slow
def test_a_name_is_a_vehicle_of_a_search(ferry, trips):
    by_name, by_code = search(ferry, "golf"), search(ferry, "VOLKSWAGEN__GOLF")
    assert [trip.price for trip in by_name] == [trip.price for trip in by_code]
    assert by_name[0].price > trips[0].price


def test_an_unknown_vehicle_is_not_searched(ferry, ferry_sandbox):
    error = caught(InvalidInputError, search, ferry, "golff")
    assert error.field == "vehicle"
    assert "VOLKSWAGEN__GOLF" in str(error)
    assert not ferry_sandbox.counters.requests["availability.search"]


def test_a_blank_is_no_vehicle(offline):
    assert caught(InvalidInputError, search, offline, " ").field == "vehicle"
