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
"""Texts of the calls that `call_in_vain` makes; none may be shown."""


def call_in_vain(ferry, some_id="id-4711"):
    """Make eight calls that fail, with an id and with travellers that no record may show."""
    selections = [{"availability_id": some_id, "tariff_id": "t", "place_id": "p"}]
    traveller = {"type": "Adult", "first_name": "Canarywoman", "last_name": "C-Smythe"}
    create = partial(ferry.bookings.create, availabilities=selections, passengers=[traveller])
    mcp_create = partial(ferry.mcp.create_booking, availabilities=selections, passengers=PASSENGERS)
    for call in (
        partial(ferry.tickets.get, some_id),
        partial(ferry.tickets.cancel, some_id),
        partial(ferry.tickets.pdf, some_id),
        partial(ferry.mcp.view_ticket, some_id),
        partial(ferry.bookings.get, some_id),
        partial(ferry.bookings.confirm, some_id),
        create,
        mcp_create,
    ):
        with suppress(FerryError):
            call()


def shown_canaries(text, *more):
    """Return the canaries, and the further texts, that a text contains."""
    return [canary for canary in (*CANARIES, *more) if canary in text]


class EventLog:
    """Hooks that keep their events, in order; those of an `AsyncFerry` let others run meanwhile.

    Attributes:
        hooks: The hooks of a `Ferry`.
        ahooks: Those of an `AsyncFerry`.
    """

    def __init__(self):
        self.events = []
        self.hooks = {name: [self.events.append] for name in NAMES}
        self.ahooks = {name: [self._note] for name in NAMES}

    async def _note(self, event):
        await anyio.lowlevel.checkpoint()
        self.events.append(event)

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def kinds(self):
        return [type(event).__name__.removesuffix("Event").lower() for event in self.events]

    @property
    def requests(self):
        return self.of(RequestEvent)

    @property
    def responses(self):
        return self.of(ResponseEvent)

    @property
    def retries(self):
        return self.of(RetryEvent)

    @property
    def outcome(self):
        """The event of the only outcome."""
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
