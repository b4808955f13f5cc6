"""Fixtures: hosts of either protocol version, over the local service."""

from contextlib import ExitStack

import pytest

from tests.stdio.host import MODES, Hosts
from tests.support.tiers import mostly_long


@pytest.fixture(params=mostly_long(MODES))
def hosts(request, asyncio_portal, ferry_sandbox, tmp_path):
    """Start hosts; the test runs with each protocol version."""
    with ExitStack() as stack:
        yield Hosts(asyncio_portal, ferry_sandbox, request.param, tmp_path, stack)
