"""One MCP message as the body of an HTTP reply: JSON, or an event stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from ferry_sdk.sandbox.api.mcp.envelopes import dumped
from ferry_sdk.sandbox.faults.plans import LeftOpen
from ferry_sdk.sandbox.http.wire import wire_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue
    from starlette.requests import Request

    from ferry_sdk.sandbox.api.mcp.options import McpOptions

_LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
_OPEN_SECONDS = 60.0


def reply(
    request: Request, message: JsonValue, options: McpOptions, *, status: int = 200
) -> Response:
    """The HTTP reply that carries `message` as the options and the request's `Accept` say."""
    if not _as_stream(request, options):
        return Response(dumped(message), status, media_type="application/json")
    if options.left_open:
        wire_of(request.scope).plan = LeftOpen(_OPEN_SECONDS)
    events = [*_before(message, options)]
    if not options.ended_early:
        events.append(_event(dumped(message, indent=1 if options.several_lines else None)))
    return Response(
        "".join(events).replace("\n", _LINE_ENDS[options.line_end]),
        status,
        media_type="text/event-stream",
        headers={"cache-control": "no-store"},
    )


def _as_stream(request: Request, options: McpOptions) -> bool:
    if options.reply != "auto":
        return options.reply == "sse"
    accept = request.headers.get("accept", "")
    return "text/event-stream" in accept and not ("json" in accept or "*/*" in accept)


def _before(message: JsonValue, options: McpOptions) -> Iterator[str]:
    """What a server may send in the stream before the reply."""
    if options.comments:
        yield ": the reply follows\n\n"
        yield "retry: 3000\n\n"
        yield "id: 1\ndata:\n\n"
    if options.notification_first:
        log: JsonValue = {"level": "info", "data": "working"}
        yield _event(dumped({"jsonrpc": "2.0", "method": "notifications/message", "params": log}))
    if options.request_first:
        # A server numbers its requests as it likes; the client's own number is a fair choice.
        own_id = message.get("id") if isinstance(message, dict) else None
        yield _event(dumped({"jsonrpc": "2.0", "id": own_id or 1, "method": "ping"}))


def _event(text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.split("\n"))
    return f"event: message\n{lines}\n"
