"""The journals of earlier versions are read, and what they have begun goes on."""

import shutil
from contextlib import closing, suppress
from datetime import timedelta
from itertools import product
from typing import get_args

import pytest

from ferry_sdk import IdempotencyError, OrderError, UnresolvedWriteError, aftersales, offers, orders
from ferry_sdk.journal import Journal
from ferry_sdk.offers.answers import SeenAnswer
from ferry_sdk.offers.events import OfferEventKind
from tests.golden import journal as maker
from tests.golden.files import FOLDER, versions
from tests.golden.world import ADA, MOMENT, book, client_of, select
from tests.journal.intents import run_sql
from tests.support.exchanges import caught

FILES = [f"{version}/journal.{kind}" for version in versions() for kind in ("db", "sql")]
SETTLED = {"done", "rejected", "not_sent"}


@pytest.fixture(params=FILES)
def file(request):
    """A journal of a version."""
    return FOLDER / request.param


@pytest.fixture
def version(file):
    """The version of the journal, of which the service is too."""
    return file.parent.name


@pytest.fixture
def journal(request, file, tmp_path):
    """A journal of a version, opened by this one."""
    if file.suffix == ".db":
        url = f"sqlite:///{shutil.copy(file, tmp_path / 'journal.db')}"
    else:
        url = request.getfixturevalue("postgres").new_url()
        run_sql(url, file.read_text(encoding="utf-8").replace("%", "%%"))
    with Journal(url) as journal:
        yield journal


@pytest.fixture
def ferry(service, journal):
    """A client with this journal, of the service that has its bookings."""
    with client_of(service, journal=journal) as ferry:
        yield ferry


# ---- Entries and keys -------------------------------------------------------------------------


def made(journal):
    """Return the entries that `add_entries` has made of each write in each state."""
    return [entry for entry in journal.entries() if entry.correlation_id.startswith("golden ")]


def test_every_entry_is_whole(journal):
    assert {entry.damaged for entry in journal.entries()} == {()}


def test_each_write_has_each_state(journal):
    operations = {entry.operation for entry in made(journal)}
    seen = {(entry.operation, entry.state) for entry in made(journal)}
    assert seen == {*product(operations, {"open", "unknown", *SETTLED})}


def test_entries_without_an_outcome_are_unresolved(journal):
    expected = {entry.id for entry in journal.entries() if entry.state not in SETTLED}
    assert {entry.id for entry in journal.unresolved(older_than=30)} == expected


def test_unresolved_write_is_refused(journal):
    for operation in {entry.operation for entry in made(journal)}:
        error = caught(UnresolvedWriteError, maker.begin, journal, operation, "open")
        assert (error.entry.operation, error.entry.state) == (operation, "open")


def test_what_outcomes_named_is_kept(journal):
    (done,) = journal.entries(booking_id="of bookings.create")
    assert done.ticket_ids == ("t-ß-1", "t-ß-2")
    rejected = [entry for entry in made(journal) if entry.state == "rejected"]
    assert {(entry.status_code, entry.code) for entry in rejected} == {(409, "BOOKING_EXPIRED")}


def test_booking_that_a_person_settled_is_corrected(journal):
    (entry,) = journal.entries(booking_id="by-hand")
    assert journal.settle(entry, happened=True, booking_id="b-6").booking_id == "b-6"


def test_unresolved_entry_gets_its_outcome(journal):
    for entry in journal.unresolved():
        journal.end(entry.id, "done")
    assert journal.unresolved() == ()


def test_unknown_confirmation_is_recovered(ferry, journal):
    unresolved = journal.unresolved()
    entry = next(one for one in unresolved if not one.correlation_id.startswith("golden "))
    assert ferry.recover(entry).booking_id == entry.booking_id


def test_key_finds_its_booking(ferry, service):
    booking = book(ferry, idempotency_key=maker.BOOKING_KEY)
    assert booking.read_back
    assert service.counters.effects == ()


def test_key_refuses_another_booking(ferry):
    caught(IdempotencyError, book, ferry, day=5, idempotency_key=maker.BOOKING_KEY)


