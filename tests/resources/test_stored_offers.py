"""An offer is stored as JSON by one web request, and booked by another."""

import json
from datetime import timedelta

import pytest

from ferry_sdk import InvalidInputError, OutcomeUnknownError, Selection, UnresolvedWriteError
from tests.support.summer import chosen, ids_of
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


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_journal_recognises_it_by_the_ids_alone(clients, ferry_sandbox, is_stored):
    journals = pytest.importorskip("ferry_sdk.journal", reason="needs the extra journal")
    with journals.Journal("sqlite://") as journal:
        ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal)
        stored = json.loads(store(ferry))
        first = stored
        again = [ids_of(Selection.model_validate(one)) for one in stored]
        if is_stored:
            first, again = again, first
        ferry_sandbox.faults.add("lose_reply", "bookings.create")
        with pytest.raises(OutcomeUnknownError):
            ferry.bookings.create(availabilities=first, passengers=PASSENGERS)
        with pytest.raises(UnresolvedWriteError):
            ferry.bookings.create(availabilities=again, passengers=PASSENGERS)
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
