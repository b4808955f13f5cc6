"""HTTP conventions of the service: hosts and origins, dates, correlation ids, strict JSON."""

from __future__ import annotations

import ipaddress
import json
import uuid
from datetime import datetime, timezone
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse

from ferry_sdk.sandbox.requests.errors import language_of, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ferry_sdk.sandbox.clock import Clock


REQUEST_ID = "x-request-id"
CORRELATION_ID = "x-client-correlation-id"
LARGEST_BODY = 1_048_576
_GZIP_FROM = 500


class RequestIds:
    """Adds a request id to every response, and the correlation id of the request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the two headers to its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = str(uuid.uuid4())
        correlation_id = Headers(scope=scope).get(CORRELATION_ID) or request_id

        async def send_with_ids(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                headers[CORRELATION_ID] = correlation_id
            await send(message)

        await self._app(scope, receive, send_with_ids)


class EncodingNegotiation:
    """Applies the weights in `Accept-Encoding`.

    The middleware that compresses looks for the word `gzip` only and ignores its weight.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the preferred encoding only."""
        if scope["type"] == "http":
            headers = MutableHeaders(scope=scope)
            allowed = weights(", ".join(headers.getlist("accept-encoding")))
            gzip = allowed.get("gzip", allowed.get("*", 0))
            preferred = gzip > 0 and gzip >= allowed.get("identity", 0)
            headers["accept-encoding"] = "gzip" if preferred else "identity"
        await self._app(scope, receive, send)


def weights(header: str) -> dict[str, float]:
    """Return the weight of each item of a header such as `Accept`; 1 by default."""
    found: dict[str, float] = {}
    for part in header.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((one[2:] for one in parameters if one.startswith("q=")), "1")
        try:
            found[name] = float(quality)
        except ValueError:
            found[name] = 1
    return found


async def is_too_large(request: Request) -> bool:
    """Tell whether the body exceeds the size limit."""
    length = request.headers.get("content-length", "0")
    return int(length) > LARGEST_BODY or len(await request.body()) > LARGEST_BODY


def apply_conventions(app: Starlette, clock: Clock) -> ASGIApp:
    """Add the headers, the compression and the error responses of the service."""
    app.add_exception_handler(404, _no_such_address)
    app.add_exception_handler(405, _method_not_allowed)
    app.add_exception_handler(Exception, _internal_error)
    app.router.redirect_slashes = False
    gzip = GZipMiddleware(app, minimum_size=_GZIP_FROM)
    return DateHeader(RequestIds(EncodingNegotiation(gzip)), clock)


def error_response(
    request: Request,
    status: int,
    code: str,
    key: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error that does not come from an operation, in the requested language."""
    message = text(key, language_of(request.headers.get("accept-language")))
    body = {"error": True, "code": code, "message": message}
    return JSONResponse(body, status, headers)


def unauthorized_response(request: Request) -> Response:
    """Return the response to a request without a known token."""
    challenge = {"www-authenticate": 'Bearer error="invalid_token"'}
    return error_response(request, 401, "UNAUTHORIZED", "unauthorized", challenge)


async def _no_such_address(request: Request, _: Exception) -> Response:
    return error_response(request, 404, "NOT_FOUND", "no_such_address")


async def _method_not_allowed(request: Request, error: Exception) -> Response:
    headers = error.headers if isinstance(error, HTTPException) else None
    return error_response(request, 405, "METHOD_NOT_ALLOWED", "method_not_allowed", headers)


async def _internal_error(request: Request, _: Exception) -> Response:
    # The server closes the connection after an internal error, so the reply announces it.
    return error_response(request, 500, "INTERNAL_ERROR", "internal", {"connection": "close"})


class DateHeader:
    """Adds the `Date` header, and moves a date in `Retry-After` to the service's clock."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and date its response."""

        async def send_with_date(message: Message) -> None:
            if message["type"] == "http.response.start":
                now = self._clock.now()
                headers = MutableHeaders(scope=message)
                headers["date"] = format_datetime(now, usegmt=True)
                again = headers.get("retry-after", "0")
                if not again.isdigit():
                    moved = now - datetime.now(timezone.utc)
                    moment = parsedate_to_datetime(again) + moved
                    headers["retry-after"] = format_datetime(moment, usegmt=True)
            await send(message)

        await self._app(scope, receive, send_with_date)


def is_loopback(name: str | None) -> bool:
    """Tell whether a host name or address means this machine."""
    if name is None:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def requested_host(request: Request) -> str | None:
    """Return the host that the request names, without its port; None if there is none."""
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:
        return None


def has_local_origin(request: Request) -> bool:
    """Tell whether the request has no `Origin` header, or a local one."""
    origin = request.headers.get("origin")
    if origin is None:
        return True
    try:
        return is_loopback(urlsplit(origin).hostname)
    except ValueError:
        return False


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
