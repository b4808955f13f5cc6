"""Fixtures for pytest: one local service a run, as new for every test, and clients of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferry_sdk import AsyncFerry, Ferry
    from ferry_sdk.sandbox import Sandbox

# Every pytest run loads this module: what is heavy is imported by the fixture that needs it.


@pytest.fixture(scope="session")
def ferry_sandbox_server() -> Iterator[Sandbox]:
    """The run's local service, running, with whatever earlier tests left in it."""
    from ferry_sdk.sandbox import Sandbox

    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def ferry_sandbox(ferry_sandbox_server: Sandbox) -> Sandbox:
    """The run's local service, running and as new: no bookings, faults or counts, real time."""
    if not ferry_sandbox_server.running:
        ferry_sandbox_server.start()
    ferry_sandbox_server.reset()
    return ferry_sandbox_server


@pytest.fixture
def ferry(ferry_sandbox: Sandbox) -> Iterator[Ferry]:
    """A client of the local service that may do everything, closed after the test."""
    from ferry_sdk import Ferry

    with Ferry(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
    ) as client:
        yield client


@pytest.fixture
def async_ferry(ferry_sandbox: Sandbox) -> AsyncFerry:
    """An async client of the local service that may do everything; `async with` closes it.

    It is made outside every event loop, so that it suits whichever runs the test.
    """
    from ferry_sdk import AsyncFerry

    return AsyncFerry(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
    )
