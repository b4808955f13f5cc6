"""The addresses of the document and of the files of both pages, which need no token."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ferry_sdk.sandbox.http.conventions import problem

_SWAGGER_UI = "fastapi_offline"
"""A package that brings the files of Swagger UI; only its files are used."""
_VENDORED = ("swagger-ui.css", "swagger-ui-bundle.js")
_PARTS = ("page.css", "page.js", "control.css", "control.js", *_VENDORED)
_MEDIA_TYPES = {
    ".json": "application/json",
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
}
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
    return _path("document.json").read_bytes()


def routes() -> list[BaseRoute]:
    """Return the routes of the document, of its page and of the parts of both pages."""
    files = {f"/docs/{name}": name for name in _PARTS}
    files |= {"/openapi.json": "document.json", "/docs": "page.html"}
    return [Route(path, partial(_answer, name)) for path, name in files.items()]


def file_response(name: str) -> Response:
    """Return a file, with a policy that allows files of this service only."""
    path = _path(name)
    if not path.is_file():
        return problem(404, "NOT_FOUND", 'The page requires: pip install "ferry-sdk[sandbox]"')
    # `FileResponse` leaves the file open if the client goes before its end.
    return Response(path.read_bytes(), headers=_HEADERS, media_type=_MEDIA_TYPES[path.suffix])


def _path(name: str) -> Path:
    beside = Path(__file__).with_name(name)
    if name not in _VENDORED:
        return beside
    package = find_spec(_SWAGGER_UI)  # an import would load a framework that nothing here uses
    if package is None or package.origin is None:
        return beside  # where there is no such file
    return Path(package.origin).parent / "static" / name


async def _answer(name: str, _: Request) -> Response:
    return file_response(name)
