"""HTTP conventions of the service: hosts and origins, dates, correlation ids, strict JSON."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from email.utils import format_datetime
from typing import NoReturn
from urllib.parse import urlsplit

from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferry_sdk._runtime.hosts import is_loopback
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.request_log import RequestLog
from ferry_sdk.sandbox.requests.access import Caller, Grant, Protocol
from ferry_sdk.sandbox.requests.errors import language_of, text, weights

REQUEST_ID = "x-request-id"
CORRELATION_ID = "x-client-correlation-id"
LARGEST_BODY = 1_048_576
_GZIP_FROM = 500
_GZIP_LEVEL = 1  # 767 KB of connections take 3 ms, and 75 ms at Starlette's level of 9
_THIS_MACHINE = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
_PROXY_HEADERS = frozenset(
    {
        "cdn-loop",
        "client-ip",
        "fly-client-ip",
        "forwarded",
        "true-client-ip",
        "via",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-original-forwarded-for",
        "x-original-host",
        "x-proxyuser-ip",
        "x-real-ip",
    }
)
"""Headers that a proxy adds, besides those that begin with one of `_PROXY_PREFIXES`."""
_PROXY_PREFIXES = ("x-forwarded-", "x-envoy-", "cf-")


class Conventions:
    """Applies the headers of the service to every request and response.

    A response gets a request id, the correlation id of the request and the date by the service's
    clock. A request keeps only its preferred encoding, because the middleware that compresses looks
    for the word `gzip` and ignores its weight. A body over the size limit is not read further.
    """

    def __init__(self, app: ASGIApp, clock: Clock, log: RequestLog, profile: Profile) -> None:
        self._app = app
        self._has_date = profile.date_header == "present"
        self._clock = clock
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, add the headers to its response, and log it."""
        started = time.perf_counter()
        is_logged = False
        request_headers = MutableHeaders(scope=scope)
        request_id = str(uuid.uuid4())
        correlation_id = request_headers.get(CORRELATION_ID) or request_id
        _keep_preferred_encoding(request_headers)

        async def send_with_headers(message: Message) -> None:
            nonlocal is_logged
            if message["type"] == "http.response.start":
                # Before a byte is sent, so that whoever has the reply finds the request.
                log(message["status"])
                is_logged = True

                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                headers[CORRELATION_ID] = correlation_id
                if self._has_date:
                    headers["date"] = format_datetime(self._clock.now(), usegmt=True)
            await send(message)

        def log(status: int | None) -> None:
            self._log.add(
                scope,
                status=status,
                seconds=time.perf_counter() - started,
                correlation_id=correlation_id,
                request_id=request_id,
            )

        try:
            await self._app(scope, _limit_body(request_headers, receive), send_with_headers)
        finally:
            if not is_logged:
                log(None)


def _keep_preferred_encoding(headers: MutableHeaders) -> None:
    allowed = weights(", ".join(headers.getlist("accept-encoding")))
    gzip = allowed.get("gzip", allowed.get("*", 0))
    identity = allowed.get("identity", 0)
    prefers_gzip = gzip > 0 and gzip >= identity
    headers["accept-encoding"] = "gzip" if prefers_gzip else "identity"


def _limit_body(headers: Headers, receive: Receive) -> Receive:
    """Return a `receive` that raises the error 413 as soon as the body exceeds the size limit.

    The reply closes the connection, so that the rest of the body is not read.
    """
    announced = int(headers.get("content-length", "0"))
    size = 0

    async def receive_limited() -> Message:
        nonlocal size
        if announced <= LARGEST_BODY:
            message = await receive()
            size += len(message.get("body", b""))
            if size <= LARGEST_BODY:
                return message
        raise HTTPException(413, headers={"connection": "close"})

    return receive_limited


def apply_conventions(app: Starlette, clock: Clock, log: RequestLog, profile: Profile) -> ASGIApp:
    """Add the headers, the compression, the error responses and the log of the service."""
    log.show_paths([route.path for route in app.routes if isinstance(route, Route)])
    app.state.clock = clock
    app.add_exception_handler(HTTPException, _answer_error)
    app.add_exception_handler(Exception, _answer_error)
    app.router.redirect_slashes = False
    return Conventions(
        GZipMiddleware(app, minimum_size=_GZIP_FROM, compresslevel=_GZIP_LEVEL), clock, log, profile
    )


def error_response(
    request: Request, status: int, code: str, key: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error that does not come from an operation, in the requested language."""
    return problem(status, code, text(key, language(request)), headers)


def problem(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None, **more: str
) -> Response:
    """Return a response with the error object of the interface."""
    body = {"error": True, "code": code, "message": message, **more}
    return JSONResponse(body, status, headers)


def language(request: Request) -> str:
    """Return the supported language that a request prefers."""
    return language_of(request.headers.get("accept-language"))


def caller_of(request: Request, grant: Grant, protocol: Protocol) -> Caller:
    """Return who calls."""
    return Caller(
        access=grant.access,
        language=language(request),
        protocol=protocol,
        base_url=str(request.base_url).rstrip("/"),
        account=grant.account,
    )


def has_json(request: Request) -> bool:
    """Tell whether the `Content-Type` of the body is JSON."""
    content_type = request.headers.get("content-type", "")
    return content_type.partition(";")[0].strip().lower() == "application/json"


_ERRORS = {  # by HTTP status: the code and the key of the message
    404: ("NOT_FOUND", "no_such_address"),
    405: ("METHOD_NOT_ALLOWED", "method_not_allowed"),
    413: ("BODY_TOO_LARGE", "body_too_large"),
}


async def _answer_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        code, key = _ERRORS[error.status_code]
        return error_response(request, error.status_code, code, key, headers=error.headers)
    # The server closes the connection after an internal error, so the reply announces it.
    headers = {"connection": "close"}
    return error_response(request, 500, "INTERNAL_ERROR", "internal", headers=headers)


def is_this_machine(request: Request) -> bool:
    """Tell whether the client and the requested host are this machine.

    Only the usual loopback addresses count: every other one, such as 127.0.0.2, may stand for
    another machine. The host is checked because the owner of a web page can let a name of their
    own resolve to this address. A request that a proxy on this machine forwards may come from
    anybody.
    """
    peer = request.client.host if request.client else None
    is_direct = not any(_is_from_proxy(header) for header in request.headers)
    return peer in _THIS_MACHINE and is_direct and is_loopback(requested_host(request))


def _is_from_proxy(header: str) -> bool:
    return header in _PROXY_HEADERS or header.startswith(_PROXY_PREFIXES)


def requested_host(request: Request) -> str:
    """Return the host that the request names, without its port; empty if there is none."""
    return _host_of(f"//{request.headers.get('host', '')}")


def has_local_origin(request: Request) -> bool:
    """Tell whether the request has no `Origin` header, or a local one."""
    origin = request.headers.get("origin")
    return origin is None or is_loopback(_host_of(origin))


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def parse_json(body: bytes) -> JsonValue:
    """Return the JSON value of a body.

    Raises:
        ValueError: The body is not valid UTF-8 or JSON, or is nested too deeply.
    """
    try:
        value: JsonValue = json.loads(body.decode(), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    json.dumps(value, ensure_ascii=False).encode()  # raises for half a surrogate pair
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
