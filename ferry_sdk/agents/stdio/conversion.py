"""The toolkit's definitions and answers in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import JsonValue

from ferry_sdk.agents.tools.definitions import ToolDefinition


def tool_of(definition: ToolDefinition) -> Tool:
    """A tool as `tools/list` shows it."""
    return Tool(
        name=definition.name,
        title=definition.title,
        description=definition.description,
        input_schema=definition.input_schema,
        output_schema=definition.output_schema,
        annotations=ToolAnnotations(
            read_only_hint=definition.read_only,
            destructive_hint=definition.destructive,
            idempotent_hint=definition.idempotent,
            open_world_hint=True,
        ),
    )


def result_of(answer: Mapping[str, JsonValue]) -> CallToolResult:
    """An answer as `tools/call` gives it: structured, or an error with the answer as its text."""
    failed = "error" in answer
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=None if failed else answer,
        is_error=failed,
    )
