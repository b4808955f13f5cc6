"""What a mistake in an input says, to people and as JSON."""

import json

from pydantic import TypeAdapter, ValidationError

from ferry_sdk import InvalidInputError
from ferry_sdk.models import CancellationFee, SearchPassenger, Selection, Traveller
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.trip import DAY

ADA = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes", "gender": "F", "age": 34}
SEARCHED = [{"type": "Adult", "gender": "Female", "age": 34}]


@each(
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
    errors = error.errors(include_url=False)
    json.dumps(errors)
    assert not any(
        isinstance(one, Exception) for row in errors for one in row.get("ctx", {}).values()
    )
    assert not any(row["msg"].startswith("Value error, ") for row in errors)


def test_a_trip_in_place_of_its_selection_is_told_what_to_call(ferry, ferry_sandbox):
    trips = ferry.trips.search("Tarifa", "MATNG", on=DAY, passengers=SEARCHED)
    for wrong, field in (
        (trips[0], "availabilities"),
        (trips[0].outward, "availabilities"),
        ([trips[0]], "availabilities[0]"),
        (trips, "availabilities[0]"),
        ([trips[0].outward], "availabilities[0]"),
    ):
        order = {"availabilities": wrong, "passengers": [ADA]}
        error = caught(InvalidInputError, ferry.bookings.create, **order)
        assert (error.field, error.outcome) == (field, "not_sent")
        assert "select() of a trip" in str(error)
    order = {"availabilities": trips[0].select(), "passengers": [ADA], "vehicle": "golf"}
    error = caught(InvalidInputError, ferry.bookings.create, **order)
    assert "vehicles.find('golf')[0].booking()" in str(error)

    def search(vehicle):
        return ferry.trips.search("Tarifa", "MATNG", on=DAY, passengers=SEARCHED, vehicle=vehicle)

    by_name, by_code = search("golf"), search("VOLKSWAGEN__GOLF")
    without = search(None)
    assert [one.price for one in by_name] == [one.price for one in by_code]
    assert by_name[0].price > without[0].price
    requests = ferry_sandbox.counters.requests.copy()
    error = caught(InvalidInputError, search, "golff")
    assert error.field == "vehicle"
    assert "VOLKSWAGEN__GOLF" in str(error)
    assert ferry_sandbox.counters.requests["availability.search"] == requests["availability.search"]
    assert caught(InvalidInputError, search, " ").field == "vehicle"
