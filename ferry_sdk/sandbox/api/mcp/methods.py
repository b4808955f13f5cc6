"""The JSON-RPC methods of `/mcp`, its tools and its resources, independent of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import cast

from pydantic import JsonValue

from ferry_sdk._runtime.version import __version__
from ferry_sdk.sandbox.api.mcp.envelopes import (
    Json,
    resource_answer,
    response,
    tool_answer,
    tool_failure,
)
from ferry_sdk.sandbox.faults.mcp_options import McpOptions
from ferry_sdk.sandbox.operations import RESOURCES, RPC, TOOLS
from ferry_sdk.sandbox.requests.access import Access, Caller
from ferry_sdk.sandbox.service import Service, ServiceError

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The protocol versions that start with initialize, newest first."""
_STATELESS_VERSION = "2026-07-28"
"""The protocol version without initialize and without sessions."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
MODERN_VERSION_ONLY = -32022
REFUSED = -32001


@dataclass(eq=False)
class JsonRpcError(Exception):
    """An error of the protocol.

    Attributes:
        code: The JSON-RPC code.
        message: What is wrong.
        data: Further details.
        status: The HTTP status of the reply.
        headers: Further headers of the HTTP reply.
    """

    code: int
    message: str
    data: JsonValue = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class UnknownResourceError(JsonRpcError):
    """No resource has this URI; servers disagree about the error code."""


@dataclass(frozen=True, slots=True)
class JsonRpcRequest:
    """One JSON-RPC request."""

    id: str | int | float
    method: str
    params: Mapping[str, JsonValue]

    def text(self, name: str) -> str:
        """Return the string parameter `name`.

        Raises:
            JsonRpcError: The parameter is missing or not a string.
        """
        value = self.params.get(name)
        if not isinstance(value, str):
            raise JsonRpcError(INVALID_PARAMS, f"params.{name} must be a string")
        return value

    @property
    def operation(self) -> str:
        """The public name of the operation.

        Raises:
            JsonRpcError: The method, tool or resource does not exist.
        """
        if self.method == "tools/call":
            tool = self.text("name")
            if tool not in TOOLS:
                raise JsonRpcError(INVALID_PARAMS, f"Unknown tool: {tool}")
            return TOOLS[tool].name

        if self.method == "resources/read":
            uri = self.text("uri")
            if uri not in RESOURCES:
                message = f"Unknown resource: {uri}"
                raise UnknownResourceError(INVALID_PARAMS, message, data={"uri": uri})
            return RESOURCES[uri].name

        if self.method not in RPC:
            raise JsonRpcError(METHOD_NOT_FOUND, f"Method not found: {self.method}")
        return RPC[self.method].name


def answer(
    call: JsonRpcRequest, service: Service, caller: Caller, options: McpOptions
) -> JsonValue:
    """Return the JSON-RPC message, or the variant of it that the options select.

    Raises:
        JsonRpcError: The protocol or the caller's token does not allow the call.
    """
    if call.method == "tools/call":
        return _call_tool(call, service, caller, options)
    try:
        if call.method == "resources/read":
            value = service.perform(call.operation, {}, caller)
            return resource_answer(call.id, call.text("uri"), value, options)
        service.check_refused(call.operation, caller)
    except ServiceError as error:
        raise JsonRpcError(REFUSED, error.message, cast("Json", error.to_wire())) from None
    return response(call.id, _result_of(call, options))


def _call_tool(
    call: JsonRpcRequest, service: Service, caller: Caller, options: McpOptions
) -> JsonValue:
    arguments = call.params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise JsonRpcError(INVALID_PARAMS, "params.arguments must be an object")

    try:
        value = service.perform(call.operation, arguments, caller)
    except ServiceError as error:
        wire = cast("Json", error.to_wire())
        if error.status == HTTPStatus.FORBIDDEN:
            challenge = {"www-authenticate": 'Bearer error="insufficient_scope"'}
            raise JsonRpcError(
                REFUSED, error.message, data=wire, status=error.status, headers=challenge
            ) from None
        return tool_failure(call.id, call.text("name"), wire, options)
    return tool_answer(call.id, value, options)


def _result_of(call: JsonRpcRequest, options: McpOptions) -> Json:
    if call.method == "initialize":
        return _initialize_result(call, options)

    if call.method == "tools/list":
        tools: list[JsonValue] = []
        for name, tool in TOOLS.items():
            schema = tool.arguments.model_json_schema()
            tools.append({**tool_record(name), "inputSchema": schema})
        return {"tools": tools}

    if call.method == "resources/list":
        resources: list[JsonValue] = []
        for uri, resource in RESOURCES.items():
            resources.append(
                {
                    "uri": uri,
                    "name": uri.rpartition("/")[2],
                    "description": resource.description,
                    "mimeType": "application/json",
                }
            )
        return {"resources": resources}

    if call.method == "resources/templates/list":
        return {"resourceTemplates": []}
    return {}  # the answer to a ping


def tool_record(name: str) -> Json:
    """Return a tool without the schema of its arguments."""
    tool = TOOLS[name]
    reads = tool.access is Access.READ_ONLY
    return {
        "name": name,
        "title": tool.summary,
        "description": tool.description,
        "annotations": {
            "readOnlyHint": reads,
            "destructiveHint": tool.destroys,
            "idempotentHint": reads,
            "openWorldHint": False,
        },
    }


def check_version(call: JsonRpcRequest, version: str | None, options: McpOptions) -> None:
    """Check the version that a request names in a header.

    Raises:
        JsonRpcError: The service does not support it.
    """
    opening = call.method == "initialize"
    if options.handshake == "modern_only":
        if opening or version != _STATELESS_VERSION:
            requested = call.params.get("protocolVersion") if opening else version
            data: Json = {"supported": [_STATELESS_VERSION], "requested": requested}
            message = "Unsupported protocol version"
            raise JsonRpcError(MODERN_VERSION_ONLY, message, data=data, status=400)
        return

    is_checked = options.handshake != "refused" and not opening
    if is_checked and version is not None and version not in VERSIONS:
        raise JsonRpcError(INVALID_REQUEST, f"Unsupported version: {version}", status=400)


def _initialize_result(call: JsonRpcRequest, options: McpOptions) -> Json:
    if options.handshake == "refused":
        raise JsonRpcError(METHOD_NOT_FOUND, "Method not found: initialize")

    requested = call.params.get("protocolVersion")
    version = VERSIONS[0]
    if options.handshake == "odd_version":
        version = "1.0"
    elif isinstance(requested, str) and requested in VERSIONS:
        version = requested
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": False}, "resources": {"listChanged": False}},
        "serverInfo": {"name": "ferry-sandbox", "version": __version__},
        "instructions": "Search sailings, book, confirm, view and cancel tickets.",
    }
