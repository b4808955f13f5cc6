"""The addresses of the document and of its page, which need no token."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ferry_sdk.sandbox.http.conventions import problem

_SWAGGER_UI = "fastapi_offline"
"""A package that brings the files of Swagger UI; only its files are used."""
_BUNDLE = "swagger-ui-bundle.js"
_HTML, _CSS, _SCRIPT = "text/html", "text/css", "text/javascript"
_HEADERS = {
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
}


def document() -> bytes:
    """Return the OpenAPI document; `scripts/api-map` writes the file."""
    return Path(__file__).with_name("document.json").read_bytes()


def routes() -> list[BaseRoute]:
    """Return the routes of the document, of its page and of the files of the page."""
    here = Path(__file__).parent
    return [
        Route("/openapi.json", _endpoint(document, "application/json")),
        Route("/docs", _endpoint((here / "page.html").read_bytes, _HTML)),
        Route("/docs/page.css", _endpoint((here / "page.css").read_bytes, _CSS)),
        Route("/docs/page.js", _endpoint((here / "page.js").read_bytes, _SCRIPT)),
        Route("/docs/swagger-ui.css", _endpoint(lambda: _vendored("swagger-ui.css"), _CSS)),
        Route(f"/docs/{_BUNDLE}", _endpoint(lambda: _vendored(_BUNDLE), _SCRIPT)),
    ]


def _vendored(name: str) -> bytes:
    """Return a file of Swagger UI, without an import of the package that brings it.

    Raises:
        FileNotFoundError: The package is not installed.
    """
    package = find_spec(_SWAGGER_UI)
    if package is None or package.origin is None:
        raise FileNotFoundError(name)
    return (Path(package.origin).parent / "static" / name).read_bytes()


def _endpoint(
    read: Callable[[], bytes], media_type: str
) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler of a file, which a browser keeps but always asks for anew."""

    async def endpoint(request: Request) -> Response:
        try:
            body = await run_in_threadpool(read)
        except FileNotFoundError:
            return problem(404, "NOT_FOUND", 'The page requires: pip install "ferry-sdk[sandbox]"')
        headers = {**_HEADERS, "etag": f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=media_type)

    return endpoint
