"""Values of other libraries as arguments: they are taken, or refused with the argument's name."""

import collections
import fractions
from contextlib import suppress
from inspect import signature

import httpx
import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from ferry_sdk import Ferry, FerryError, InvalidInputError, Traveller
from tests.support.operations import OPERATIONS, arguments
from tests.support.trip import TRAVELLERS

VALUES = {
    "number of numpy": np.int64(3),
    "array": np.array([1, 2]),
    "array without an axis": np.array(3),
    "datetime64": np.datetime64("2050-06-01T08:00"),
    "text of numpy": np.str_("x"),
    "Timestamp": pd.Timestamp("2050-06-01T08:00", tz="UTC"),
    "NaT": pd.NaT,
    "NA": pd.NA,
    "Series": pd.Series([1, 2]),
    "fraction": fractions.Fraction(1, 3),
    "UserString": collections.UserString("x"),
    "huge integer": 10**400,
    "complex number": 1j,
}
PLANNED = {
    "trips.search": {"on": "2050-06-01"},
    "trips.connections": {"on": "2050-06-01"},
    "trips.calendar": {"start": "2050-06-01", "end": "2050-06-02"},
}


@pytest.fixture(scope="module")
def ferry():
    """A client of a service that knows nothing."""

    def answer(_):
        return httpx.Response(404, json={"error": "NOT_FOUND", "message": "nothing here"})

    with (
        httpx.Client(transport=httpx.MockTransport(answer)) as http_client,
        Ferry("t", base_url="https://ferry.example", http_client=http_client) as ferry,
    ):
        yield ferry.with_options(max_retries=0, deadline=2)


def good_arguments(operation, folder):
    """Return arguments that make a good call."""
    if operation in PLANNED:
        route = {"origin": "Tarifa", "destination": "MATNG", "passengers": TRAVELLERS}
        return {**route, **PLANNED[operation]}
    return arguments(operation, folder)


@pytest.mark.parametrize("operation", [*OPERATIONS, *PLANNED])
def test_every_argument_is_taken_or_refused(ferry, operation, tmp_path):
    group, _, name = operation.partition(".")
    call = getattr(getattr(ferry, group), name)
    given = good_arguments(operation, tmp_path)
    # A search may look at any number of days beside its own, which takes its time.
    for argument in signature(call).parameters.keys() - {"flexible"}:
        for value in VALUES.values():
            with suppress(FerryError):
                call(**{**given, argument: value})


@pytest.mark.parametrize("setting", ["token", "base_url", "timeout", "deadline", "max_retries"])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_every_setting_is_taken_or_refused(setting, value):
    settings = {"token": "t", "base_url": "https://ferry.example", setting: value}
    with suppress(FerryError):
        Ferry(**settings).close()


@pytest.mark.parametrize("value", [pd.NaT, np.datetime64("NaT", "D"), pd.NA], ids=str)
def test_missing_date_is_named(ferry, value):
    with pytest.raises(InvalidInputError) as caught:
        ferry.trips.search("Tarifa", "MATNG", on=value, passengers=TRAVELLERS)
    assert caught.value.field == "on"


def test_missing_birth_date_is_named(ferry):
    party = [{"first_name": "Zoë", "last_name": "Łuk", "birth_date": pd.NaT, "type": "Adult"}]
    chosen = [{"availability_id": "a", "tariff_id": "t", "place_id": "p"}]
    with pytest.raises(InvalidInputError) as caught:
        ferry.bookings.create(availabilities=chosen, passengers=party)
    assert caught.value.field == "passengers[0].birth_date"


@pytest.mark.parametrize("field", ["birth_date", "doc_expiration"])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda fields: Traveller(**fields), id="class"),
        pytest.param(Traveller.model_validate, id="model_validate"),
    ],
)
def test_model_names_a_missing_date(make, field):
    with pytest.raises(ValidationError) as caught:
        make({"first_name": "Zoë", "last_name": "Łuk", field: pd.NaT})
    (problem,) = caught.value.errors()
    assert (problem["loc"], problem["msg"]) == ((field,), "expected a date")
    assert "Zoë" not in str(caught.value)


def test_timestamp_is_a_day(ferry):
    with pytest.raises(FerryError) as caught:
        ferry.trips.search("Tarifa", "MATNG", on=pd.Timestamp("2050-06-01"), passengers=TRAVELLERS)
    assert not isinstance(caught.value, InvalidInputError)
