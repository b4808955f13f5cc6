"""Fixtures: clients of every kind whose hooks keep what they are told, and a booking to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.observability.event_log import EventLog
from tests.support.trip import booked

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk import Ferry
    from ferry_sdk.sandbox import Sandbox
    from tests.support.both import Clients


@pytest.fixture
def event_log() -> EventLog:
    return EventLog()


@pytest.fixture
def make_client(
    any_clients: Clients, ferry_sandbox: Sandbox, event_log: EventLog
) -> Callable[..., Ferry]:
    """Make clients of the local service with the hooks of the log, async ones for `AsyncFerry`."""

    def make(token: Any = None, **settings: Any) -> Ferry:
        hooks = event_log.ahooks if any_clients.is_async else event_log.hooks
        return any_clients(
            token or ferry_sandbox.token,
            base_url=ferry_sandbox.base_url,
            organisation_token=ferry_sandbox.organisation_token,
            **{"event_hooks": hooks, **settings},
        )

    return make


@pytest.fixture
def booking_id(ferry: Ferry) -> str:
    """A booking that is not yet confirmed."""
    return booked(ferry).booking_id
