"""A client that is dropped without `close` frees its connections."""

import asyncio
import gc

import pytest

from ferry_sdk import AsyncFerry, Ferry
from tests.backend.descriptors import connections_to

# Python warns of each socket that nobody closed, which is what these tests are about.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def open_connections(ferry_sandbox):
    """Count the connections of this process with the service."""
    return lambda: len(connections_to(ferry_sandbox.base_url))


@pytest.fixture
def settings(ferry_sandbox):
    """The settings of a client."""
    return {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}


def test_dropped_client_frees_its_connections(settings, open_connections):
    ferry = Ferry(**settings)
    ferry.catalogue.ports()
    assert open_connections() == 1
    del ferry
    gc.collect()
    assert open_connections() == 0


def test_dropped_async_client_frees_its_connections(settings, open_connections):
    async def drop():
        ferry = AsyncFerry(**settings)
        await ferry.catalogue.ports()
        assert open_connections() == 1
        del ferry
        gc.collect()
        while open_connections():  # noqa: ASYNC110 -- asyncio closes them soon
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(drop(), 30))


def test_client_that_another_thread_drops_frees_its_connections(settings, open_connections):
    async def drop():
        clients = [AsyncFerry(**settings)]
        await clients[0].catalogue.ports()
        await asyncio.to_thread(lambda: (clients.clear(), gc.collect()))
        while open_connections():  # noqa: ASYNC110 -- the same
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(drop(), 30))


def test_view_keeps_the_connections(settings, open_connections):
    ferry = Ferry(**settings)
    ferry.catalogue.ports()
    view = ferry.with_options(max_retries=0)
    del ferry
    gc.collect()
    assert open_connections() == 1
    del view
    gc.collect()
    assert open_connections() == 0
