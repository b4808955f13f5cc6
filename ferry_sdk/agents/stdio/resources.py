"""Catalogues as MCP resources, and tools and answers as MCP types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import JsonValue

from ferry_sdk.agents.toolkit import AsyncToolkit
from ferry_sdk.agents.tools.definitions import ToolDefinition

_JSON: Final = "application/json"
_CATALOGUES: Final = {
    "ferry://ports": ("catalogue_ports", "Ports"),
    "ferry://journeys": ("catalogue_journeys", "Journeys"),
    "ferry://companies": ("mcp_companies", "Companies"),
    "ferry://vehicle-brands": ("catalogue_vehicle_brands", "Makes of vehicles"),
    "ferry://vehicle-types": ("catalogue_vehicle_types", "Classes of vehicles"),
}
_DEPARTURES: Final = "ferry://departures/"

RESOURCES: Final = [
    Resource(uri=uri, name=uri.removeprefix("ferry://"), title=title, mime_type=_JSON)
    for uri, (_, title) in _CATALOGUES.items()
]
TEMPLATES: Final = [
    ResourceTemplate(
        uri_template=f"{_DEPARTURES}{{provider_id}}",
        name="departures",
        title="Departures of a provider",
        mime_type=_JSON,
    )
]


async def read(toolkit: AsyncToolkit, uri: str) -> ReadResourceResult:
    """Read a catalogue with the tool that lists it.

    Raises:
        MCPError: No resource has this address, or it cannot be read.
    """
    arguments: dict[str, Any] = {}
    if uri in _CATALOGUES:
        tool, _ = _CATALOGUES[uri]
    elif uri.startswith(_DEPARTURES):
        tool = "catalogue_departures"
        arguments["provider_id"] = unquote(uri.removeprefix(_DEPARTURES))
    else:
        raise MCPError(INVALID_PARAMS, "Unknown resource", {"uri": uri})
    answer = await toolkit.call(tool, arguments)
    if "error" in answer:
        raise MCPError(INTERNAL_ERROR, answer["error"]["message"], answer["error"])
    text = json.dumps(answer["result"], ensure_ascii=False)
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


def tool_of(definition: ToolDefinition) -> Tool:
    """Return a tool for `tools/list`."""
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
    """Return an answer for `tools/call`: structured, or an error whose text is the answer."""
    failed = "error" in answer
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=None if failed else answer,
        is_error=failed,
    )
