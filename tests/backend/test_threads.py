"""Threads share one client: reads and writes of both protocols, one handshake."""

from functools import partial

import pytest

from ferry_sdk import TicketNotFoundError
from tests.backend.gathering import at_once
from tests.support.exchanges import caught

THREADS = 8


pytestmark = pytest.mark.usefixtures("quick_switches")


def test_calls_of_threads_keep_apart(new_client, ferry_sandbox, new_booking):
    ferry = new_client()
    bookings = [new_booking() for _ in range(THREADS)]

    def journey(index, booking_id):
        assert ferry.catalogue.vehicle_types()
        confirm = ferry.bookings.confirm if index % 2 else ferry.mcp.confirm_booking
        assert confirm(booking_id).booking_id == booking_id
        booking = ferry.bookings.get(booking_id)
        assert booking.booking_id == booking_id
        ticket_id = booking.tickets[0].id
        assert ferry.mcp.view_ticket(ticket_id).id == ticket_id
        cancel = ferry.mcp.cancel_ticket if index % 2 else ferry.tickets.cancel
        assert cancel(ticket_id).ticket_id == ticket_id
        caught(TicketNotFoundError, ferry.tickets.get, f"none-{index}")

    for call in at_once(*[partial(journey, *one) for one in enumerate(bookings)]):
        call.value()
    assert len(ferry_sandbox.counters.effects_of("bookings.confirm")) == THREADS
    assert len(ferry_sandbox.counters.effects_of("tickets.cancel")) == THREADS
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1
