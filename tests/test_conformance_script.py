"""What scripts/conformance makes of the results; the suite itself needs Node, and runs there."""

import httpx
import pytest

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox
from scripts.conformance_suite import Ran, with_token

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    ("scenario", "passed", "total", "ended_well", "is_a_fault"),
    [
        ("ping", 2, 2, True, False),
        ("ping", 1, 2, True, True),
        ("ping", 0, 0, True, True),
        ("ping", 1, 1, False, True),
        ("a-scenario-that-nobody-knows", 0, 1, False, True),
        ("prompts-list", 0, 1, False, False),
        ("prompts-list", 1, 1, True, True),
        ("server-sse-polling", 0, 0, True, False),
    ],
)
def test_scenario_goes_as_it_should(scenario, passed, total, ended_well, is_a_fault):
    ran = Ran(
        suite="suite",
        side="server",
        scenario=scenario,
        revision="2025-11-25",
        passed=passed,
        total=total,
        ended_well=ended_well,
    )
    assert ran.is_a_fault is is_a_fault
    assert ("FAULT" in ran.line()) is is_a_fault


@pytest.fixture(scope="module")
def service():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def door(service):
    """The address of a door to the service, which adds the token to each request."""
    with with_token(service) as url:
        yield url


def test_door_adds_the_token(door):
    assert httpx.post(door, json=PING).json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_door_replaces_another_token(door):
    with Ferry("none-of-its-own", base_url=door.removesuffix("/mcp")) as ferry:
        assert ferry.mcp.list_tools()


def test_door_keeps_the_host_of_a_request(door):
    reply = httpx.post(door, json=PING, headers={"host": "evil.example"})
    assert reply.status_code == 421


def test_door_keeps_the_method_of_a_request(door):
    assert httpx.get(door).status_code == 405


def test_service_itself_needs_the_token(service):
    assert httpx.post(f"{service.base_url}/mcp", json=PING).status_code == 401
