"""Fixtures: clients of every kind whose hooks keep what they are told, and a booking to change."""

from contextlib import suppress
from functools import partial

import anyio.lowlevel
import pytest

from ferry_sdk import FerryError, OutcomeEvent, RequestEvent, ResponseEvent, RetryEvent
from tests.backend.conftest import authority, booking_id, good, journal, new_booking, noting, portal
from tests.support.trip import PASSENGERS

__all__ = ["authority", "booking_id", "good", "journal", "new_booking", "noting", "portal"]

NAMES = ("request", "response", "retry", "outcome")


CANARIES = ("id-471", "Canarywoman", "C-Smythe", "Okonkwo", "Marguerite")


def call_in_vain(ferry, some_id="id-4711"):
    """Make calls that fail, with an id and with travellers that no record of them may show."""
    selections = [{"availability_id": some_id, "tariff_id": "t", "place_id": "p"}]
    one = [{"type": "Adult", "first_name": "Canarywoman", "last_name": "C-Smythe"}]
    tickets, bookings, mcp = ferry.tickets, ferry.bookings, ferry.mcp
    of_tickets = (tickets.get, tickets.cancel, tickets.pdf, mcp.view_ticket)
    for call in [
        *(partial(call, some_id) for call in (*of_tickets, bookings.get, bookings.confirm)),
        partial(bookings.create, availabilities=selections, passengers=one),
        partial(mcp.create_booking, availabilities=selections, passengers=PASSENGERS),
    ]:
        with suppress(FerryError):
            call()


class EventLog:
    """Hooks that keep their events, in order; those of an `AsyncFerry` let others run meanwhile."""

    def __init__(self):
        self.events = []
        self.hooks = {name: [self.events.append] for name in NAMES}
        self.ahooks = {name: [self._note] for name in NAMES}

    async def _note(self, event):
        await anyio.lowlevel.checkpoint()
        self.events.append(event)

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    kinds = property(lambda self: [type(one).__name__[:-5].lower() for one in self.events])
    requests = property(lambda self: self.of(RequestEvent))
    responses = property(lambda self: self.of(ResponseEvent))
    retries = property(lambda self: self.of(RetryEvent))

    @property
    def outcome(self):
        (outcome,) = self.of(OutcomeEvent)
        return outcome


@pytest.fixture
def event_log():
    return EventLog()


@pytest.fixture
def make_client(any_clients, ferry_sandbox, event_log):
    """Make clients of the local service with the hooks of the log, async ones for `AsyncFerry`."""

    def make(token=None, **settings):
        hooks = event_log.ahooks if any_clients.is_async else event_log.hooks
        return any_clients(
            token or ferry_sandbox.token,
            base_url=ferry_sandbox.base_url,
            organisation_token=ferry_sandbox.organisation_token,
            **{"event_hooks": hooks, **settings},
        )

    return make
