"""An offer is stored as JSON by one web request, and booked by another."""

import json
from datetime import timedelta

import pytest

from ferry_sdk import InvalidInputError, Selection
from tests.support.summer import chosen
from tests.support.trip import PASSENGERS, search_arguments


def store(ferry, kind="Ticket"):
    found = ferry.availability.search(**search_arguments())
    return json.dumps([one.model_dump(mode="json") for one in chosen(found, kind)])


@pytest.mark.parametrize("kind", ["Presale", "Option", "Ticket"])
def test_it_is_booked_as_what_it_is(both, kind):
    stored = json.loads(store(both, kind))
    booking = both.bookings.create(availabilities=stored, passengers=PASSENGERS)
    assert booking.total_price == Selection.model_validate(stored[0]).amount


def test_it_is_not_sent_after_it_has_expired(both, ferry_sandbox):
    stored = json.loads(store(both))
    ferry_sandbox.clock.advance(timedelta(days=7))
    both.catalogue.ports()  # its reply has the date
    with pytest.raises(InvalidInputError, match="expired"):
        both.bookings.create(availabilities=stored, passengers=PASSENGERS)
    assert not ferry_sandbox.counters.requests["bookings.create"]
