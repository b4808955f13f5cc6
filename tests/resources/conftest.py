"""Fixtures: the local service in a summer that stands still, and what is exchanged with it."""

import pytest

from tests.support.summer import stopped
from tests.support.wire import recorded


@pytest.fixture
def summer(ferry_sandbox):
    return stopped(ferry_sandbox)


@pytest.fixture
def wired_client(clients, summer):
    with recorded(clients, summer) as made:
        yield made
