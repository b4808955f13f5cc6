"""Fixtures: clients of both kinds, and the local service they speak to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings

from tests.support.both import Clients

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.from_thread import BlockingPortal

    from ferry_sdk import Ferry
    from ferry_sdk.sandbox import Sandbox

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

for name in [name for name in os.environ if name.startswith("FERRY_")]:
    del os.environ[name]


@pytest.fixture(scope="session")
def asyncio_portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal("asyncio") as portal:
        yield portal


@pytest.fixture(scope="session")
def trio_portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal("trio") as portal:
        yield portal


@pytest.fixture(params=["sync", "asyncio"])
def clients(request: pytest.FixtureRequest) -> Iterator[Clients]:
    """Makes clients: the test runs once with sync ones and once with async ones."""
    portal = None if request.param == "sync" else request.getfixturevalue("asyncio_portal")
    made = Clients(portal)
    yield made
    made.close()


@pytest.fixture
def both(clients: Clients, ferry_sandbox: Sandbox) -> Ferry:
    """A client of the local service that may do everything, once sync and once async."""
    return clients(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
    )
