"""The catalogues as resources: what there is to travel with and between, to read as a whole."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import unquote

from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from ferry_sdk.agents.toolkit import AsyncToolkit

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
    """A catalogue, read by the tool of the same name.

    Raises:
        MCPError: There is none of this address, or it cannot be read.
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
