"""Bookings and orders that are made once for a key, through a real service and a real journal."""

from datetime import timedelta
from functools import partial
from unicodedata import normalize

import pytest

from ferry_sdk import (
    BookingCreateError,
    ConfigurationError,
    Ferry,
    IdempotencyError,
    InvalidInputError,
    JournalError,
    OrderError,
    OutcomeUnknownError,
    Traveller,
    UnresolvedWriteError,
    orders,
)
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox
from tests.backend.gathering import at_once
from tests.engine.recorder import Notes
from tests.journal.children import method_of
from tests.journal.intents import run_sql
from tests.support.exchanges import caught
from tests.support.trip import NOW, PASSENGERS, selected

CREATES = ("bookings.create", "mcp.create_booking")
KEY = "order-4711"


@pytest.fixture(scope="module")
def service():
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(service):
    """One service for all tests, as new."""
    service.reset()
    return service


@pytest.fixture
def journal(sqlite_url):
    with Journal(sqlite_url) as made:
        yield made


@pytest.fixture
def shop(sandbox, journal):
    """A client with a journal."""
    with Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as client:
        yield client


@pytest.fixture
def family(shop):
    """What a create takes for the family."""
    return {"availabilities": [selected(shop)], "passengers": PASSENGERS}


def made(sandbox, operation="bookings.create"):
    return len(sandbox.counters.effects_of(operation))


def hold(shop, journal, **changes):
    """Hold two bookings for the family."""
    arguments = {
        "selections": [[selected(shop, place)] for place in (0, 1)],
        "passengers": PASSENGERS,
        "idempotency_key": KEY,
    }
    return orders.hold(shop, journal=journal, **arguments | changes)


@pytest.mark.parametrize("create", CREATES)
def test_repeated_create_returns_its_booking(sandbox, clients, journal, create):
    with Ferry(sandbox.token, base_url=sandbox.base_url) as reader:
        family = {"availabilities": [selected(reader)], "passengers": PASSENGERS}
    shop = clients(sandbox.token, base_url=sandbox.base_url, journal=journal)
    first = method_of(shop, create)(**family, idempotency_key=KEY)
    again = method_of(shop, create)(**family, idempotency_key=KEY)
    assert (again.booking_id, again.read_back, made(sandbox)) == (first.booking_id, True, 1)


def test_threads_make_one_booking(sandbox, shop, family):
    calls = at_once(*[partial(shop.bookings.create, **family, idempotency_key=KEY)] * 4)
    outcomes = [call.outcome() for call in calls]
    bookings = {outcome.value.booking_id for outcome in outcomes if outcome.error is None}
    errors = {type(outcome.error) for outcome in outcomes if outcome.error is not None}
    assert (len(bookings), made(sandbox), errors <= {UnresolvedWriteError}) == (1, 1, True)


def test_key_is_one_of_both_protocols(sandbox, shop, family):
    first = shop.bookings.create(**family, idempotency_key=KEY)
    again = shop.mcp.create_booking(**family, idempotency_key=KEY)
    assert (again.booking_id, made(sandbox)) == (first.booking_id, 1)


def spelled(form):
    """Return travellers whose names are written in a form of Unicode."""
    names = [("Zélie", "Núñez"), ("Léo", "Núñez")]
    return [
        traveller | {"first_name": normalize(form, first), "last_name": normalize(form, last)}
        for traveller, (first, last) in zip(PASSENGERS, names, strict=True)
    ]


def test_key_takes_names_in_other_code_points(sandbox, shop, family):
    first = shop.bookings.create(**family | {"passengers": spelled("NFC")}, idempotency_key=KEY)
    again = shop.bookings.create(**family | {"passengers": spelled("NFD")}, idempotency_key=KEY)
    assert (again.booking_id, made(sandbox)) == (first.booking_id, 1)


def test_unresolved_create_has_other_code_points(sandbox, shop, family):
    sandbox.faults.add("lose_reply", "bookings.create")
    caught(OutcomeUnknownError, shop.bookings.create, **family | {"passengers": spelled("NFC")})
    caught(UnresolvedWriteError, shop.bookings.create, **family | {"passengers": spelled("NFD")})
    assert made(sandbox) == 1


