"""Requests to any path of the service, for what the library does not know yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final, cast
from urllib.parse import quote

from pydantic import JsonValue

from ferry_sdk._engine.operation import Operation, Write
from ferry_sdk._engine.parsing import Passthrough
from ferry_sdk._engine.safety import safety_of_request
from ferry_sdk._engine.validation import encodable_text
from ferry_sdk._protocols.json_body import encode_json, normalize_value
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.resources.base import Resource, method

_METHOD: Final = re.compile(r"[A-Z]{1,20}", re.ASCII)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DOTS: Final = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)
_NOT_QUOTED: Final = "/%:@!$&'()*+,;=~"
"""What a path may contain as it is; the caller has quoted the rest with ``%``, or `quote` does."""


class RequestsGroup(Resource):
    """Requests to any path of the service."""

    @method
    def request(
        self,
        method: str,
        path: str,
        *,
        json: JsonValue = None,
        params: Mapping[str, object] | None = None,
    ) -> Operation[JsonValue]:
        """Describe a request to any path; only a GET is a read."""
        verb = _method_of(method)
        row = safety_of_request(verb)
        body = None if json is None else normalize_value(json, "json")
        query = _params_of(params)
        content = None if json is None else encode_json(body)
        call = Rest(verb, _path_of(path), content, params=query)

        write: Write[JsonValue] | None = None
        if not row.is_read:
            identity = {"method": verb, "path": call.path, "json": body, "params": query}
            write = Write(identity, {})
        return Operation(call, Passthrough[JsonValue](), row, write=write)


def _method_of(value: object) -> str:
    verb = value.upper() if isinstance(value, str) else ""
    if not _METHOD.fullmatch(verb) or verb == "CONNECT":
        raise InvalidInputError("expected an HTTP method", field="method")
    return verb


def _path_of(value: object) -> str:
    """Return the encoded path without its first slash; it stays below the client's address."""
    path = value.removeprefix("/") if isinstance(value, str) else ""
    if not path or path.startswith("/") or "\\" in path or _SCHEME.match(path):
        raise InvalidInputError("expected a path relative to base_url", field="path")
    if "?" in path or "#" in path:
        raise InvalidInputError("expected no query and no fragment; pass params=", field="path")
    has_dots = any(_DOTS.fullmatch(segment) for segment in path.split("/"))
    if has_dots or not path.isprintable():
        problem = "expected no dots as a segment, no control characters"
        raise InvalidInputError(problem, field="path")
    return quote(encodable_text(path, "path"), safe=_NOT_QUOTED)


def _params_of(params: object) -> dict[str, object]:
    """Return the query with its values as texts; None as a value leaves its name out."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InvalidInputError("expected a mapping", field="params")

    query: dict[str, object] = {}
    for name, value in cast("Mapping[object, object]", params).items():
        where = f"params[{name!r}]"
        if not isinstance(name, str):
            raise InvalidInputError("expected a text as the name", field=where)
        key = _param_of(name, where)
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            query[key] = [_param_of(item, where) for item in cast("Sequence[object]", value)]
        elif value is not None:
            query[key] = _param_of(value, where)
    return query


def _param_of(value: object, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    is_finite = not isinstance(value, float) or isfinite(value)
    if not isinstance(value, str | int | float) or not is_finite:
        raise InvalidInputError("expected a text, a number, a truth value, or several", field=where)
    return encodable_text(str(value), where)
