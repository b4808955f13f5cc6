"""Every tool fits the types of the official clients."""

from functools import partial
from importlib import import_module
from typing import Any

import pytest
from mcp.types import Tool as McpTool
from pydantic import TypeAdapter

from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from tests.support.tiers import mostly_long

FERRY = Ferry("token", base_url="https://ferry.test")
TOOLKITS = [
    Toolkit(FERRY, tools="all", writes=True, approve=approve) for approve in (None, lambda _: False)
]


@pytest.mark.parametrize(
    ("module", "name", "format_tools"),
    mostly_long(
        [
            ("openai.types.chat", "ChatCompletionToolParam", partial(Toolkit.openai, api="chat")),
            ("openai.types.responses", "FunctionToolParam", Toolkit.openai),
            ("anthropic.types", "ToolParam", Toolkit.anthropic),
        ]
    ),
)
def test_definitions_fit_the_types_of_the_official_clients(module, name, format_tools):
    kind = getattr(import_module(module), name)  # seconds that a collection of tests does not need
    adapter = TypeAdapter[Any](kind)
    for toolkit in TOOLKITS:
        for tool in format_tools(toolkit):
            assert adapter.validate_python(tool) == tool
            assert tool.keys() <= frozenset(kind.__annotations__)


def test_mcp_tools_accept_both_schemas():
    for one in (one for toolkit in TOOLKITS for one in toolkit.definitions()):
        tool = McpTool.model_validate(
            {"name": one.name, "inputSchema": one.input_schema, "outputSchema": one.output_schema}
        )
        assert tool.model_dump(by_alias=True)["outputSchema"] == one.output_schema