# ---- Orders -----------------------------------------------------------------------------------


def test_key_finds_its_order(ferry, journal):
    chosen = [[select(ferry, day=10)], [select(ferry, day=11)]]
    more = {"idempotency_key": maker.ORDER_KEY, "journal": journal}
    order = orders.hold(ferry, chosen, passengers=[ADA], **more)
    assert order.id == journal.load_orders()[0].id
    assert order.state == "held"


def test_finished_orders_have_their_states(journal):
    records = [record for record in journal.load_orders() if record.is_finished]
    found = [orders.get(record.id, journal=journal) for record in records]
    assert {order.state for order in found} >= {"held", "confirmed", "cancelled", "partial"}
    assert {order.kind for order in found} == {"hold", "change"}


def test_order_that_was_interrupted_is_resumed(ferry, journal):
    for record in journal.load_orders(only_unfinished=True):
        with suppress(OrderError):  # a create whose outcome nobody knows stays unknown
            orders.resume(ferry, record.id, journal=journal)
    left = orders.unfinished(journal=journal)
    assert [[part.state for part in order.parts] for order in left] == [["held", "unknown"]]


# ---- Watches ----------------------------------------------------------------------------------


def first_event(kind, ferry, booking_ids, journal, **options):
    """Return the first event of a kind that a watch gives."""
    events = aftersales.watch(ferry, booking_ids, deadline=60, journal=journal, **options)
    with closing(events):
        return next(event for event in events if event.kind == kind)


@pytest.fixture
def on_record(journal):
    """The ids of the bookings that the journal has made."""
    return {entry.booking_id for entry in journal.entries()}


def test_watch_goes_on_from_its_snapshot(ferry, journal, on_record):
    (unpaid,) = journal.load_snapshots([*on_record])
    ferry.bookings.confirm(unpaid)
    event = first_event("ticketed", ferry, [unpaid], journal)
    assert event.before.stage == "payment_due"


@pytest.fixture
def departing(journal, on_record):
    """The ids of the bookings that were watched until departure."""
    return {*journal.booking_ids(departs_after=MOMENT)} - on_record


def test_watch_repeats_no_event(ferry, journal, departing):
    options = {"until": "departure", "journal": journal, **maker.REMINDERS}
    assert len(departing) > 3
    assert [*aftersales.watch(ferry, departing, deadline=1, **options)] == []


def test_watch_goes_on_until_departure(ferry, journal, service, departing):
    service.clock.advance(timedelta(days=60))
    event = first_event("departed", ferry, departing, journal, until="departure")
    assert event.departs_at < service.clock.now()


# ---- Offers -----------------------------------------------------------------------------------


def test_wishes_have_their_rules(journal):
    wishes = offers.wishes(journal)
    assert tuple(wishes["every rule"].rules) == maker.RULES
    assert wishes.keys() == {"every rule", "armed", "not looked up", "ended"}


def watched(ferry, journal, **options):
    """Watch offers, without a search that is not due."""
    limits = {"every": timedelta(days=2), "max_calls": "500/hour"}
    return offers.watch(ferry, journal, deadline=60, **limits, **options)


def test_events_that_were_not_given_are_given(ferry, journal):
    kinds = set()
    with watched(ferry, journal) as events:
        while kinds != {*get_args(OfferEventKind)}:
            kinds.add(next(events).kind)


def test_history_has_every_price(journal):
    history = offers.history(journal, "Tarifa", "MATNG")
    assert [str(seen.price) for seen in history] == ["80.00", "70.00", "50.00"]


def test_rule_goes_on_from_its_state(ferry, journal):
    search = maker.wish_search()
    sailing = maker.with_price(maker.cheapest_sailing(ferry), "0.50")
    seen_at = MOMENT + timedelta(hours=5)
    answer = SeenAnswer(search, [sailing], seen_at, is_complete=True)
    journal.offers.record(search.id, answer.judge, now=seen_at, keys=())
    with watched(ferry, journal, keys=["armed"]) as events:
        event = next(events)
    assert (event.key, event.kind, str(event.before)) == ("armed", "below", "50.00")
