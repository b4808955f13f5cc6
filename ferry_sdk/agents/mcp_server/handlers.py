"""The answers to MCP requests: the tools and catalogues of a toolkit."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from mcp import MCPError
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Annotations,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from ferry_sdk._runtime.data import data_beside
from ferry_sdk._runtime.version import __version__
from ferry_sdk.agents.mcp_server.card import (
    ANSWER_TOOL,
    EXTENSION,
    PAGE,
    answer_tool,
    page,
    with_card,
)
from ferry_sdk.agents.mcp_server.elicitation import Context
from ferry_sdk.agents.mcp_server.writes import WriteCalls, result_of
from ferry_sdk.agents.policy.approval import ApprovalWay
from ferry_sdk.agents.policy.trip_answers import SECONDS
from ferry_sdk.agents.toolkit import AsyncToolkit, definitions_of, reader_of
from ferry_sdk.agents.tools.table import FIND_PLACES, FIND_TRIPS, tool_name
from ferry_sdk.agents.tools.tools import TOOLS, ToolDefinition
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.mcp import McpGroup

logger: logging.Logger = logging.getLogger("ferry_sdk")

_LISTS: Final[Sequence[CacheableMethod]] = (
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "tools/list",
)
_FRESH_MS: Final = 300_000
"""For how long a host may keep a list, or the page of cards: they change with the process."""
_JSON: Final = "application/json"
_DATA: Final = data_beside(__file__)
"""The texts for hosts, and the prompt."""


@dataclass(frozen=True)
class _Catalogue:
    """A catalogue that a host can read as a resource."""

    name: str
    title: str
    tool: str

    @property
    def resource(self) -> Resource:
        """The resource, for the list of them."""
        return Resource(
            uri=f"ferry://{self.name}",
            name=self.name,
            title=self.title,
            mime_type=_JSON,
            annotations=Annotations(audience=["assistant"]),
        )


_CATALOGUES: Final = (
    _Catalogue("ports", "Ports", tool_name(CatalogueGroup.ports)),
    _Catalogue("journeys", "Journeys", tool_name(CatalogueGroup.journeys)),
    _Catalogue("companies", "Companies", tool_name(McpGroup.companies)),
    _Catalogue("vehicle-brands", "Makes of vehicles", tool_name(CatalogueGroup.vehicle_brands)),
    _Catalogue("vehicle-types", "Classes of vehicles", tool_name(CatalogueGroup.vehicle_types)),
)
_TOOL_OF_URI: Final = {f"ferry://{catalogue.name}": catalogue.tool for catalogue in _CATALOGUES}
_DEPARTURES: Final = "ferry://departures/"
_DEPARTURES_TOOL: Final = tool_name(CatalogueGroup.departures)
_DEPARTURES_TEMPLATE: Final = ResourceTemplate(
    uri_template=f"{_DEPARTURES}{{provider_id}}",
    name="departures",
    title="Departures of a provider",
    mime_type=_JSON,
)

_TRIPS_TOOL: Final = tool_name(FIND_TRIPS.operation)
_PLACES_TOOL: Final = tool_name(FIND_PLACES.operation)
_BOOKING_TOOL: Final = tool_name(BookingsGroup.get)
_CREATE_TOOL: Final = tool_name(BookingsGroup.create)
_PLACES: Final = ("origin", "destination")
"""The arguments of the prompt that are completed with the names of ports."""
_PROMPT: Final = Prompt.model_validate(_DATA["prompt"])
_ListParams = PaginatedRequestParams | None


class _RequestHandler:
    """Answer the requests of a host."""

    def __init__(self, toolkit: AsyncToolkit, writes: WriteCalls) -> None:
        self._toolkit = toolkit
        self._writes = writes
        self._reader = reader_of(toolkit)

    async def list_tools(self, context: Context, _: _ListParams) -> ListToolsResult:
        way = self._writes.way(context)
        if way == "card":
            return ListToolsResult(tools=self._tools_with_cards())

        definitions = definitions_of(self._toolkit, "person")
        if way == "code":
            definitions = self._toolkit.definitions()
        return ListToolsResult(tools=[_tool_of(definition) for definition in definitions])

    def _tools_with_cards(self) -> list[Tool]:
        """Return the tools; if there are writes, the one that the card's page calls, too."""
        tools: list[Tool] = []
        has_writes = False
        for definition in definitions_of(self._toolkit, "card"):
            tool = _tool_of(definition)
            if not definition.read_only:
                tool = with_card(tool)
                has_writes = True
            tools.append(tool)

        if has_writes:
            tools.append(answer_tool())
        return tools

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        if params.name == ANSWER_TOOL and self._writes.way(context) == "card":
            return await self._writes.answer_card(params.arguments or {})
        tool = TOOLS.get(params.name)
        if tool is None or tool.is_read:
            return await self._read(context, params.name, params.arguments or {})
        return await self._writes.call(context, params)

    async def _read(self, context: Context, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        progress = asyncio.create_task(_report_progress(context, tool, arguments.get("wait")))
        try:
            answer = await self._toolkit.call(tool, arguments)
        finally:
            progress.cancel()

        if "error" in answer and answer["error"]["code"] == "unknown_tool":
            raise MCPError(INVALID_PARAMS, "Unknown tool", answer["error"])
        return result_of(answer)

    async def list_resources(self, _context: Context, _: _ListParams) -> ListResourcesResult:
        return ListResourcesResult(resources=[catalogue.resource for catalogue in _CATALOGUES])

    async def list_templates(
        self, _context: Context, _: _ListParams
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[_DEPARTURES_TEMPLATE])

    async def read_resource(
        self, _context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Read a catalogue with the tool that lists it, or the page of cards."""
        uri = params.uri
        if uri == PAGE:
            return ReadResourceResult(contents=[page()], ttl_ms=_FRESH_MS)

        arguments: dict[str, Any] = {}
        if uri in _TOOL_OF_URI:
            tool = _TOOL_OF_URI[uri]
        elif uri.startswith(_DEPARTURES):
            tool = _DEPARTURES_TOOL
            arguments["provider_id"] = unquote(uri.removeprefix(_DEPARTURES))
        else:
            raise MCPError(INVALID_PARAMS, "Unknown resource", {"uri": uri})

        answer = await self._reader.call(tool, arguments)
        if "error" in answer:
            error = answer["error"]
            is_wrong = answer["status"] == "refused" or error["outcome"] == "rejected"
            code = INVALID_PARAMS if is_wrong else INTERNAL_ERROR
            raise MCPError(code, error["message"], error)
        text = json.dumps(answer["result"], ensure_ascii=False)
        return ReadResourceResult(
            contents=[TextResourceContents(uri=uri, mime_type=_JSON, text=text)]
        )

    async def list_prompts(self, _context: Context, _: _ListParams) -> ListPromptsResult:
        """List the prompt for a booking, if bookings are offered."""
        offered = {tool.name for tool in definitions_of(self._toolkit, "person")}
        prompts = [_PROMPT] if _CREATE_TOOL in offered else []
        return ListPromptsResult(prompts=prompts)

    async def get_prompt(
        self, _context: Context, params: GetPromptRequestParams
    ) -> GetPromptResult:
        arguments = params.arguments or {}
        names = {argument.name for argument in _PROMPT.arguments or ()}
        if params.name != _PROMPT.name or arguments.keys() != names:
            raise MCPError(INVALID_PARAMS, "Unknown prompt, or other arguments than it has")
        text = TextContent(text=_DATA["book"].format_map(arguments))
        return GetPromptResult(messages=[PromptMessage(role="user", content=text)])

    async def complete(self, _context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Complete the names of ports."""
        names: dict[str, None] = {}
        if params.argument.name in _PLACES:
            arguments = {"text": params.argument.value, "limit": 20}
            answer = await self._reader.call(_PLACES_TOOL, arguments)
            places = answer.get("result", {}).get("places", ())
            names = dict.fromkeys(place["name"] for place in places)
        return CompleteResult(completion=Completion(values=[*names]))


async def _report_progress(context: Context, tool: str, wait: object) -> None:
    """Report the seconds of a search or a wait, until it is cancelled.

    The host gets the reports if it has sent a token for them.
    """
    if tool == _TRIPS_TOOL:
        longest = SECONDS
        text = "Asking the ferry companies"
    elif tool == _BOOKING_TOOL and isinstance(wait, int):
        longest = float(wait)
        text = "Waiting for the tickets"
    else:
        return

    with suppress(Exception):  # the host is gone
        for seconds in range(1, int(longest)):
            await context.session.report_progress(seconds, longest, text)
            await asyncio.sleep(1)


def _tool_of(definition: ToolDefinition[Any]) -> Tool:
    tool = Tool.model_validate(definition, from_attributes=True)
    tool.annotations = ToolAnnotations(
        read_only_hint=definition.read_only,
        destructive_hint=definition.destructive,
        idempotent_hint=definition.idempotent,
        open_world_hint=True,
    )
    return tool


async def _refuse_cursors(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Refuse a request for the next page of a list: no list has a second page."""
    if ctx.method.endswith("/list") and (ctx.params or {}).get("cursor") is not None:
        raise MCPError(INVALID_PARAMS, "Unknown cursor")
    return await call_next(ctx)


async def _hide_error_details(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Hide the text of an unexpected exception from the host, as it may hold secrets."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception as error:  # noqa: BLE001 -- no text of an exception leaves the process
        logger.error("MCP request %s failed: %s", ctx.method, type(error).__name__)  # noqa: TRY400 -- the same
        raise MCPError(INTERNAL_ERROR, "Internal error") from None


def make_server(toolkit: AsyncToolkit, approval: ApprovalWay) -> Server[Any]:
    """Return an MCP server for the tools of a toolkit.

    Args:
        toolkit: The tools.
        approval: How a person is asked; ``auto``: by the best way that the host has.
    """
    writes = WriteCalls(toolkit, approval)
    handler = _RequestHandler(toolkit, writes)
    server = Server[Any](
        "ferry",
        version=__version__,
        title="Ferry tickets",
        instructions=_DATA["instructions"],
        on_list_tools=handler.list_tools,
        on_call_tool=handler.call_tool,
        on_list_resources=handler.list_resources,
        on_list_resource_templates=handler.list_templates,
        on_read_resource=handler.read_resource,
        on_list_prompts=handler.list_prompts,
        on_get_prompt=handler.get_prompt,
        on_completion=handler.complete,
        cache_hints=dict.fromkeys(_LISTS, CacheHint(ttl_ms=_FRESH_MS)),
    )
    if writes.may_show_cards:
        server.extensions[EXTENSION] = {}
    server.middleware.extend([_refuse_cursors, _hide_error_details])
    return server
