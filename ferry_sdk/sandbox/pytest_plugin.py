"""Pytest fixtures: one local service for the run, reset for every test, and clients of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferry_sdk import AsyncFerry, Ferry
    from ferry_sdk.sandbox import Sandbox

# Every pytest run loads this module, so each fixture imports what it needs.


@pytest.fixture(scope="session")
def ferry_sandbox_server() -> Iterator[Sandbox]:
    """Return the local service of the run, without resetting it."""
    from ferry_sdk.sandbox import Sandbox

    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def ferry_sandbox(ferry_sandbox_server: Sandbox) -> Sandbox:
    """Return the local service of the run, reset and running."""
    if not ferry_sandbox_server.running:
        ferry_sandbox_server.start()
    ferry_sandbox_server.reset()
    return ferry_sandbox_server


@pytest.fixture
def ferry(ferry_sandbox: Sandbox) -> Iterator[Ferry]:
    """Return a client with full access to the local service, closed after the test."""
    from ferry_sdk import Ferry

    with Ferry(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
    ) as client:
        yield client


@pytest.fixture
def async_ferry(ferry_sandbox: Sandbox) -> AsyncFerry:
    """Return an async client with full access to the local service; close it in the test.

    It is created outside any event loop, so it works with the loop of the test.
    """
    from ferry_sdk import AsyncFerry

    return AsyncFerry(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
    )
