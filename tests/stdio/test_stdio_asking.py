"""Whether a host can ask a person, by what it declares."""

from types import SimpleNamespace

import pytest
from mcp.types import ClientCapabilities

from ferry_sdk.agents.stdio.elicitation import can_ask


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, False),
        ({}, False),
        ({"sampling": {}}, False),
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"form": {}, "url": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
    ],
)
def test_a_host_can_ask_if_it_shows_forms(declared, expected):
    capabilities = None if declared is None else ClientCapabilities.model_validate(declared)
    context = SimpleNamespace(session=SimpleNamespace(client_capabilities=capabilities))
    assert can_ask(context) is expected
