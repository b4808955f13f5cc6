"""The shapes of MCP replies: results, errors and resources, as JSON or as an event stream."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
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
    result = _RESULTS[options.result](value)
    if options.raw_separators and isinstance(result, dict):
        result["_meta"] = {"separators": _SEPARATORS}
    message = response(request_id, result)
    return [message] if options.result == "batch" else message


def tool_failure(request_id: JsonValue, tool: str, error: Json, options: McpOptions) -> JsonValue:
    """Return the message for a tool that failed with the interface's error object."""
    if options.error == "naked":
        return error
    if options.error == "json_rpc_error":
        return failure(request_id, -32603, str(error["message"]))
    if options.error == "json_rpc_error_data":
        return failure(request_id, -32603, str(error["message"]), error)
    text = to_json(error)
    shapes: dict[str, Json] = {
        "is_error": _content(_text(text), structuredContent=error, isError=True),
        "is_error_text": _content(_text(text), isError=True),
        "is_error_prose": _content(_text(str(error["message"])), isError=True),
        "tool_error_text": _content(_text(f"Error executing tool {tool}: {text}"), isError=True),
        "error_as_success": _content(_text(text), structuredContent=error, isError=False),
        "error_as_success_text": _content(_text(text)),
        "bare": error,
    }
    return response(request_id, shapes[options.error])


def resource_answer(
    request_id: JsonValue, uri: str, value: JsonValue, options: McpOptions
) -> JsonValue:
    """Return the message for a resource with the content `value`."""
    text = to_json(value)
    typed: Json = {"uri": uri, "mimeType": "application/json"}
    records = _list(value)
    half = (len(records) + 1) // 2
    shapes: dict[str, JsonValue] = {
        "text": _contents({**typed, "text": text}),
        "text_without_type": _contents({"uri": uri, "text": text}),
        "text_without_uri": _contents({"mimeType": "application/json", "text": text}),
        "blob": _contents({**typed, "blob": base64.b64encode(text.encode()).decode()}),
        "split": _contents(
            {**typed, "text": to_json(records[:half])}, {**typed, "text": to_json(records[half:])}
        ),
        "empty": _contents(),
        "bare_list": records,
        "bare_object": {uri.rpartition("/")[2].replace("-", "_"): records},
    }
    return response(request_id, shapes[options.resource])


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _content(*blocks: Json, **rest: JsonValue) -> Json:
    return {"content": list(blocks), **rest}


def _contents(*contents: Json) -> Json:
    return {"contents": list(contents)}


def _as_object(value: JsonValue) -> Json:
    return value if isinstance(value, dict) else {"result": value}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _halves(value: JsonValue) -> tuple[Json, Json]:
    text = to_json(value)
    middle = len(text) // 2
    return _text(text[:middle]), _text(text[middle:])


def _resource_block(value: JsonValue) -> Json:
    uri = "resource://service/result"
    inner: Json = {"uri": uri, "mimeType": "application/json", "text": to_json(value)}
    return {"type": "resource", "resource": inner}


def _with_text(value: JsonValue, **rest: JsonValue) -> Json:
    return _content(_text(to_json(value)), **rest)


_RESULTS: dict[str, Callable[[JsonValue], JsonValue]] = {
    "structured_and_text": lambda v: _with_text(v, structuredContent=_as_object(v)),
    "structured": lambda v: _content(structuredContent=_as_object(v)),
    "structured_result": lambda v: _with_text(v, structuredContent={"result": v}),
    "structured_array": lambda v: _content(structuredContent=v),
    "text": _with_text,
    "n_blocks": lambda v: _content(*(_text(to_json(item)) for item in _list(v))),
    "split_text": lambda v: _content(*_halves(v)),
    "plain_text": lambda _: _content(_text("Done."), _text("See the booking.")),
    "empty": lambda _: _content(),
    "embedded_resource": lambda v: _content(_resource_block(v)),
    "extra_blocks": lambda v: _content(_text(to_json(v)), *_BLOCKS["extra_blocks"]),
    "bare": lambda v: v,
    "batch": lambda v: _with_text(v, structuredContent=_as_object(v)),
    "input_required": lambda _: dict(_BLOCKS["input_required"]),
    "unknown_result_type": lambda v: _with_text(v, resultType="partial"),
    "complete_result_type": lambda v: _with_text(v, structuredContent=v, resultType="complete"),
}


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
        events.append(_event(to_json(message, indent=1 if options.several_lines else None)))
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
    return "text/event-stream" in accept and not ("json" in accept or "*/*" in accept)


def _leading_events(message: JsonValue, options: McpOptions) -> Iterator[str]:
    """Yield the events that a server may send before the reply."""
    if options.comments:
        yield ": the reply follows\n\n"
        yield "retry: 3000\n\n"
        yield "id: 1\ndata:\n\n"
    if options.notification_first:
        log: JsonValue = {"level": "info", "data": "working"}
        yield _event(to_json({"jsonrpc": "2.0", "method": "notifications/message", "params": log}))
    if options.request_first:
        # A server chooses the ids of its requests freely, so they may equal a client's id.
        own_id = message.get("id") if isinstance(message, dict) else None
        yield _event(to_json({"jsonrpc": "2.0", "id": own_id or 1, "method": "ping"}))


def _event(text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.split("\n"))
    return f"event: message\n{lines}\n"
