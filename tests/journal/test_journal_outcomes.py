"""What the entries of a client's writes name: bookings, tickets, status and code."""

import logging
from contextlib import contextmanager
from functools import partial, wraps
from unittest.mock import Mock

import pytest

from ferry_sdk import AlreadyDoneError, APIError, Ferry, OutcomeUnknownError
from ferry_sdk._engine import outcomes
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.types import OutcomeDetails
from tests.journal.children import method_of
from tests.support.exchanges import caught
from tests.support.summer import booked, chosen, stopped
from tests.support.trip import NOW, PASSENGERS, found


@pytest.fixture(scope="module")
def service():
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


@pytest.fixture
def ferry_sandbox(service):
    """One service for all tests, as new."""
    service.reset()
    return service


@pytest.fixture
def journal(sqlite_url):
    with Journal(sqlite_url) as made:
        yield made


@pytest.fixture
def shop(ferry_sandbox, journal):
    """A client that may do everything, with a journal."""
    with Ferry(
        ferry_sandbox.token,
        organisation_token=ferry_sandbox.organisation_token,
        base_url=ferry_sandbox.base_url,
        journal=journal,
    ) as client:
        yield client


@pytest.fixture
def order(ferry):
    """What `create` takes."""
    return {"availabilities": chosen([found(ferry)]), "passengers": PASSENGERS}


@pytest.fixture
def booking_id(shop, order):
    return shop.bookings.create(**order).booking_id


def last(journal):
    return journal.entries()[-1]


def named(journal):
    return last(journal).booking_id, last(journal).ticket_ids


def tickets_of(shop, booking_id):
    return tuple(ticket.id for ticket in shop.bookings.get(booking_id).tickets)


@pytest.mark.parametrize("create", ["bookings.create", "mcp.create_booking"])
def test_create_names_its_booking(shop, journal, order, create):
    booking_id = method_of(shop, create)(**order).booking_id
    assert named(journal) == (booking_id, None)


@pytest.mark.parametrize("confirm", ["bookings.confirm", "mcp.confirm_booking"])
def test_confirmation_names_its_ticket(shop, journal, booking_id, confirm):
    confirmed = method_of(shop, confirm)(booking_id)
    assert last(journal).operation == confirm
    assert named(journal) == (booking_id, (confirmed.ticket_id,))
    operations = [entry.operation for entry in journal.entries(booking_id=booking_id)]
    assert operations == ["bookings.create", confirm]


@pytest.mark.parametrize("confirm", ["bookings.confirm", "mcp.confirm_booking"])
def test_rejection_names_its_status(shop, journal, booking_id, confirm):
    method_of(shop, confirm)(booking_id)
    refusal = caught(AlreadyDoneError, method_of(shop, confirm), booking_id).__cause__
    assert isinstance(refusal, APIError)
    entry = last(journal)
    assert (entry.state, entry.booking_id) == ("rejected", booking_id)
    assert (entry.status_code, entry.code) == (refusal.status_code, "BOOKING_CONFIRM_ERROR")


def test_unknown_outcome_names_no_status(ferry_sandbox, shop, journal):
    ferry_sandbox.faults.add("server_error", "bookings.cancel")
    caught(OutcomeUnknownError, shop.bookings.cancel, "b-1")
    entry = last(journal)
    assert (entry.state, entry.booking_id) == ("unknown", "b-1")
    assert (entry.status_code, entry.ended_at) == (None, None)


def test_called_tool_names_its_ticket(shop, journal, booking_id):
    ticket = shop.mcp.call_tool("confirm_booking", {"id": booking_id})["ticket_id"]
    assert named(journal) == (booking_id, (ticket,))


def test_payment_names_its_booking(shop, journal, booking_id):
    (ticket,) = tickets_of(shop, booking_id)
    shop.tickets.mark_paid(ticket, external_payment_ref="p-1", booking_id=booking_id)
    assert named(journal) == (booking_id, (ticket,))


def test_cancellation_of_a_ticket_names_the_ticket(shop, journal, booking_id):
    ticket = shop.bookings.confirm(booking_id).ticket_id
    shop.tickets.cancel(ticket)
    assert named(journal) == (None, (ticket,))


def test_cancellation_of_a_booking_names_the_booking(shop, journal, booking_id):
    shop.bookings.cancel(booking_id)
    assert named(journal) == (booking_id, None)


