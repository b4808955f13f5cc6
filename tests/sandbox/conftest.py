"""Fixtures of the tests of the local service."""

import httpx
import pytest
from offline_service import OfflineService, run

from ferry_sdk.sandbox import Sandbox
from tests.support.wire import TLS


@pytest.fixture
def offline():
    """Return a new service without HTTP, at a fixed time."""
    return OfflineService()


@pytest.fixture(scope="module")
def running_service():
    """Return the service of a module over HTTP, at a fixed time."""
    with run() as service:
        yield service


@pytest.fixture
def service(running_service):
    """Return the service of a module over HTTP, after a reset."""
    running_service.sandbox.reset()
    return running_service


@pytest.fixture(scope="module")
def running_sandbox():
    """Return the local service of a module, at real time."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox):
    """Return the local service of a module, after a reset."""
    running_sandbox.reset()
    return running_sandbox


@pytest.fixture
def http(sandbox):
    """Return an HTTP client with the read-write token."""
    headers = {"authorization": f"Bearer {sandbox.token}", "accept": "application/json"}
    with httpx.Client(verify=TLS, base_url=sandbox.base_url, headers=headers, timeout=30) as client:
        yield client
