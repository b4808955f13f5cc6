"""The MCP server: offers the tools and catalogues of a toolkit to one host."""

from __future__ import annotations

import logging
from typing import Any, Final

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.types import (
    INTERNAL_ERROR,
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
)
from pydantic import ValidationError

from ferry_sdk._version import __version__
from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.stdio import resources as catalogues
from ferry_sdk.agents.stdio.elicitation import (
    Context,
    Questions,
    ask,
    can_ask,
    form,
    parse_answer,
    uses_input_required,
)
from ferry_sdk.agents.stdio.resources import result_of, tool_of
from ferry_sdk.agents.toolkit import AsyncToolkit
from ferry_sdk.agents.tools.tools import TOOLS

logger: logging.Logger = logging.getLogger("ferry_sdk")

_QUESTION: Final = "approval"
_INSTRUCTIONS: Final = (
    "Sells ferry crossings. Search, book, then confirm; a booking that is not confirmed in time "
    "lapses. Use ids exactly as results show them. Show the person the price of every action "
    "that costs money first. If an answer says that the outcome is unknown, do not repeat the "
    "call: tell the person."
)


class _RequestHandler:
    """Answer the requests of a host.

    A host that can ask a person never gets a confirmation code: the person is asked about each
    write, and agrees to one tool, with these arguments, at this price.
    """

    def __init__(self, toolkit: AsyncToolkit) -> None:
        self._toolkit = toolkit
        self._questions = Questions()

    async def list_tools(
        self, context: Context, _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        by_code = not can_ask(context)
        offered = [
            TOOLS[one.name].definition(approval=by_code) for one in self._toolkit.definitions()
        ]
        return ListToolsResult(tools=[tool_of(one) for one in offered])

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        tool, arguments = TOOLS.get(params.name), params.arguments or {}
        if tool is None or tool.safety.is_read or not can_ask(context):
            return result_of(await self._toolkit.call(params.name, arguments))
        if uses_input_required(context):
            return await self._write_with_input_required(params, arguments)

        async def approve(request: ApprovalRequest) -> bool:
            is_agreed = await ask(context, request, self._questions.box(request))
            if is_agreed:
                self._questions.agree(request)
            return is_agreed

        return result_of(await self._toolkit.perform(params.name, arguments, approve=approve))

    async def list_resources(
        self, _context: Context, _: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=catalogues.RESOURCES)

    async def list_templates(
        self, _context: Context, _: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=catalogues.TEMPLATES)

    async def read_resource(
        self, _context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        return await catalogues.read(self._toolkit, params.uri)

    async def _write_with_input_required(
        self, params: CallToolRequestParams, arguments: dict[str, Any]
    ) -> CallToolResult | InputRequiredResult:
        shown = self._questions.take(params.request_state, params.name, arguments)
        answer = (params.input_responses or {}).get(_QUESTION)
        unanswered: ApprovalRequest | None = None
        if shown is None or answer is None:
            request = await self._toolkit.preview(params.name, arguments)
            if isinstance(request, dict):
                return result_of(request)
            return self._question(params.name, arguments, request)

        def approve(request: ApprovalRequest) -> bool:
            nonlocal unanswered
            is_agreed = parse_answer(answer, self._questions.box(request))
            if is_agreed is None:
                unanswered = request
            elif is_agreed:
                self._questions.agree(request)
            return bool(is_agreed)

        result = await self._toolkit.perform(params.name, arguments, approve=approve)
        if unanswered is not None:
            return self._question(params.name, arguments, unanswered)
        return result_of(result)

    def _question(
        self, tool: str, arguments: dict[str, Any], request: ApprovalRequest
    ) -> InputRequiredResult:
        box = self._questions.box(request)
        return InputRequiredResult(
            input_requests={_QUESTION: ElicitRequest(params=form(request, box))},
            request_state=self._questions.keep(tool, arguments, request),
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
    runner = _RequestHandler(toolkit)
    server = Server[Any](
        "ferry",
        version=__version__,
        title="Ferry tickets",
        instructions=_INSTRUCTIONS,
        on_list_tools=runner.list_tools,
        on_call_tool=runner.call_tool,
        on_list_resources=runner.list_resources,
        on_list_resource_templates=runner.list_templates,
        on_read_resource=runner.read_resource,
    )
    server.middleware.append(_hide_error_details)
    return server
