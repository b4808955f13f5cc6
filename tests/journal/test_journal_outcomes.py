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
from tests.support.tables import each
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


def tickets_of(shop, booking_id):
    return tuple(ticket.id for ticket in shop.bookings.get(booking_id).tickets)


@pytest.mark.parametrize(
    ("create", "confirm"),
    [("bookings.create", "bookings.confirm"), ("mcp.create_booking", "mcp.confirm_booking")],
)
def test_a_reply_names_booking_and_ticket_and_a_rejection_status_and_code(
    shop, journal, order, create, confirm
):
    made = method_of(shop, create)(**order)
    assert last(journal).booking_id == made.booking_id
    assert last(journal).ticket_ids is None
    confirmed = method_of(shop, confirm)(made.booking_id)
    entry = last(journal)
    assert (entry.operation, entry.booking_id) == (confirm, made.booking_id)
    assert entry.ticket_ids == (confirmed.ticket_id,)
    found = journal.entries(booking_id=made.booking_id)
    assert [one.operation for one in found] == [create, confirm]
    error = caught(AlreadyDoneError, method_of(shop, confirm), made.booking_id)
    refusal = error.__cause__
    assert isinstance(refusal, APIError)
    entry = last(journal)
    assert (entry.state, entry.booking_id) == ("rejected", made.booking_id)
    assert (entry.status_code, entry.code) == (refusal.status_code, "BOOKING_CONFIRM_ERROR")


def test_payments_cancellations_and_tools_called_by_name_name_what_they_change(
    shop, journal, order
):
    paid, kept = (shop.bookings.create(**order).booking_id for _ in range(2))
    ticket = shop.mcp.call_tool("confirm_booking", {"id": kept})["ticket_id"]
    assert (last(journal).booking_id, last(journal).ticket_ids) == (kept, (ticket,))
    (unpaid,) = tickets_of(shop, paid)
    shop.tickets.mark_paid(unpaid, external_payment_ref="p-1", booking_id=paid)
    assert (last(journal).booking_id, last(journal).ticket_ids) == (paid, (unpaid,))
    shop.tickets.cancel(ticket)
    assert (last(journal).booking_id, last(journal).ticket_ids) == (None, (ticket,))
    shop.bookings.cancel(paid)
    assert (last(journal).booking_id, last(journal).ticket_ids) == (paid, None)


def test_a_confirmation_at_a_total_knows_every_ticket(ferry_sandbox, shop, journal):
    stopped(ferry_sandbox)
    made = booked(shop, back=True)
    shop.bookings.confirm(made.booking_id, expect_total=made.total_price)
    tickets = tickets_of(shop, made.booking_id)
    assert last(journal).ticket_ids == tickets
    assert len(tickets) > 1
    shop.tickets.cancel(tickets[1])
    assert [one.operation for one in journal.entries(booking_id=made.booking_id)] == [
        *("bookings.create", "bookings.confirm", "tickets.cancel")
    ]


@pytest.mark.parametrize("by", ["the call", "recover", "the next call"])
def test_a_confirmation_that_is_read_back_names_every_ticket(ferry_sandbox, shop, journal, by):
    stopped(ferry_sandbox)
    made = booked(shop, back=True)
    if by == "the call":
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
    entry = last(journal)
    assert (entry.state, entry.booking_id) == ("done", made.booking_id)
    assert len(entry.ticket_ids) > 1
    assert entry.ticket_ids == tickets_of(shop, made.booking_id)


def test_an_unknown_outcome_names_what_was_known_before(ferry_sandbox, shop, journal):
    ferry_sandbox.faults.add("server_error", "bookings.cancel")
    caught(OutcomeUnknownError, shop.bookings.cancel, "b-1")
    entry = last(journal)
    assert (entry.state, entry.booking_id) == ("unknown", "b-1")
    assert (entry.status_code, entry.ended_at) == (None, None)


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


class Failing(Plain):
    """Its signature cannot be read, and it takes what every recorder takes."""

    class _End:
        def __init__(self, end):
            self._end = end

        @property
        def __signature__(self):
            raise RuntimeError

        def __call__(self, entry_id, state):
            self._end(entry_id, state)

    def __init__(self):
        super().__init__()
        self.end = self._End(self.end)


class Decorated(Plain):
    """Its `end` looks like that of a journal, and takes what every recorder takes."""

    @wraps(Journal.end)
    def end(self, entry_id, state):
        self.ends.append((entry_id, state))


@each("kind", [Plain, Detailed, Decorated, Failing])
def test_a_recorder_gets_the_details_only_if_it_takes_them(ferry_sandbox, order, kind, caplog):
    recorder = kind()
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=recorder) as client:
        made = client.bookings.create(**order)
    (end,) = recorder.ends
    assert end[:2] == ("entry-bookings.create", "done")
    assert end[2:] == ((OutcomeDetails(made.booking_id),) if kind is Detailed else ())
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
