"""The server of the bundle, started as a host starts it."""

import sys

import pytest

from scripts.hosts.listing import BUNDLE
from tests.stdio.conftest import environment

WRITES = {"bookings_create", "bookings_confirm", "bookings_cancel"}


@pytest.fixture
def tools_of(hosts, ferry_sandbox):
    """Start the bundle with settings of a host; return the names of its tools."""

    def start(**settings):
        run = [sys.executable, str(BUNDLE / "server.py")]
        host = hosts(run=run, env={**environment(ferry_sandbox), **settings})
        return {*host.tools()}

    return start


def test_bundle_only_reads_by_default(tools_of):
    assert not tools_of(FERRY_MCP_WRITES="false", FERRY_MCP_SPEND_LIMIT="") & WRITES


def test_bundle_books_if_the_user_says_so(tools_of):
    assert tools_of(FERRY_MCP_WRITES="true", FERRY_MCP_SPEND_LIMIT="EUR=500") >= WRITES
