"""What scripts/conformance makes of the results; the suite itself needs Node, and runs there."""

import httpx

from ferry_sdk import Ferry
from scripts.conformance_suite import Ran, with_token


def test_a_scenario_goes_as_it_should_and_the_door_adds_the_token_and_nothing_else(ferry_sandbox):
    for scenario, passed, total, ended_well, is_a_fault in (
        *(("ping", 2, 2, True, False), ("ping", 1, 2, True, True), ("ping", 0, 0, True, True)),
        *(("ping", 1, 1, False, True), ("a-scenario-that-nobody-knows", 0, 1, False, True)),
        *(("prompts-list", 0, 1, False, False), ("prompts-list", 1, 1, True, True)),
        ("server-sse-polling", 0, 0, True, False),
    ):
        ran = Ran("suite", "server", scenario, passed, total, ended_well)
        assert ran.is_a_fault is is_a_fault, ran
        assert ("FAULT" in ran.line()) is is_a_fault
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with with_token(ferry_sandbox) as url, httpx.Client() as client:
        assert client.post(url, json=message).json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert client.post(url, json=message, headers={"host": "evil.example"}).status_code == 421
        assert client.get(url).status_code == 405
        with Ferry("none of its own", base_url=url.removesuffix("/mcp")) as ferry:
            assert ferry.mcp.list_tools()
        bare = client.post(f"{ferry_sandbox.base_url}/mcp", json=message)
    assert bare.status_code == 401
