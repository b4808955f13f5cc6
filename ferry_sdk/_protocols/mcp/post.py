"""Posts one JSON-RPC message to ``/mcp`` and finds its reply.

With the version `STATELESS`, a request needs no handshake and no session. It says itself which
version and which client it is of: in the member ``_meta`` of its parameters, and in its headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import Final

from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.headers import JSON, call_headers, service_headers, session_headers
from ferry_sdk._engine.http import Listener, Reply, Request
from ferry_sdk._engine.requests import read, send
from ferry_sdk._protocols.error_responses import api_error, raise_service_error, service_error
from ferry_sdk._protocols.json_body import decode_or_text, encode_json, members_of
from ferry_sdk._protocols.mcp.jsonrpc import EVENT_STREAM, ReplyListener, reply_among
from ferry_sdk._protocols.mcp.results import rpc_error, unexpected_result
from ferry_sdk._runtime.version import __version__
from ferry_sdk.errors import SERVICE_CODES, APIError

PATH: Final = "/mcp"
STATELESS: Final = "2026-07-28"
"""The version of MCP that has no handshake and no sessions."""
CLIENT_INFO: Final = {"name": "ferry_sdk", "version": __version__}
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": dict[str, object](),
}
_ACCEPTED: Final = f"{JSON}, {EVENT_STREAM}"
_ids: Final = count(1)
_ACCESS: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""Statuses that are reported as such, whatever the body is."""


@dataclass(frozen=True, slots=True)
class JsonRpcReply:
    """The reply to a JSON-RPC request.

    Attributes:
        reply: The HTTP reply.
        message: The JSON-RPC reply, or the interface's bare error object; empty if there is none.
        body: The whole body, decoded if it is JSON; of an event stream the reply, or else the last
            other message.
    """

    reply: Reply
    message: Mapping[str, object] = field(repr=False)
    body: object = field(repr=False)

    @property
    def is_tools_answer(self) -> bool:
        """Whether a tool replied: with a result, or with the code of a failed tool."""
        data = self.error.get("data")
        error = service_error(self.message, self.reply) or service_error(data, self.reply)
        return "result" in self.message or (error is not None and error.code in SERVICE_CODES)

    @property
    def error(self) -> Mapping[str, object]:
        """The JSON-RPC error; empty if there is none."""
        return members_of(self.message.get("error"))

    def status_error(self) -> APIError:
        """Return the error that the status of the reply reports."""
        error = service_error(self.error.get("data"), self.reply, self.body)
        return error or api_error(self.reply, self.body)

    def result(self, *, of_resource: bool = False) -> object:
        """Return the JSON-RPC result.

        Raises:
            APIError: The reply reports an error, in any of the possible ways.
            UnexpectedResponseError: The body has no reply to the request.
        """
        if self.reply.status_code in _ACCESS:
            raise self.status_error()

        if not self.message:
            if self.reply.is_redirect:
                raise unexpected_result("redirects are not followed", self.reply)
            if not self.reply.is_success:
                raise self.status_error()
            raise unexpected_result("no reply to the request", self.reply, self.body)

        if "result" in self.message and not self.error:
            return self.message["result"]
        if self.message.get("result") is not None:  # nothing says whether it was done
            raise unexpected_result("both a result and an error", self.reply, self.body)
        raise_service_error(self.message, self.reply)
        raise rpc_error(self.error, self.reply, of_resource=of_resource)


def post(
    context: Context, method: str, params: Mapping[str, object], *, session: Session
) -> Flow[JsonRpcReply]:
    """Post a request in a session, and find its reply."""
    request_id = f"ferry-{next(_ids)}"
    request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}
    listener = ReplyListener(request_id)
    reply = yield from send_message(context, request, session, listener=listener)

    body: object
    if reply.media_type == EVENT_STREAM:
        message = yield from read(context, reply, listener.finish)
        body = listener.other if message is None else message
    else:
        body = yield from read(context, reply, partial(decode_or_text, reply.content))
        message = reply_among(body, request_id, is_stream=False)
    return JsonRpcReply(reply, message or {}, body)


def send_message(
    context: Context,
    message: Mapping[str, object],
    session: Session,
    listener: Listener | None = None,
) -> Flow[Reply]:
    """Post a message in a session, and return the HTTP reply."""
    headers = service_headers(context, "token", accept=_ACCEPTED, has_json=True)
    headers |= session_headers(session)
    if headers.get("MCP-Protocol-Version") == STATELESS:
        params = members_of(message.get("params"))
        headers |= call_headers(str(message["method"]), params.get("name") or params.get("uri"))
        message = {**message, "params": {**params, "_meta": _META}}
    request = Request(
        method="POST",
        url=f"{context.settings.base_url}{PATH}",
        headers=headers,
        content=encode_json(message),
        route=PATH,
        rpc_method=str(message["method"]),
    )
    return (yield from send(context, request, listener))