def test_names_are_sent_as_they_are_written(shop, family):
    travellers = spelled("NFD")
    family = family | {"passengers": travellers}
    booking = shop.bookings.create(**family, idempotency_key=KEY)
    (ticket,) = shop.bookings.get(booking.booking_id).tickets
    sent = [traveller["first_name"] for traveller in travellers]
    assert [traveller.first_name for traveller in ticket.passengers] == sent


def test_key_of_a_cancelled_booking_returns_it(sandbox, shop, family):
    booking_id = shop.bookings.create(**family, idempotency_key=KEY).booking_id
    shop.bookings.cancel(booking_id)
    again = shop.bookings.create(**family, idempotency_key=KEY)
    assert (again.booking_id, again.stage, made(sandbox)) == (booking_id, "voided", 1)


def test_key_returns_its_booking_after_the_tariff_expired(sandbox, shop, family):
    first = shop.bookings.create(**family, idempotency_key=KEY)
    sandbox.clock.advance(timedelta(days=2))
    shop.catalogue.ports()  # the client hears the service's time
    caught(InvalidInputError, shop.bookings.create, **family)
    assert shop.bookings.create(**family, idempotency_key=KEY).booking_id == first.booking_id


def test_expired_tariff_leaves_its_key_free(sandbox, shop, family):
    sandbox.clock.advance(timedelta(days=2))
    shop.catalogue.ports()
    caught(InvalidInputError, shop.bookings.create, **family, idempotency_key=KEY)
    fresh = {"availabilities": [selected(shop)], "passengers": PASSENGERS}
    assert not shop.bookings.create(**fresh, idempotency_key=KEY).read_back


def test_rejected_create_leaves_its_key_free(sandbox, shop, family):
    sandbox.faults.add("refused", "bookings.create")
    caught(BookingCreateError, shop.bookings.create, **family, idempotency_key=KEY)
    changed = family | {"passengers": PASSENGERS[:1]}
    caught(BookingCreateError, shop.bookings.create, **changed, idempotency_key=KEY)
    assert shop.bookings.create(**family, idempotency_key=KEY)
    assert made(sandbox) == 1


def test_unknown_create_keeps_its_key(sandbox, shop, journal, family):
    sandbox.faults.add("lose_reply", "bookings.create")
    caught(OutcomeUnknownError, shop.bookings.create, **family, idempotency_key=KEY)
    (entry,) = journal.unresolved()
    again = {"availabilities": [selected(shop)], "passengers": PASSENGERS}
    error = caught(UnresolvedWriteError, shop.bookings.create, **again, idempotency_key=KEY)
    assert (error.entry, made(sandbox)) == (entry, 1)


def test_settled_create_is_returned_by_its_key(sandbox, shop, journal, family):
    sandbox.faults.add("lose_reply", "bookings.create")
    caught(OutcomeUnknownError, shop.bookings.create, **family, idempotency_key=KEY)
    (effect,) = sandbox.counters.effects_of("bookings.create")
    journal.settle(journal.unresolved()[0], happened=True, booking_id=effect.subject)
    assert shop.bookings.create(**family, idempotency_key=KEY).booking_id == effect.subject


def test_create_settled_without_a_booking_stays_unresolved(sandbox, shop, journal, family):
    sandbox.faults.add("lose_reply", "bookings.create")
    caught(OutcomeUnknownError, shop.bookings.create, **family, idempotency_key=KEY)
    entry = journal.settle(journal.unresolved()[0], happened=True)
    error = caught(UnresolvedWriteError, shop.bookings.create, **family, idempotency_key=KEY)
    assert (error.entry, made(sandbox)) == (entry, 1)


def test_booking_that_cannot_be_read_is_unresolved(sandbox, shop, family):
    booking_id = shop.bookings.create(**family, idempotency_key=KEY).booking_id
    sandbox.faults.add("server_error", "bookings.get", times=None)
    error = caught(UnresolvedWriteError, shop.bookings.create, **family, idempotency_key=KEY)
    assert error.entry.booking_id == booking_id
    sandbox.faults.clear()
    assert shop.recover(error.entry).booking_id == booking_id


