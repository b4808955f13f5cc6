"""The REST API: a call as a request, a reply as a decoded value or an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Self
from urllib.parse import quote, urlencode

from pydantic_core import from_json

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow, T
from ferry_sdk._engine.headers import JSON, service_headers
from ferry_sdk._engine.http import Reply, Request
from ferry_sdk._engine.requests import read, send
from ferry_sdk._engine.settings import Authority
from ferry_sdk._protocols.error_responses import api_error, raise_service_error, unexpected_response
from ferry_sdk._protocols.json_body import decode_json, digest, encode_json, personal_data, text_of
from ferry_sdk.errors import mark_quoted
from ferry_sdk.types import RequestDigest


@dataclass(slots=True)
class Rest:
    """A call of the REST API, or a request to a path that the library does not know.

    Attributes:
        method: HTTP method.
        path: Encoded path below ``/api``; an unknown one below the address.
        content: The JSON body in bytes, which take less memory than its objects; None: no body.
        authority: Which token it carries.
        params: The query of an unknown path; None: a path of the interface, which has no query.
    """

    method: str
    path: str
    content: bytes | None = field(default=None, repr=False)
    authority: Authority = "token"
    params: Mapping[str, object] | None = field(default=None, repr=False)

    @classmethod
    def get(cls, *segments: str) -> Self:
        """Describe a GET request."""
        return cls("GET", _path(*segments))

    @classmethod
    def post(
        cls,
        *segments: str,
        body: Mapping[str, object] | None = None,
        authority: Authority = "token",
    ) -> Rest:
        """Describe a POST request."""
        content = None if body is None else encode_json(body)
        return cls("POST", _path(*segments), content=content, authority=authority)

    @property
    def body(self) -> object:
        """The JSON body, decoded; None: no body."""
        return None if self.content is None else from_json(self.content)

    @property
    def route(self) -> str:
        """The path with ``{id}`` for an id: after the name in a GET, or between two names.

        It is the same for all unknown paths, which may contain ids.
        """
        if self.params is not None:
            return "/{path}"

        name, _, rest = self.path.partition("/")
        _, _, last = rest.partition("/")
        if last:  # booking/b-1/cancel-fee
            return f"/api/{name}/{{id}}/{last}"
        if rest and self.method == "GET":  # booking/b-1
            return f"/api/{name}/{{id}}"
        return f"/api/{self.path}"  # booking/confirm, ports

    @property
    def target(self) -> str:
        """The path below the address."""
        return f"/api/{self.path}" if self.params is None else f"/{self.path}"

    def send(self, context: Context, parse: Callable[[object], T]) -> Flow[tuple[T, Reply]]:
        """Send the request once. Return the parsed value and its reply."""
        headers = service_headers(
            context, self.authority, accept=JSON, has_json=self.content is not None
        )
        url = f"{context.settings.base_url}{self.target}"
        if self.params:
            url += f"?{urlencode(self.params, doseq=True)}"
        route = self.route if context.hook_runner is not None else ""
        request = Request(
            method=self.method, url=url, headers=headers, content=self.content, route=route
        )
        reply = yield from send(context, request)

        def value() -> T:
            decoded = self._value(reply)
            if not context.keeps_body:
                reply.content = b""  # the records that are made now may be as large
            return parse(decoded)

        return (yield from read(context, reply, value)), reply

    def digest(self) -> RequestDigest:
        """Return what identifies the request; its path has no query, which may name a traveller."""
        return digest(self.method, self.target, [self.body, self.params])

    def secrets(self) -> frozenset[str]:
        """Return the texts of the request that no message may contain."""
        texts = frozenset[str]()
        if self.content is not None:
            texts = personal_data(self.content.decode())
        if self.params:
            texts |= personal_data(json.dumps(self.params))
        return texts

    def _value(self, reply: Reply) -> object:
        """Decode the JSON value of a reply.

        Raises:
            APIError: The status or the error object of the reply reports an error.
            UnexpectedResponseError: The reply is a redirect, or not JSON.
        """
        status = reply.status_code
        is_success = reply.is_success
        may_be_empty = self.params is not None and is_success
        if may_be_empty and (status == HTTPStatus.NO_CONTENT or self.method == "HEAD"):
            return None
        if not is_success and reply.is_redirect:
            raise unexpected_response(f"redirects are not followed (HTTP {status})", reply)

        try:
            value = decode_json(reply.content)
        except ValueError:
            if not is_success:
                raise api_error(reply, text_of(reply.content)) from None

            kind = reply.media_type or "no type"
            problem = f"the reply is not JSON (HTTP {status}, {kind})"
            failure = unexpected_response(problem, reply, text_of(reply.content))
            raise mark_quoted(failure, reply.media_type) from None

        raise_service_error(value, reply)
        if not is_success:
            raise api_error(reply, value)
        return value


@lru_cache(maxsize=256)
def _path(*segments: str) -> str:
    return "/".join(quote(segment, safe="") for segment in segments)
