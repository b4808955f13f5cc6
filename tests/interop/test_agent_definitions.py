"""Every tool loads in the official clients' own types."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from mcp.types import Tool as McpTool
from pydantic import TypeAdapter

from ferry_sdk.agents.tools.definitions import anthropic, openai
from ferry_sdk.agents.tools.tools import TOOLS

DEFINITIONS = [
    tool.definition(approval=approval) for tool in TOOLS.values() for approval in (False, True)
]


def known(kind: Any) -> frozenset[str]:
    return frozenset(kind.__annotations__)


@pytest.mark.parametrize(
    ("module", "name", "tools"),
    [
        ("openai.types.responses", "FunctionToolParam", openai(DEFINITIONS)),
        ("openai.types.chat", "ChatCompletionToolParam", openai(DEFINITIONS, "chat")),
        ("anthropic.types", "ToolParam", anthropic(DEFINITIONS)),
    ],
    ids=["openai responses", "openai chat", "anthropic"],
)
def test_a_definition_is_one_of_the_clients_own(
    module: str, name: str, tools: list[dict[str, Any]]
) -> None:
    kind = getattr(import_module(module), name)  # seconds that a collection of tests does not need
    adapter = TypeAdapter[Any](kind)
    for tool in tools:
        assert adapter.validate_python(tool) == tool
        assert tool.keys() <= known(kind)


def test_a_client_of_mcp_reads_both_schemas() -> None:
    for one in DEFINITIONS:
        tool = McpTool.model_validate(
            {"name": one.name, "inputSchema": one.input_schema, "outputSchema": one.output_schema}
        )
        assert tool.model_dump(by_alias=True)["outputSchema"] == one.output_schema
