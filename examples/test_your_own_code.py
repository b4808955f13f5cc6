"""Test your own code against the local service. Run this file with pytest."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from ferry_sdk import BookingCreated, Ferry, NotFoundError, OutcomeUnknownError
from ferry_sdk.sandbox import Sandbox


def confirm_or_report(ferry: Ferry, booking_id: str) -> str:
    """Confirm, and return the status or the unknown outcome: an example of your own code."""
    try:
        return ferry.bookings.confirm(booking_id).status
    except OutcomeUnknownError as error:
        return f"unknown: {error.correlation_id}"


@pytest.fixture
def booking(ferry: Ferry) -> BookingCreated:
    """Create a booking to confirm."""
    trips = ferry.trips.search(
        "Tarifa",
        "Tangier (city)",
        on=date.today() + timedelta(days=30),
        passengers=[{"type": "Adult", "gender": "Male", "age": 45}],
    )
    return ferry.bookings.create(
        availabilities=trips[0].select(),
        passengers=[{"type": "Adult", "first_name": "Omar", "last_name": "Vidal"}],
    )


def test_a_confirmation_whose_reply_is_lost_is_read_back(
    ferry: Ferry, ferry_sandbox: Sandbox, booking: BookingCreated
) -> None:
    """The local service confirms and cuts the connection."""
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    assert confirm_or_report(ferry, booking.booking_id) == "confirmed"
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_a_confirmation_that_is_not_seen_is_unknown(
    ferry: Ferry, ferry_sandbox: Sandbox, booking: BookingCreated
) -> None:
    """The local service fails before it confirms, but the client cannot know this."""
    ferry_sandbox.faults.add("server_error", "bookings.confirm")
    hasty = ferry.with_options(deadline=2)
    assert confirm_or_report(hasty, booking.booking_id).startswith("unknown: ")
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_a_booking_that_nobody_pays_lapses(
    ferry: Ferry, ferry_sandbox: Sandbox, booking: BookingCreated
) -> None:
    """The test moves the clock past the time limit."""
    ferry_sandbox.clock.advance(timedelta(days=7))
    assert ferry.bookings.get(booking.booking_id).stage == "lapsed"


def test_a_booking_that_does_not_exist(ferry: Ferry) -> None:
    """Errors are typed."""
    with pytest.raises(NotFoundError):
        ferry.bookings.get("no-such-booking")
