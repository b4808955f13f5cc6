"""Fixtures: clients of every kind whose hooks keep what they are told, and a booking to change."""

import pytest

from tests.observability.event_log import EventLog
from tests.support.trip import booked


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


@pytest.fixture
def booking_id(ferry):
    """A booking that is not yet confirmed."""
    return booked(ferry).booking_id
