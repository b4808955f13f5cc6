"""The REST endpoints, and the checks that every REST request passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ferry_sdk.sandbox.http.conventions import (
    caller_of,
    error_response,
    has_json,
    parse_json,
)
from ferry_sdk.sandbox.operations import ENDPOINTS, Operation
from ferry_sdk.sandbox.requests.access import ONLY_ACCOUNT, Access, Grant, Tokens
from ferry_sdk.sandbox.requests.errors import weights
from ferry_sdk.sandbox.service import Service, ServiceError


def routes(service: Service, tokens: Tokens) -> list[BaseRoute]:
    """Return the routes of the endpoints, of the voucher files and of the health check."""
    api = _Api(service, tokens)
    endpoints = [
        api.route(
            method=endpoint.method,
            path=endpoint.path,
            operation=endpoint.name,
            respond=partial(api.answer, endpoint),
        )
        for endpoint in ENDPOINTS
    ]
    voucher = api.route(
        method="GET",
        path="/voucher/{ticket_id}/{key}.pdf",
        operation="voucher.file",
        respond=api.voucher,
    )
    return [*endpoints, voucher, Route("/health", _health, methods=["GET"])]


async def _health(_: Request) -> Response:
    """Answer that the service runs; containers ask without a token."""
    return JSONResponse({"status": "ok"})


class _Api:
    """Reads, counts and checks requests, then passes them to the service."""

    def __init__(self, service: Service, tokens: Tokens) -> None:
        self._service = service
        self._tokens = tokens

    def route(
        self,
        *,
        method: str,
        path: str,
        operation: str,
        respond: Callable[[Request, bytes], Response],
    ) -> Route:
        """Return the route of an operation; `respond` performs it in a thread."""

        async def handle(request: Request) -> Response:
            body = await request.body()  # a request whose body is too large is not counted
            self._service.counters.request(operation)

            async def produce() -> Response:
                return await run_in_threadpool(respond, request, body)

            return await self._service.faults.around(operation, request, produce)

        return Route(path, handle, methods=[method])

    def voucher(self, request: Request, _: bytes) -> Response:
        # The key in the path opens the file, whatever the account.
        caller = caller_of(request, Grant(ONLY_ACCOUNT, Access.READ_ONLY), "rest")
        try:
            self._service.check_refused("voucher.file", caller)
        except ServiceError as error:
            return JSONResponse(error.to_wire(), error.status)
        voucher = self._service.voucher_file(**request.path_params)
        if voucher is None:
            return error_response(request, 404, "NOT_FOUND", "no_such_address")
        return Response(voucher, media_type="application/pdf")

    def answer(self, endpoint: Operation, request: Request, body: bytes) -> Response:
        grant = self._tokens.grant_of(request.headers.get("authorization"))
        if grant is None:
            challenge = {"www-authenticate": 'Bearer error="invalid_token"'}
            return error_response(request, 401, "UNAUTHORIZED", "unauthorized", headers=challenge)
        if not _accepts_json(request.headers.get("accept", "")):
            return error_response(request, 406, "NOT_ACCEPTABLE", "not_acceptable")

        used_body = body if endpoint.method == "POST" else b""
        fields = _read_fields(request, used_body)
        if isinstance(fields, Response):
            return fields
        if fields.keys() & request.path_params.keys():  # the body must not repeat the id
            return error_response(request, 422, "VALIDATION_ERROR", "unknown_field")

        caller = caller_of(request, grant, "rest")
        try:
            arguments = {**fields, **request.path_params}
            answer = self._service.perform(endpoint.name, arguments, caller)
        except ServiceError as error:
            return JSONResponse(error.to_wire(), error.status)
        return JSONResponse(answer, endpoint.success)


def _read_fields(request: Request, body: bytes) -> Mapping[str, object] | Response:
    """Return the fields of the body, or the error response if it cannot be read."""
    if not body:
        return {}
    if not has_json(request):
        return error_response(request, 415, "UNSUPPORTED_MEDIA_TYPE", "unsupported_media_type")
    try:
        fields = parse_json(body)
    except ValueError:
        return error_response(request, 400, "MALFORMED_JSON", "malformed_json")
    if isinstance(fields, dict):
        return fields
    return error_response(request, 422, "VALIDATION_ERROR", "not_an_object")


def _accepts_json(accept: str) -> bool:
    """Tell whether an `Accept` header allows JSON; the most specific range decides."""
    allowed = weights(accept)
    ranges = ("application/json", "application/*", "*/*")
    return next((allowed[name] > 0 for name in ranges if name in allowed), False)
