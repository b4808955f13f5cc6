"""The services and clients of the tests of planning."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ferry_sdk import Ferry
from ferry_sdk.planning import catalogues
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import Sandbox
from tests.conftest import clients_of
from tests.support.trip import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferry_sdk.planning.routes import RouteGraph
    from tests.support.both import Clients


@pytest.fixture(autouse=True)
def _without_routes() -> Iterator[None]:
    """No test finds the routes of an earlier service that had the same port."""
    clear_cache()
    yield
    clear_cache()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A service for tests that only read, and change nothing of it."""
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=["sync", "asyncio"])
def reader(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Ferry]:
    """A client of that service, sync and async, whose catalogues are read once."""
    made = clients_of(request)
    clients: Clients = next(made)
    yield clients(sandbox.token, base_url=sandbox.base_url)
    next(made, None)


@pytest.fixture(scope="session")
def known_graph() -> RouteGraph:
    """The routes of a service, which are the same for all services of tests."""
    clear_cache()
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        ferry.routes.find()
        (graph,) = catalogues._graphs.values()
        return graph


@pytest.fixture
def with_routes(ferry_sandbox: Sandbox, known_graph: RouteGraph, _without_routes: None) -> None:
    """The client knows the routes of the test's own service already."""
    key = (ferry_sandbox.base_url, None, None)
    catalogues._graphs[key] = replace(known_graph, confirmed=set())
