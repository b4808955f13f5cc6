"""Fixtures of the effect test."""

import gc

import pytest

from tests.system.effects.world import World


@pytest.fixture(scope="session")
def world():
    """The local service behind a proxy that cuts connections, for all tests."""
    with World() as world:
        yield world


@pytest.fixture(scope="module")
def no_leftovers():
    """Collect what earlier tests left, whose warnings would count as a schedule's own."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def retry_at_once():
    """A call waits between attempts as long as it does for users: the service comes back later."""