@contextmanager
def no_outcome(journal):
    """Record no outcome in the block, as if the process died before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "end", lambda *_: None)
        yield


@pytest.fixture
def return_booking(ferry_sandbox, shop):
    """A booking of two tickets."""
    stopped(ferry_sandbox)
    return booked(shop, back=True)


def check_all_tickets_named(shop, journal, booking):
    tickets = tickets_of(shop, booking.booking_id)
    assert len(tickets) > 1
    assert last(journal).state == "done"
    assert named(journal) == (booking.booking_id, tickets)


def test_confirmation_with_a_total_names_every_ticket(shop, journal, return_booking):
    total = return_booking.total_price
    shop.bookings.confirm(return_booking.booking_id, expect_total=total)
    check_all_tickets_named(shop, journal, return_booking)


def test_lost_reply_names_every_ticket(ferry_sandbox, shop, journal, return_booking):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    assert shop.bookings.confirm(return_booking.booking_id).read_back
    check_all_tickets_named(shop, journal, return_booking)


def test_recovered_confirmation_names_every_ticket(shop, journal, return_booking):
    with no_outcome(journal):
        shop.bookings.confirm(return_booking.booking_id)
    (entry,) = journal.unresolved()
    assert entry.ticket_ids is None
    shop.recover(entry)
    check_all_tickets_named(shop, journal, return_booking)


def test_repeated_confirmation_names_every_ticket(shop, journal, return_booking):
    with no_outcome(journal):
        shop.bookings.confirm(return_booking.booking_id)
    assert shop.bookings.confirm(return_booking.booking_id).read_back
    check_all_tickets_named(shop, journal, return_booking)


def test_history_has_the_cancellation_of_a_ticket(shop, journal, return_booking):
    total = return_booking.total_price
    shop.bookings.confirm(return_booking.booking_id, expect_total=total)
    shop.tickets.cancel(tickets_of(shop, return_booking.booking_id)[1])
    entries = journal.entries(booking_id=return_booking.booking_id)
    operations = [entry.operation for entry in entries]
    assert operations == ["bookings.create", "bookings.confirm", "tickets.cancel"]


class Plain:
    """A recorder as it was before there were details; it keeps the outcomes."""

    def __init__(self):
        self.ends = []

    def begin(self, intent):
        return f"entry-{intent.operation}"

    def end(self, entry_id, state):
        self.ends.append((entry_id, state))


class Detailed(Plain):
    def end(self, entry_id, state, details=None):
        self.ends.append((entry_id, state, details))


class Decorated(Plain):
    """Its `end` looks like that of a journal, and takes what every recorder takes."""

    end = wraps(Journal.end)(lambda self, entry_id, state: self.ends.append((entry_id, state)))


class Failing(Plain):
    """The signature of its `end` cannot be read."""

    def __init__(self):
        super().__init__()
        self.end = type("_End", (), {"__signature__": property(self.fail), "__call__": self.note})()

    def fail(self, _):
        raise RuntimeError

    def note(self, entry_id, state):
        self.ends.append((entry_id, state))


def create_with(recorder, sandbox, order):
    with Ferry(sandbox.token, base_url=sandbox.base_url, journal=recorder) as client:
        return client.bookings.create(**order)


def test_detailed_recorder_gets_the_details(ferry_sandbox, order):
    recorder = Detailed()
    made = create_with(recorder, ferry_sandbox, order)
    details = OutcomeDetails(made.booking_id)
    assert recorder.ends == [("entry-bookings.create", "done", details)]


def test_end_that_is_replaced_later_counts_at_once(ferry_sandbox, order):
    recorder = Detailed()
    create_with(recorder, ferry_sandbox, order)
    recorder.end = partial(Plain.end, recorder)
    create_with(recorder, ferry_sandbox, order)
    assert [len(end) for end in recorder.ends] == [3, 2]


def test_parameters_of_a_recorder_are_read_once(ferry_sandbox, order, monkeypatch):
    class New(Plain):
        def end(self, entry_id, state):
            self.ends.append(entry_id)

    read = Mock(wraps=outcomes.signature)
    monkeypatch.setattr(outcomes, "signature", read)
    for recorder in (New(), New()):
        create_with(recorder, ferry_sandbox, order)
    read.assert_called_once()


@pytest.mark.parametrize("kind", [Plain, Decorated, Failing])
def test_plain_recorder_gets_no_details(ferry_sandbox, order, caplog, kind):
    recorder = kind()
    create_with(recorder, ferry_sandbox, order)
    assert recorder.ends == [("entry-bookings.create", "done")]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
