"""What the entries of a client's writes name: bookings, tickets, status and code."""

import logging
from functools import wraps

import pytest

from ferry_sdk import AlreadyDoneError, APIError, Ferry, OutcomeUnknownError
from ferry_sdk.journal import Journal
from ferry_sdk.types import OutcomeDetails
from tests.journal.children import method_of
from tests.support.exchanges import caught
from tests.support.summer import booked, chosen, stopped
from tests.support.trip import PASSENGERS, found


@pytest.fixture
def journal(sqlite_url):
    with Journal(sqlite_url) as made:
        yield made


@pytest.fixture
def shop(ferry_sandbox, journal):
    with Ferry(
        ferry_sandbox.token,
        organisation_token=ferry_sandbox.organisation_token,
        base_url=ferry_sandbox.base_url,
        journal=journal,
    ) as client:
        yield client


@pytest.fixture
def order(ferry):
    return {"availabilities": chosen([found(ferry)]), "passengers": PASSENGERS}


def last(journal):
    return journal.entries()[-1]


def named(journal):
    return last(journal).booking_id, last(journal).ticket_ids


def tickets_of(shop, booking_id):
    return tuple(ticket.id for ticket in shop.bookings.get(booking_id).tickets)


@pytest.mark.parametrize(
    ("create", "confirm"),
    [("bookings.create", "bookings.confirm"), ("mcp.create_booking", "mcp.confirm_booking")],
)
def test_a_reply_names_booking_and_ticket_and_a_rejection_status_and_code(
    ferry_sandbox, shop, journal, order, create, confirm
):
    booking_id = method_of(shop, create)(**order).booking_id
    assert named(journal) == (booking_id, None)
    confirmed = method_of(shop, confirm)(booking_id)
    assert last(journal).operation == confirm
    assert named(journal) == (booking_id, (confirmed.ticket_id,))
    found = journal.entries(booking_id=booking_id)
    assert [one.operation for one in found] == [create, confirm]
    refusal = caught(AlreadyDoneError, method_of(shop, confirm), booking_id).__cause__
    assert isinstance(refusal, APIError)
    entry = last(journal)
    assert (entry.state, entry.booking_id) == ("rejected", booking_id)
    assert (entry.status_code, entry.code) == (refusal.status_code, "BOOKING_CONFIRM_ERROR")
    ferry_sandbox.faults.add("server_error", "bookings.cancel")
    caught(OutcomeUnknownError, shop.bookings.cancel, "b-1")
    entry = last(journal)
    assert (entry.state, entry.booking_id) == ("unknown", "b-1")
    assert (entry.status_code, entry.ended_at) == (None, None)


def test_payments_cancellations_and_called_tools_name_what_they_change(shop, journal, order):
    paid, kept = (shop.bookings.create(**order).booking_id for _ in range(2))
    ticket = shop.mcp.call_tool("confirm_booking", {"id": kept})["ticket_id"]
    assert named(journal) == (kept, (ticket,))
    (unpaid,) = tickets_of(shop, paid)
    shop.tickets.mark_paid(unpaid, external_payment_ref="p-1", booking_id=paid)
    assert named(journal) == (paid, (unpaid,))
    shop.tickets.cancel(ticket)
    assert named(journal) == (None, (ticket,))
    shop.bookings.cancel(paid)
    assert named(journal) == (paid, None)


@pytest.mark.parametrize("by", ["a total", "the call", "recover", "the next call"])
def test_a_confirmation_in_any_way_names_every_ticket(ferry_sandbox, shop, journal, by):
    stopped(ferry_sandbox)
    made = booked(shop, back=True)
    if by == "a total":
        shop.bookings.confirm(made.booking_id, expect_total=made.total_price)
    elif by == "the call":
        ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
        assert shop.bookings.confirm(made.booking_id).read_back
    else:
        # The outcome of the call is not recorded, as if its process had died.
        journal_end, journal.end = journal.end, lambda *_: None
        shop.bookings.confirm(made.booking_id)
        journal.end = journal_end
        (entry,) = journal.unresolved()
        assert entry.ticket_ids is None
        if by == "recover":
            shop.recover(entry)
        else:
            assert shop.bookings.confirm(made.booking_id).read_back
    tickets = tickets_of(shop, made.booking_id)
    assert len(tickets) > 1
    assert last(journal).state == "done"
    assert named(journal) == (made.booking_id, tickets)
    shop.tickets.cancel(tickets[1])
    history = [one.operation for one in journal.entries(booking_id=made.booking_id)]
    assert history == ["bookings.create", "bookings.confirm", "tickets.cancel"]


class Plain:
    """A recorder as it was before there were details; it remembers what it was told."""

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
        self.end = type("_End", (), {"__signature__": property(self.fail), "__call__": self.told})()

    def fail(self, _):
        raise RuntimeError

    def told(self, entry_id, state):
        self.ends.append((entry_id, state))


def test_a_recorder_gets_the_details_only_if_it_takes_them(ferry_sandbox, order, caplog):
    for kind in (Plain, Detailed, Decorated, Failing):
        recorder = kind()
        settings = {"base_url": ferry_sandbox.base_url, "journal": recorder}
        with Ferry(ferry_sandbox.token, **settings) as client:
            made = client.bookings.create(**order)
        (end,) = recorder.ends
        assert end[:2] == ("entry-bookings.create", "done")
        details = (OutcomeDetails(made.booking_id),) if kind is Detailed else ()
        assert end[2:] == details, kind
        assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
