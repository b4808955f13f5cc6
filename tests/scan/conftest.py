"""Scans of the local service into a folder of the test's own."""

from functools import partial

import pytest

from ferry_sdk import AsyncFerry, Ferry
from tests.scan.season import new_scan
from tests.support.routes import know_routes
from tests.support.tiers import mostly_long


@pytest.fixture(autouse=True)
def _known_routes(request):
    if "ferry_sandbox" in request.fixturenames:
        know_routes(request.getfixturevalue("ferry_sandbox"))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "week"


@pytest.fixture
def scan(folder):
    return new_scan(folder)


@pytest.fixture(params=mostly_long([AsyncFerry, Ferry]))
def make_client(request, ferry_sandbox):
    return partial(
        request.param, ferry_sandbox.token, base_url=ferry_sandbox.base_url, max_retries=0
    )
