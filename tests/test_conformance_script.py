"""What scripts/conformance makes of the results; the suite itself needs Node, and runs there."""

import httpx
import pytest

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox
from scripts.conformance_suite import Result, with_token

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
    result = Result(
        suite="suite",
        side="server",
        scenario=scenario,
        revision="2025-11-25",
        passed=passed,
        total=total,
        ended_well=ended_well,
    )
    assert result.is_a_fault is is_a_fault
    assert ("FAULT" in result.line()) is is_a_fault


@pytest.fixture(scope="module")
def service():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def proxy(service):
    """The address of a proxy of the service, which adds the token to each request."""
    with with_token(service) as url:
        yield url


def test_proxy_adds_the_token(proxy):
    assert httpx.post(proxy, json=PING).json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_proxy_replaces_another_token(proxy):
    with Ferry("none-of-its-own", base_url=proxy.removesuffix("/mcp")) as ferry:
        assert ferry.mcp.list_tools()


def test_door_keeps_the_host_of_a_request(proxy):
    reply = httpx.post(proxy, json=PING, headers={"host": "evil.example"})
    assert reply.status_code == 421


def test_door_keeps_the_method_of_a_request(proxy):
    assert httpx.get(proxy).status_code == 405


def test_service_itself_needs_the_token(service):
    assert httpx.post(f"{service.base_url}/mcp", json=PING).status_code == 401
