"""The voucher of a ticket: its URL is read from the service, then the file is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast
from urllib.parse import urljoin

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow, Save, T
from ferry_sdk._engine.headers import ANONYMOUS, PDF, service_headers
from ferry_sdk._engine.http import Reply, Request, origin_of
from ferry_sdk._engine.requests import send
from ferry_sdk._protocols.error_responses import api_error, unexpected_response
from ferry_sdk._protocols.json_body import text_of
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.errors import ConfigurationError, UnexpectedResponseError, VoucherNotReadyError

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_MOST_REDIRECTS: Final = 5
_PARTIAL_CONTENT: Final = 206
_PDF: Final = b"%PDF-"
_PDF_END: Final = b"%%EOF"
_PDF_WITHIN: Final = 1024
"""Bytes at the beginning and at the end of a PDF in which its two marks stand."""


@dataclass(slots=True)
class VoucherFile(Rest):
    """The read of a voucher's URL, after which the voucher is downloaded.

    Attributes:
        file: The file in which it is saved; None: its content is the result.
    """

    file: Path | None = field(default=None, repr=False)

    def send(self, context: Context, parse: Callable[[object], T]) -> Flow[tuple[T, Reply]]:
        """Read the voucher's URL, download the voucher, save it if there is a path."""
        # With slots, `super()` fails before Python 3.14.
        address, reply = yield from Rest.send(self, context, _pass_through)
        reply = yield from _fetch(_url_of(address, reply), context)

        if reply.is_redirect:
            raise unexpected_response("the voucher's URL redirects too often or to no URL", reply)
        if not reply.is_success:
            raise api_error(reply, text_of(reply.content), message="the voucher cannot be fetched")
        if reply.status_code == _PARTIAL_CONTENT:
            raise unexpected_response("the reply at the voucher's URL is a part of a file", reply)
        if _PDF not in reply.content[:_PDF_WITHIN]:
            raise unexpected_response("the file at the voucher's URL is not a PDF", reply)
        if _PDF_END not in reply.content[-_PDF_WITHIN:]:
            raise unexpected_response("the file at the voucher's URL is cut off", reply)

        if self.file is None:
            return parse(reply.content), reply
        yield from Save(self.file, reply.content)
        return parse(self.file), reply


def _pass_through(value: object) -> object:
    return value


def _url_of(value: object, reply: Reply) -> str:
    """Return the voucher's URL in the value of a reply: the value, or its member ``url``."""
    url = value
    if isinstance(value, dict):
        url = cast("dict[str, object]", value).get("url")
    if url is None:
        raise VoucherNotReadyError(
            "there is no voucher to fetch: it is not ready, or the company sends it by e-mail",
            status_code=reply.status_code,
            request_id=reply.request_id,
        )
    if not isinstance(url, str):
        raise unexpected_response("the reply has no URL of the voucher", reply)
    return url


def _fetch(url: str, context: Context) -> Flow[Reply]:
    """Download the file. Only the service's own origin gets the token; redirects must be https."""
    headers: Mapping[str, str] = ANONYMOUS
    if origin_of(url) == origin_of(context.settings.base_url):
        headers = service_headers(context, "token", accept=PDF, has_json=False)
    elif not _is_https(url):
        raise UnexpectedResponseError("the voucher's URL is not https")

    reply = yield from _get(url, headers, context)
    for _ in range(_MOST_REDIRECTS):
        if reply.status_code not in _REDIRECTS or "location" not in reply.by_name:
            break
        try:
            url = urljoin(url, reply.by_name["location"])
        except ValueError:
            url = ""  # which is not https
        if not _is_https(url):
            raise unexpected_response("the voucher's URL redirects away from https", reply)
        # The token stays away from it, even if it is at the service's own address.
        reply = yield from _get(url, ANONYMOUS, context)
    return reply


def _get(url: str, headers: Mapping[str, str], context: Context) -> Flow[Reply]:
    """Send one request for the file."""
    request = Request("GET", url, headers, route="/{voucher}")
    try:
        return (yield from send(context, request, is_download=True))
    except ConfigurationError:
        raise UnexpectedResponseError("the voucher's URL is invalid") from None


def _is_https(url: str) -> bool:
    scheme, host, _ = origin_of(url)
    return scheme == "https" and bool(host)
