"""A confirmation has happened when its booking is paid and the company issues the tickets."""

import pickle

import pytest

from ferry_sdk import AlreadyDoneError, BookingConfirmError, OutcomeUnknownError
from tests.support.exchanges import caught

CONFIRMATIONS = {
    "bookings.confirm": lambda ferry: ferry.bookings.confirm,
    "mcp.confirm_booking": lambda ferry: ferry.mcp.confirm_booking,
}
each_confirmation = pytest.mark.parametrize("name", CONFIRMATIONS)


@pytest.fixture
def booking(ferry_sandbox):
    """A booking of a company that issues tickets with a delay, while the clock stands still."""
    ferry_sandbox.clock.freeze()
    return ferry_sandbox.make_booking("payment_due", company="GRIMALDI")


@each_confirmation
def test_lost_confirmation_is_read_back(both, ferry_sandbox, booking, name):
    ferry_sandbox.faults.add("lose_reply", name)
    confirmed = CONFIRMATIONS[name](both)(booking.booking_id)
    assert confirmed.read_back
    assert confirmed.ticket_id == booking.tickets[0].id
    assert confirmed.ticket_number is None
    assert both.bookings.get(booking.booking_id).stage == "in_progress"


@each_confirmation
def test_unknown_confirmation_is_recovered(both, ferry_sandbox, booking, name):
    ferry_sandbox.faults.add("lose_reply", name)
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    view = both.with_options(deadline=0.5)
    error = caught(OutcomeUnknownError, CONFIRMATIONS[name](view), booking.booking_id)

    ferry_sandbox.faults.clear()
    confirmed = both.recover(pickle.loads(pickle.dumps(error)))
    assert (confirmed.read_back, confirmed.ticket_number) == (True, None)
    assert ferry_sandbox.counters.requests[name] == 1


@each_confirmation
def test_second_confirmation_is_already_done(both, ferry_sandbox, booking, name):
    both.bookings.confirm(booking.booking_id)
    error = caught(AlreadyDoneError, CONFIRMATIONS[name](both), booking.booking_id)
    assert (error.outcome, error.last_seen.stage) == ("rejected", "in_progress")
    assert error.result.ticket_id == booking.tickets[0].id
    assert len(ferry_sandbox.counters.effects_of("bookings.confirm")) == 1


def test_guard_finds_a_confirmation_in_progress(both, ferry_sandbox, booking):
    both.bookings.confirm(booking.booking_id)
    confirm = both.bookings.confirm
    error = caught(AlreadyDoneError, confirm, booking.booking_id, expect_total=booking.total_price)
    assert error.outcome == "not_sent"
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_booking_in_progress_that_is_not_paid_proves_nothing(both, ferry_sandbox):
    ferry_sandbox.clock.freeze()
    booking = ferry_sandbox.make_booking("payment_due", company="MOBY", tickets=2)
    ferry_sandbox.faults.add("ticket_fails", "bookings.confirm")
    both.bookings.confirm(booking.booking_id)
    seen = both.bookings.get(booking.booking_id)
    assert (seen.stage, seen.payment_status) == ("in_progress", "partially_paid")

    ferry_sandbox.faults.add("refused", "bookings.confirm", status=409)
    caught(BookingConfirmError, both.bookings.confirm, booking.booking_id)