def test_key_of_an_early_reply_that_came_late(sandbox, shop, journal, family):
    first = {"availabilities": [selected(shop)], "passengers": PASSENGERS}
    sandbox.faults.add("lose_reply", "bookings.create")
    caught(OutcomeUnknownError, shop.bookings.create, **first, idempotency_key=KEY)
    (entry,) = journal.unresolved()
    journal.settle(entry, happened=False)
    sandbox.faults.add("refused", "bookings.create")
    caught(BookingCreateError, shop.bookings.create, **family, idempotency_key=KEY)
    (effect,) = sandbox.counters.effects_of("bookings.create")
    journal.settle(entry, happened=True, booking_id=effect.subject)
    assert shop.bookings.create(**family, idempotency_key=KEY).booking_id == effect.subject


OTHERS = [
    pytest.param({"passengers": PASSENGERS[:1]}, id="fewer travellers"),
    pytest.param({"passengers": [PASSENGERS[0] | {"age": 35}, PASSENGERS[1]]}, id="another age"),
    pytest.param({"contact": {"name": "Ada Reyes", "email": "ada@example.com"}}, id="a contact"),
    pytest.param({"vehicle": {"code": "CAR"}}, id="a vehicle"),
]


@pytest.mark.parametrize("create", CREATES)
@pytest.mark.parametrize("changes", OTHERS)
def test_key_of_another_booking_is_refused(sandbox, shop, journal, family, create, changes):
    booking_id = shop.bookings.create(**family, idempotency_key=KEY).booking_id
    error = caught(
        IdempotencyError, method_of(shop, create), **family | changes, idempotency_key=KEY
    )
    assert (error.field, error.entry) == ("idempotency_key", journal.entries()[0])
    assert (error.entry.booking_id, made(sandbox)) == (booking_id, 1)


def test_key_of_another_sailing_is_refused(shop, family):
    shop.bookings.create(**family, idempotency_key=KEY)
    (selection,) = family["availabilities"]
    later = selection.model_copy(update={"depart_at": selection.depart_at + timedelta(days=1)})
    caught(
        IdempotencyError,
        shop.bookings.create,
        **family | {"availabilities": [later]},
        idempotency_key=KEY,
    )


def test_new_offer_of_the_sailing_is_the_booking(sandbox, shop, family):
    first = shop.bookings.create(**family, idempotency_key=KEY)
    other_place = {"availabilities": [selected(shop, place=1)], "passengers": PASSENGERS}
    again = shop.bookings.create(**other_place, idempotency_key=KEY)
    assert (again.booking_id, made(sandbox)) == (first.booking_id, 1)


def test_ids_without_a_sailing_are_compared(shop, family):
    names = ("availability_id", "tariff_id", "place_id")
    ids = [{name: getattr(family["availabilities"][0], name) for name in names}]
    by_ids = family | {"availabilities": ids}
    first = shop.bookings.create(**by_ids, idempotency_key=KEY)
    assert shop.bookings.create(**by_ids, idempotency_key=KEY).booking_id == first.booking_id
    caught(IdempotencyError, shop.bookings.create, **family, idempotency_key=KEY)


def test_travellers_are_compared_in_any_form(shop, family):
    first = shop.bookings.create(**family, idempotency_key=KEY)
    as_models = [Traveller(**passenger) for passenger in PASSENGERS]
    again = shop.bookings.create(**family | {"passengers": iter(as_models)}, idempotency_key=KEY)
    assert again.booking_id == first.booking_id


def test_key_of_a_refused_write_is_another_of_each_address(shop, sandbox, journal, family):
    shop.bookings.create(**family, idempotency_key=KEY)
    with Sandbox(now=NOW) as other, Ferry(other.token, base_url=other.base_url) as elsewhere:
        booking = elsewhere.with_options(journal=journal).bookings.create(
            availabilities=[selected(elsewhere)], passengers=PASSENGERS, idempotency_key=KEY
        )
        assert not booking.read_back


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("", id="empty"),
        pytest.param("k" * 256, id="too long"),
        pytest.param("clé", id="not ASCII"),
        pytest.param("a\nb", id="a line break"),
        pytest.param("a\n", id="a line break at the end"),
        pytest.param(4711, id="a number"),
    ],
)
@pytest.mark.parametrize("create", CREATES)
def test_wrong_key_is_refused(shop, family, create, key):
    error = caught(InvalidInputError, method_of(shop, create), **family, idempotency_key=key)
    assert error.field == "idempotency_key"


