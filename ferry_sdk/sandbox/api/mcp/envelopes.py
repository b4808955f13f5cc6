"""The shapes of MCP replies: results, errors and resources, as JSON or as an event stream."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.sandbox.faults.mcp_options import McpOptions
from ferry_sdk.sandbox.faults.socket_faults import LeaveOpen
from ferry_sdk.sandbox.http.server import connection_of

Json = dict[str, "JsonValue"]

_BLOCKS: Any = data_beside(__file__, "blocks.json")
_SEPARATORS = "line\u2028paragraph\u2029next\u0085end"


def to_json(value: JsonValue, *, indent: int | None = None) -> str:
    """Return JSON text with non-ASCII characters unescaped, as most servers send it."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def response(request_id: JsonValue, result: JsonValue) -> Json:
    """Return a JSON-RPC message with a result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(request_id: JsonValue, code: int, message: str, data: JsonValue = None) -> Json:
    """Return a JSON-RPC message with an error."""
    error: Json = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def tool_answer(request_id: JsonValue, value: JsonValue, options: McpOptions) -> JsonValue:
    """Return the message for a tool that returned `value`."""
    if options.result == "naked":
        return value

    result = _tool_result(value, options)
    if options.raw_separators and isinstance(result, dict):
        result["_meta"] = {"separators": _SEPARATORS}
    message = response(request_id, result)
    return [message] if options.result == "batch" else message


def _tool_result(  # noqa: C901, PLR0911, PLR0912 -- a case for each shape
    value: JsonValue, options: McpOptions
) -> JsonValue:
    """Return the result of a tool in the shape that `McpOptions.result` describes.

    Each `case` is a shape; type checkers report an option without one.
    """
    match options.result:
        # With structured content
        case "structured_and_text" | "batch":
            return _content(_json_text(value), structuredContent=_as_object(value))
        case "structured":
            return _content(structuredContent=_as_object(value))
        case "structured_result":
            return _content(_json_text(value), structuredContent={"result": value})
        case "structured_array":
            return _content(structuredContent=value)
        case "complete_result_type":
            return _content(_json_text(value), structuredContent=value, resultType="complete")

        # With texts only
        case "text":
            return _content(_json_text(value))
        case "n_blocks":
            return _content(*[_json_text(item) for item in _list(value)])
        case "split_text":
            text = to_json(value)
            middle = len(text) // 2
            return _content(_text(text[:middle]), _text(text[middle:]))
        case "plain_text":
            return _content(_text("Done."), _text("See the booking."))
        case "empty":
            return _content()

        # With other blocks
        case "embedded_resource":
            return _content(_resource_block(value))
        case "extra_blocks":
            return _content(_json_text(value), *_BLOCKS["extra_blocks"])

        # Not the result of a tool that has ended
        case "bare" | "naked":
            return value
        case "input_required":
            return dict(_BLOCKS["input_required"])
        case "unknown_result_type":
            return _content(_json_text(value), resultType="partial")


def tool_failure(  # noqa: C901 -- a case for each shape
    request_id: JsonValue, tool: str, error: Json, options: McpOptions
) -> JsonValue:
    """Return the message for a tool that failed with the interface's error object.

    `McpOptions.error` describes the shapes.
    """
    message = str(error["message"])
    match options.error:
        # Not in the result of a tool
        case "naked":
            return error
        case "json_rpc_error":
            return failure(request_id, -32603, message)
        case "json_rpc_error_data":
            return failure(request_id, -32603, message, data=error)

        # In a result that says that it is an error
        case "is_error":
            result = _content(_json_text(error), structuredContent=error, isError=True)
        case "is_error_text":
            result = _content(_json_text(error), isError=True)
        case "is_error_prose":
            result = _content(_text(message), isError=True)
        case "tool_error_text":
            prose = f"Error executing tool {tool}: {to_json(error)}"
            result = _content(_text(prose), isError=True)

        # In a result that does not say so
        case "error_as_success":
            result = _content(_json_text(error), structuredContent=error, isError=False)
        case "error_as_success_text":
            result = _content(_json_text(error))
        case "bare":
            result = error

    return response(request_id, result)


def resource_answer(
    request_id: JsonValue, uri: str, value: JsonValue, options: McpOptions
) -> JsonValue:
    """Return the message for a resource with the content `value`.

    `McpOptions.resource` describes the shapes.
    """
    text = to_json(value)
    records = _list(value)
    typed: Json = {"uri": uri, "mimeType": "application/json"}

    result: JsonValue
    match options.resource:
        # A list of contents, as MCP has it
        case "text":
            result = _contents({**typed, "text": text})
        case "text_without_type":
            result = _contents({"uri": uri, "text": text})
        case "text_without_uri":
            result = _contents({"mimeType": "application/json", "text": text})
        case "blob":
            result = _contents({**typed, "blob": base64.b64encode(text.encode()).decode()})
        case "split":
            half = (len(records) + 1) // 2
            result = _contents(
                {**typed, "text": to_json(records[:half])},
                {**typed, "text": to_json(records[half:])},
            )
        case "empty":
            result = _contents()

        # The records themselves
        case "bare_list":
            result = records
        case "bare_object":
            name = uri.rpartition("/")[2].replace("-", "_")
            result = {name: records}

    return response(request_id, result)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _json_text(value: JsonValue) -> Json:
    return _text(to_json(value))


def _content(*blocks: Json, **members: JsonValue) -> Json:
    return {"content": list(blocks), **members}


def _contents(*contents: Json) -> Json:
    return {"contents": list(contents)}


def _as_object(value: JsonValue) -> Json:
    return value if isinstance(value, dict) else {"result": value}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _resource_block(value: JsonValue) -> Json:
    uri = "resource://service/result"
    content: Json = {"uri": uri, "mimeType": "application/json", "text": to_json(value)}
    return {"type": "resource", "resource": content}


_LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


def reply(
    request: Request, message: JsonValue, options: McpOptions, *, status: int = 200
) -> Response:
    """Return the HTTP response with `message`, as the options and `Accept` require."""
    if not _wants_stream(request, options):
        return Response(to_json(message), status, media_type="application/json")

    if options.left_open:
        connection_of(request.scope).plan = LeaveOpen()
    events = [*_leading_events(message, options)]
    if not options.ended_early:
        indent = 1 if options.several_lines else None
        events.append(_event(to_json(message, indent=indent)))
    return Response(
        "".join(events).replace("\n", _LINE_ENDS[options.line_end]),
        status,
        media_type="text/event-stream",
        headers={"cache-control": "no-store"},
    )


def _wants_stream(request: Request, options: McpOptions) -> bool:
    if options.reply != "auto":
        return options.reply == "sse"
    accept = request.headers.get("accept", "")
    accepts_json = "json" in accept or "*/*" in accept
    return "text/event-stream" in accept and not accepts_json


def _leading_events(message: JsonValue, options: McpOptions) -> Iterator[str]:
    """Yield the events that a server may send before the reply."""
    if options.comments:
        yield ": the reply follows\n\n"
        yield "retry: 3000\n\n"
        yield "id: 1\ndata:\n\n"
    if options.notification_first:
        params: JsonValue = {"level": "info", "data": "working"}
        notification: JsonValue = {
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": params,
        }
        yield _event(to_json(notification))
    if options.request_first:
        # A server chooses the ids of its requests freely, so they may equal a client's id.
        client_id = message.get("id") if isinstance(message, dict) else None
        yield _event(to_json({"jsonrpc": "2.0", "id": client_id or 1, "method": "ping"}))


def _event(text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.split("\n"))
    return f"event: message\n{lines}\n"
