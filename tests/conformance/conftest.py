"""The local service that is checked, and what a report of it shows."""

import pytest

from ferry_sdk import Ferry
from ferry_sdk._engine.batch import Plan
from ferry_sdk.client import transport_of
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import Sandbox
from tests.support.trip import NOW


@pytest.fixture(scope="module")
def service():
    with Sandbox(now=NOW, frozen=True) as sandbox:
        yield sandbox


def start_anew(service):
    """Forget what earlier tests did at the service, and what the client knows of it."""
    service.reset()
    clear_cache()


@pytest.fixture
def sandbox(service):
    start_anew(service)
    return service


@pytest.fixture
def ferry(sandbox):
    """A client that retries nothing."""
    with Ferry(sandbox.token, base_url=sandbox.base_url, max_retries=0) as client:
        yield client


def make(ferry, steps):
    """Make the calls of steps, and return their result."""
    return transport_of(ferry).run(Plan(lambda _: steps))


def holding(report):
    return {row.id for row in report.rows if row.verdict == "holds"}


def seen(report):
    return {row.id: row.seen for row in report.rows}