@pytest.mark.parametrize(
    "recorder",
    [pytest.param(None, id="none"), pytest.param(Notes(), id="one without keys")],
)
def test_key_needs_a_journal_that_keeps_it(sandbox, shop, family, recorder):
    without = shop.with_options(journal=recorder)
    caught(ConfigurationError, without.bookings.create, **family, idempotency_key=KEY)
    assert made(sandbox) == 0


def test_database_does_not_give_the_key_away(shop, sqlite_url, family):
    shop.bookings.create(**family, idempotency_key=KEY)
    stored = repr(run_sql(sqlite_url, "SELECT * FROM ferry_journal_keys"))
    assert KEY not in stored
    assert "Okonkwo" not in stored


def test_forget_keeps_the_booking_of_a_key(sandbox, shop, journal, family):
    first = shop.bookings.create(**family, idempotency_key=KEY)
    assert journal.forget(older_than=0) == 0
    assert shop.bookings.create(**family, idempotency_key=KEY).booking_id == first.booking_id


def test_forget_deletes_a_rejected_try(sandbox, shop, journal, sqlite_url, family):
    sandbox.faults.add("refused", "bookings.create")
    caught(BookingCreateError, shop.bookings.create, **family, idempotency_key=KEY)
    assert journal.forget(older_than=0) == 1
    assert run_sql(sqlite_url, "SELECT * FROM ferry_journal_keys") == []


def test_key_without_its_entry_is_refused(sandbox, shop, sqlite_url, family):
    shop.bookings.create(**family, idempotency_key=KEY)
    run_sql(sqlite_url, "DELETE FROM ferry_journal")
    caught(JournalError, shop.bookings.create, **family, idempotency_key=KEY)
    assert made(sandbox) == 1


def test_repeated_hold_returns_its_order(sandbox, shop, journal):
    order = hold(shop, journal)
    again = hold(shop, journal)
    assert (again, again.state, made(sandbox)) == (order, "held", 2)


def test_key_of_a_cancelled_order_returns_it(sandbox, shop, journal):
    order = orders.cancel(shop, hold(shop, journal), max_penalty={}, journal=journal)
    again = hold(shop, journal)
    assert (again.id, again.state, made(sandbox)) == (order.id, "cancelled", 2)


def test_undone_hold_leaves_its_key_free(sandbox, shop, journal):
    sandbox.faults.add("refused", "bookings.create", after=1)
    error = caught(OrderError, hold, shop, journal)
    assert error.order.state == "cancelled"
    order = hold(shop, journal)
    assert (order.state, order.id != error.order.id) == ("held", True)


def test_unknown_hold_keeps_its_key(sandbox, shop, journal):
    sandbox.faults.add("lose_reply", "bookings.create")
    error = caught(OrderError, hold, shop, journal)
    again = caught(UnresolvedWriteError, hold, shop, journal)
    assert (again.order_id, again.entry) == (error.order.id, journal.unresolved()[0])
    assert made(sandbox) == 1


def test_resumed_hold_leaves_its_key_free(sandbox, shop, journal):
    sandbox.faults.add("cut_before", "bookings.create")
    order_id = caught(OrderError, hold, shop, journal).order.id
    journal.settle(journal.unresolved()[0], happened=False)
    error = caught(OrderError, orders.resume, shop, order_id, journal=journal)
    assert error.order.state == "cancelled"
    assert hold(shop, journal).state == "held"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"passengers": PASSENGERS[:1]}, id="fewer travellers"),
        pytest.param({"contact": {"name": "Ada", "email": "ada@example.com"}}, id="a contact"),
    ],
)
def test_key_of_another_order_is_refused(sandbox, shop, journal, changes):
    hold(shop, journal)
    caught(IdempotencyError, hold, shop, journal, **changes)
    assert made(sandbox) == 2


def test_key_of_an_order_is_no_key_of_a_booking(shop, journal, family):
    hold(shop, journal, selections=[family["availabilities"]])
    caught(IdempotencyError, shop.bookings.create, **family, idempotency_key=KEY)


def test_forget_keeps_the_order_of_a_key(shop, journal):
    order = hold(shop, journal)
    journal.forget(older_than=0)
    assert hold(shop, journal) == order
