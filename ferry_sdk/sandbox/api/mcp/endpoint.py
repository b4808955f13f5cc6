"""The MCP endpoint `/mcp`: HTTP requests, replies and sessions."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import NamedTuple

from pydantic import JsonValue
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ferry_sdk._runtime.hosts import is_loopback
from ferry_sdk.sandbox.api.mcp.envelopes import Json, failure, reply
from ferry_sdk.sandbox.api.mcp.methods import (
    INVALID_REQUEST,
    PARSE_ERROR,
    REFUSED,
    JsonRpcError,
    JsonRpcRequest,
    UnknownResourceError,
    answer,
    check_version,
)
from ferry_sdk.sandbox.faults.details import SessionExpired, SessionRequired
from ferry_sdk.sandbox.faults.mcp_options import McpOptions, McpSwitches
from ferry_sdk.sandbox.http.conventions import (
    caller_of,
    error_response,
    has_json,
    has_local_origin,
    language,
    parse_json,
    requested_host,
)
from ferry_sdk.sandbox.requests.access import Grant, Tokens
from ferry_sdk.sandbox.requests.errors import text
from ferry_sdk.sandbox.service import Service

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 -- named here, bound by whoever asks for it


class _Session(NamedTuple):
    """An open session."""

    account: str
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """The `/mcp` endpoint with what it needs to answer."""

    service: Service
    tokens: Tokens
    switches: McpSwitches
    host: str
    opened: dict[str, _Session] = field(default_factory=dict[str, "_Session"])
    """The open sessions by id; each step changes or reads it once, so threads need no lock."""

    async def respond(self, request: Request) -> Response:
        """Answer one POST or DELETE."""
        options = self.switches.current
        if options.is_absent:
            return error_response(request, 404, "NOT_FOUND", "no_such_address")
        try:
            if request.method == "POST":
                return await self._post(request, options)
            grant = self._authorize(request)
            self._check_session(request, grant, options, opening=False)
        except JsonRpcError as error:
            return _error_reply(request, error, options)
        self._end_session(request, grant)
        return Response()

    async def _post(self, request: Request, options: McpOptions) -> Response:
        body = await request.body()
        try:
            call = _parse_call(request, body)
            operation = "" if call is None else call.operation
        except JsonRpcError:
            self._authorize(request)  # a request that is not authorized gets no other error
            raise
        if call is None:
            grant = self._authorize(request)
            self._check_session(request, grant, options, opening=False)
            return Response(status_code=202)
        self.service.counters.request(operation)

        async def produce() -> Response:
            shaped = options
            try:
                grant = self._authorize(request)
                shaped = self._options_for(operation)
                return await run_in_threadpool(self._answer, request, call, grant, shaped)
            except JsonRpcError as error:
                return _error_reply(request, error, shaped)

        return await self.service.faults.around(operation, request, produce)

    def _answer(
        self, request: Request, call: JsonRpcRequest, grant: Grant, options: McpOptions
    ) -> Response:
        opening = call.method == "initialize"
        self._apply_session_faults(request, grant, call.operation)
        self._check_session(request, grant, options, opening=opening)
        if opening and options.handshake in _REFUSED_STATUS:
            return PlainTextResponse("No", _REFUSED_STATUS[options.handshake])
        check_version(call, request.headers.get(_VERSION), options)

        message = answer(call, self.service, caller_of(request, grant, "mcp"), options)
        status = options.status if call.method in ("tools/call", "resources/read") else 200
        response = reply(request, message, options, status=status)
        if opening and options.session != "none":
            session_id = secrets.token_hex(16)
            response.headers[_SESSION] = session_id
            self.opened[session_id] = _Session(grant.account, self.service.clock.now())
        return response

    def _authorize(self, request: Request) -> Grant:
        host = requested_host(request)
        is_served = is_loopback(host) or host == self.host or self.host in _WILDCARDS
        if not is_served:
            raise JsonRpcError(INVALID_REQUEST, "This host is not served", status=421)
        if not has_local_origin(request):
            raise JsonRpcError(INVALID_REQUEST, "This origin is not allowed", status=403)

        grant = self.tokens.grant_of(request.headers.get("authorization"))
        if grant is None:
            message = text("unauthorized", language(request))
            data: Json = {"error": True, "code": "UNAUTHORIZED", "message": message}
            challenge = {"www-authenticate": 'Bearer error="invalid_token"'}
            raise JsonRpcError(REFUSED, message, data, status=401, headers=challenge)
        return grant

    def _options_for(self, operation: str) -> McpOptions:
        fault = self.service.faults.take(McpOptions, operation)
        changes = fault.model_dump(exclude_unset=True) if fault else {}
        return self.switches.current.changed(**changes)

    def _apply_session_faults(self, request: Request, grant: Grant, operation: str) -> None:
        """End the session, or require one, if a fault says so."""
        if self.service.faults.take(SessionExpired, operation):
            self._end_session(request, grant)
            raise _session_not_found()
        if self.service.faults.take(SessionRequired, operation):
            raise _session_missing()

    def _end_session(self, request: Request, grant: Grant) -> None:
        """End the session that a request names, if it is one of the account."""
        session_id = request.headers.get(_SESSION, "")
        session = self.opened.get(session_id)
        if session is not None and session.account == grant.account:
            self.opened.pop(session_id, None)

    def _check_session(
        self, request: Request, grant: Grant, options: McpOptions, *, opening: bool
    ) -> None:
        session_id = request.headers.get(_SESSION)
        if options.session == "none" or options.handshake == "modern_only":
            return
        if session_id is None:
            if options.session == "required" and not opening:
                raise _session_missing()
            return

        session = self.opened.get(session_id)
        if session is None or session.account != grant.account:
            raise _session_not_found()
        if self.service.clock.now() - session.opened_at >= timedelta(
            seconds=options.session_seconds
        ):
            raise _session_not_found()


def _session_not_found() -> JsonRpcError:
    return JsonRpcError(REFUSED, "Session not found", status=404)


def _session_missing() -> JsonRpcError:
    return JsonRpcError(INVALID_REQUEST, "Bad Request: Missing session ID", status=400)


_REFUSED_STATUS = {"refused_404": 404, "refused_405": 405}


def _parse_call(request: Request, body: bytes) -> JsonRpcRequest | None:
    """Return the JSON-RPC request; None for a notification or a client's response."""
    if not has_json(request):
        raise JsonRpcError(INVALID_REQUEST, "Content-Type must be application/json", status=415)
    try:
        message = parse_json(body)
    except ValueError as error:
        raise JsonRpcError(PARSE_ERROR, "The body is not valid JSON", status=400) from error

    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise JsonRpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 message", status=400)
    method = message.get("method")
    params = message.get("params", {})
    if method is None and ("result" in message or "error" in message):
        return None  # a client's response
    if not isinstance(method, str) or not isinstance(params, dict):
        raise JsonRpcError(INVALID_REQUEST, "Invalid method or params", status=400)
    if "id" not in message:
        return None  # a notification

    request_id = message["id"]
    if not isinstance(request_id, str | int | float) or isinstance(request_id, bool):
        raise JsonRpcError(INVALID_REQUEST, "id must be a string or a number", status=400)
    request.state.call_id = request_id  # every error from now on names it
    return JsonRpcRequest(request_id, method, params)


def _error_reply(request: Request, error: JsonRpcError, options: McpOptions) -> Response:
    call_id: JsonValue = getattr(request.state, "call_id", None)
    ids: dict[str, JsonValue] = {"same": call_id, "null": None, "server_error": "server-error"}
    code = error.code
    if isinstance(error, UnknownResourceError):
        code = options.unknown_resource_code
    message = failure(ids[options.error_id], code, error.message, data=error.data)

    if error.status == HTTPStatus.OK:
        return reply(request, message, options)
    headers = dict(error.headers)
    if options.stray_session_ids:
        headers[_SESSION] = secrets.token_hex(16)
    return JSONResponse(message, error.status, headers)
