"""The MCP server: offers the tools and catalogues of a toolkit to one host."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import JsonValue, ValidationError

from ferry_sdk._runtime.version import __version__
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.stdio.elicitation import (
    Context,
    Questions,
    ask,
    can_ask,
    form,
    parse_answer,
    uses_input_required,
)
from ferry_sdk.agents.toolkit import AsyncToolkit, definitions_of, read_catalogue, state_of
from ferry_sdk.agents.tools.tools import TOOLS

logger: logging.Logger = logging.getLogger("ferry_sdk")

_QUESTION: Final = "approval"
_INSTRUCTIONS: Final = (
    "Sells ferry crossings. Search with trips_find, book an offer with bookings_create, then "
    "confirm; a booking that is not confirmed in time lapses. Use ids exactly as results show "
    "them. Show the person the price of every action that costs money first. If an answer says "
    "that the outcome is unknown, do not repeat the call: tell the person."
)


_JSON: Final = "application/json"
_CATALOGUES: Final = {
    "ferry://ports": ("catalogue_ports", "Ports"),
    "ferry://journeys": ("catalogue_journeys", "Journeys"),
    "ferry://companies": ("mcp_companies", "Companies"),
    "ferry://vehicle-brands": ("catalogue_vehicle_brands", "Makes of vehicles"),
    "ferry://vehicle-types": ("catalogue_vehicle_types", "Classes of vehicles"),
}
_DEPARTURES: Final = "ferry://departures/"

_RESOURCES: Final = [
    Resource(uri=uri, name=uri.removeprefix("ferry://"), title=title, mime_type=_JSON)
    for uri, (_, title) in _CATALOGUES.items()
]
_TEMPLATES: Final = [
    ResourceTemplate(
        uri_template=f"{_DEPARTURES}{{provider_id}}",
        name="departures",
        title="Departures of a provider",
        mime_type=_JSON,
    )
]


class _RequestHandler:
    """Answer the requests of a host.

    A host that can ask a person never gets a confirmation code: the person is asked about each
    write, and agrees to one tool, with these arguments, at this price.
    """

    def __init__(self, toolkit: AsyncToolkit) -> None:
        self._toolkit = toolkit
        self._questions = Questions(state_of(toolkit))

    async def list_tools(
        self, context: Context, _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                Tool(
                    name=one.name,
                    title=one.title,
                    description=one.description,
                    input_schema=one.input_schema,
                    output_schema=one.output_schema,
                    annotations=ToolAnnotations(
                        read_only_hint=one.read_only,
                        destructive_hint=one.destructive,
                        idempotent_hint=one.idempotent,
                        open_world_hint=True,
                    ),
                )
                for one in definitions_of(self._toolkit, by_code=not can_ask(context))
            ]
        )

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        tool, arguments = TOOLS.get(params.name), params.arguments or {}
        if tool is None or tool.is_read or not can_ask(context):
            return _result_of(await self._toolkit.call(params.name, arguments))
        if uses_input_required(context):
            return await self._write_with_input_required(params, arguments)

        async def approve(request: ApprovalRequest) -> bool:
            is_agreed = await ask(context, request, self._questions.box(request))
            if is_agreed:
                self._questions.agree(request)
            return is_agreed

        return _result_of(await self._toolkit.perform(params.name, arguments, approve=approve))

    async def list_resources(
        self, _context: Context, _: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=_RESOURCES)

    async def list_templates(
        self, _context: Context, _: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    async def read_resource(
        self, _context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Read a catalogue with the tool that lists it."""
        uri, arguments = params.uri, dict[str, Any]()
        if uri in _CATALOGUES:
            tool, _ = _CATALOGUES[uri]
        elif uri.startswith(_DEPARTURES):
            tool = "catalogue_departures"
            arguments["provider_id"] = unquote(uri.removeprefix(_DEPARTURES))
        else:
            raise MCPError(INVALID_PARAMS, "Unknown resource", {"uri": uri})
        answer = await read_catalogue(self._toolkit, tool, arguments)
        if "error" in answer:
            raise MCPError(INTERNAL_ERROR, answer["error"]["message"], answer["error"])
        text = json.dumps(answer["result"], ensure_ascii=False)
        return ReadResourceResult(
            contents=[TextResourceContents(uri=uri, mime_type=_JSON, text=text)]
        )

    async def _write_with_input_required(
        self, params: CallToolRequestParams, arguments: dict[str, Any]
    ) -> CallToolResult | InputRequiredResult:
        was_asked = self._questions.take(params.request_state, params.name, arguments)
        answer = (params.input_responses or {}).get(_QUESTION)
        unanswered: ApprovalRequest | None = None
        if not was_asked or answer is None:
            request = await self._toolkit.preview(params.name, arguments)
            if isinstance(request, dict):
                return _result_of(request)
            return self._question(params.name, arguments, request)

        def approve(request: ApprovalRequest) -> bool:
            nonlocal unanswered
            is_agreed = parse_answer(answer, self._questions.box(request))
            if is_agreed is None:  # the person has not refused this: they were not asked
                unanswered = request
                raise RefusedError("declined", "the answer is for another question")
            if is_agreed:
                self._questions.agree(request)
            return is_agreed

        result = await self._toolkit.perform(params.name, arguments, approve=approve)
        if unanswered is not None:
            return self._question(params.name, arguments, unanswered)
        return _result_of(result)

    def _question(
        self, tool: str, arguments: dict[str, Any], request: ApprovalRequest
    ) -> InputRequiredResult:
        box = self._questions.box(request)
        return InputRequiredResult(
            input_requests={_QUESTION: ElicitRequest(params=form(request, box))},
            request_state=self._questions.keep(tool, arguments, request),
        )


def _result_of(answer: Mapping[str, JsonValue]) -> CallToolResult:
    """Return an answer for `tools/call`: structured, or an error whose text is the answer."""
    failed = "error" in answer
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=None if failed else answer,
        is_error=failed,
    )


async def _hide_error_details(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Hide the text of an unexpected exception from the host, as it may hold secrets."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception as error:  # noqa: BLE001 -- no text of an exception leaves the process
        logger.error("MCP request %s failed: %s", ctx.method, type(error).__name__)  # noqa: TRY400 -- the same
        raise MCPError(INTERNAL_ERROR, "Internal error") from None


def make_server(toolkit: AsyncToolkit) -> Server[Any]:
    """Return an MCP server for the tools of this toolkit."""
    handler = _RequestHandler(toolkit)
    server = Server[Any](
        "ferry",
        version=__version__,
        title="Ferry tickets",
        instructions=_INSTRUCTIONS,
        on_list_tools=handler.list_tools,
        on_call_tool=handler.call_tool,
        on_list_resources=handler.list_resources,
        on_list_resource_templates=handler.list_templates,
        on_read_resource=handler.read_resource,
    )
    server.middleware.append(_hide_error_details)
    return server
