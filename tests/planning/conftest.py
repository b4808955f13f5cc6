"""The services and clients of the tests of planning."""

from contextlib import contextmanager

import pytest

from ferry_sdk.planning import catalogues
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import Sandbox
from tests.conftest import clients_of
from tests.support.routes import know_routes
from tests.support.trip import NOW

READERS = {"reader", "without_journey", "without_palermo"}
"""The clients whose catalogues are read once for all tests of a module."""


@pytest.fixture(autouse=True)
def _without_routes(request):
    """No test finds the catalogues of an earlier service, only those of its module's readers."""
    if READERS & {*request.fixturenames}:
        yield
        return
    caches = [catalogues._graphs, catalogues._indexes, catalogues._vehicles]
    kept = [dict(cache) for cache in caches]
    clear_cache()
    yield
    clear_cache()
    for cache, entries in zip(caches, kept, strict=True):
        cache.update(entries)


@pytest.fixture(scope="session")
def sandbox():
    """A service that is only read."""
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=["sync", "asyncio"])
def reader(request, sandbox):
    """A client of that service, sync and async, whose catalogues are read once for all modules."""
    with client_of_module(request, sandbox) as client:
        yield client


@contextmanager
def client_of_module(request, sandbox, **settings):
    """Yield a client of the kind that is the fixture's parameter."""
    made = clients_of(request)
    clients = next(made)
    yield clients(sandbox.token, base_url=sandbox.base_url, **settings)
    next(made, None)


@pytest.fixture
def new_ferry(clients, ferry_sandbox):
    """A client of the test's own service, which has read nothing yet."""
    return clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, max_retries=0)


@pytest.fixture
def ferry(new_ferry, with_routes):
    """The same, but it does not have to read the routes first."""
    return new_ferry


@pytest.fixture
def with_routes(ferry_sandbox, _without_routes):
    """The client knows the routes of the test's own service already."""
    know_routes(ferry_sandbox)
