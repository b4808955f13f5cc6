"""The result of an MCP request, extracted from the envelopes that servers use.

A tool's value is in its structured content, or else in its text blocks:

1. Each block is a JSON value: the value of the only one, or the list of all.
2. The blocks together are one JSON value, which a server has split.
3. Some blocks are JSON objects or lists, and the others are prose about them: these objects.
4. Otherwise the value is the text.

A tool's error is the interface's error object, ``{"error": true, "code": …, "message": …}``,
wherever it is: in the result, in its structured content, in a text, as a member of another object,
or within the words that a server puts around it, such as ``Error calling tool 'view_ticket': {…}``.
"""

from __future__ import annotations

import base64
import binascii
import re
from http import HTTPStatus
from typing import Final

from ferry_sdk._engine.http import Reply
from ferry_sdk._protocols.error_responses import (
    api_error,
    raise_service_error,
    service_error,
    unexpected_response,
)
from ferry_sdk._protocols.json_body import decode_json, is_list, items_of, members_of
from ferry_sdk._protocols.mcp.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from ferry_sdk.errors import (
    APIError,
    BadRequestError,
    NotFoundError,
    ServerError,
    UnexpectedResponseError,
)

_NOT_FOUND: Final = (RESOURCE_NOT_FOUND, METHOD_NOT_FOUND)
_NO_RESOURCE: Final = (INVALID_PARAMS, 0)
"""With what else servers reply to the read of a resource that does not exist."""
_REFUSED: Final = (
    PARSE_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
)
"""The codes with which a server refuses a request before any work."""
_ENVELOPE: Final = frozenset({"content", "structuredContent", "isError", "resultType"})
_TOOL_PREFIX: Final = re.compile(
    r"(?:error (?:calling|executing|invoking|running) tool [^:\n]{1,100}"
    r"|an error occurred invoking [^:\n]{1,100}"
    r"|mcp error -?\d{1,6}"
    r"|tool execution (?:error|failed)"
    r"|error): ?",
    re.IGNORECASE,
)
"""What FastMCP, the official servers and others put before the text of a tool's error."""
_MOST_PREFIXES: Final = 3
"""How many of them are removed: a gateway may put its own before that of the server."""


def tool_value(result: object, head: Reply, *, gives_list: bool) -> object:
    """Return the value of a tool's result.

    Args:
        result: The result of ``tools/call``.
        head: Status and headers of the reply.
        gives_list: Whether the tool returns a list, so that empty content is an empty list.

    Raises:
        APIError: The tool failed, wherever the error object is.
        UnexpectedResponseError: The result has no value.
    """
    raise_service_error(result, head)
    members = members_of(result)
    if not _ENVELOPE & members.keys():
        return result

    _check_type(members, head)
    texts = _texts(members.get("content"))
    if members.get("isError") is True:
        raise _tool_failure(members, texts, head)

    value = _unwrap(members.get("structuredContent"))
    if value is None or value == {}:
        value_of_texts = _value_of(texts)
        # Prose beside an empty object is about that object.
        if value is None or _is_container(value_of_texts):
            value = value_of_texts
    if isinstance(value, str):  # a server wraps the JSON text of a tool like any other value
        value = _parse_text(value)

    if value is None:
        if gives_list and not texts:
            return []
        raise unexpected_result("the tool's result is empty", head)
    raise_service_error(value, head)
    if gives_list and value == {}:
        return []
    return value


def _check_type(members: dict[str, object], head: Reply) -> None:
    """Raise unless a result is complete."""
    kind = members.get("resultType")
    if kind == "input_required":
        problem = "the server asks for more input, which is not supported"
        raise unexpected_result(problem, head, members)
    if kind not in (None, "complete"):
        raise unexpected_result("the result has an unknown type", head, members)


def failed_texts(result: object) -> list[str]:
    """Return the text of a failed tool if it is all that the tool says; else nothing."""
    members = members_of(result)
    if members.get("isError") is not True or members.get("structuredContent") is not None:
        return []
    texts = _texts(members.get("content"))
    return texts if len(texts) == 1 else []


def resource_value(result: object, head: Reply) -> object:
    """Return the content of a resource: decoded if it is JSON, else its text.

    Raises:
        UnexpectedResponseError: The content cannot be decoded.
    """
    raise_service_error(result, head)
    _check_type(members_of(result), head)
    contents = members_of(result).get("contents")
    if contents is None and (result == {} or "contents" in members_of(result)):
        return []
    if not is_list(contents):
        return result

    texts = [_text_of(members_of(item)) for item in contents]
    if None in texts:
        raise unexpected_result("the content of the resource cannot be decoded", head)
    values = [_parse_text(text) for text in texts if text is not None]
    for value in values:
        raise_service_error(value, head)

    if len(values) == 1:
        return values[0]
    items: list[object] = []
    for value in values:
        items += items_of(value)
    return items


def rpc_error(error: object, head: Reply, *, of_resource: bool) -> APIError:
    """Return the error of a JSON-RPC error object.

    Its outcome is unknown unless its code says that the request was rejected before any work.
    """
    members = members_of(error)
    for place in (members.get("data"), members.get("message")):
        reported = _find_error(place, head, members)
        if reported is not None:
            return reported

    code = members.get("code")
    text = str(code) if isinstance(code, int) else None
    is_missing = of_resource and code in _NO_RESOURCE
    # Servers of the version without a handshake report a missing resource with the status 400.
    is_misleading = is_missing and head.status_code == HTTPStatus.BAD_REQUEST
    has_class = head.status_code >= HTTPStatus.BAD_REQUEST and not is_misleading
    if has_class and code != INTERNAL_ERROR:
        return api_error(head, members, code=text)  # the status decides the class

    kind: type[APIError] = APIError
    is_refused = code in _REFUSED or refuses_version(members)
    if code in _NOT_FOUND or is_missing:
        kind = NotFoundError
    elif is_refused:
        kind = BadRequestError
    elif code == INTERNAL_ERROR:
        kind = ServerError

    failure = api_error(head, members, code=text, kind=kind)
    if not is_refused:
        failure.outcome = "unknown"
    return failure


def refuses_version(error: object) -> bool:
    """Return whether a JSON-RPC error refuses the version of a request, before any work.

    Other servers may use its code otherwise, so it has to name the versions that are supported.
    """
    members = members_of(error)
    supported = members_of(members.get("data")).get("supported")
    return members.get("code") == UNSUPPORTED_VERSION and is_list(supported)


def unexpected_result(problem: str, head: Reply, body: object = None) -> UnexpectedResponseError:
    """Return the error of a JSON-RPC reply without a usable result."""
    return unexpected_response(f"{problem} (HTTP {head.status_code})", head, body)


def _tool_failure(members: dict[str, object], texts: list[str], head: Reply) -> APIError:
    """Return the error of a tool that failed; only the interface's codes tell its outcome."""
    for candidate in (members.get("structuredContent"), *texts):
        error = _find_error(candidate, head, members)
        if error is not None:
            return error

    message = " ".join(_without_prefix(text) for text in texts).strip()
    failure = api_error(head, members, message=message or "the tool failed")
    failure.outcome = "unknown"
    return failure


def _find_error(value: object, head: Reply, body: object) -> APIError | None:
    """Return the error of the interface's error object in a value; None if there is none."""
    if isinstance(value, str):
        # The outermost braces: one decoding, however many braces a text has.
        start = value.find("{")
        end = value.rfind("}") + 1
        value = _parse_text(value[start:end]) if 0 <= start < end else None

    for candidate in (value, *members_of(value).values()):
        error = service_error(candidate, head, body)
        if error is not None:
            return error
    return None


def _without_prefix(text: str) -> str:
    """Return the text of an error without the words that servers put before it."""
    for _ in range(_MOST_PREFIXES):
        prefix = _TOOL_PREFIX.match(text)
        if prefix is None:
            break
        text = text[prefix.end() :]
    return text


def _unwrap(structured: object) -> object:
    """Return structured content without the object that servers put around lists and scalars."""
    members = members_of(structured)
    return members["result"] if members.keys() == {"result"} else structured


def _texts(content: object) -> list[str]:
    """Return the texts of content blocks, or of embedded resources if there are no others."""
    blocks = [members_of(block) for block in content] if is_list(content) else []
    texts = [_text_of(block) for block in blocks]
    if all(text is None for text in texts):
        texts = [_text_of(members_of(block.get("resource"))) for block in blocks]
    return [text for text in texts if text is not None]


def _value_of(texts: list[str]) -> object:
    """Return the value of text blocks, by the rules at the head of this module."""
    if not texts:
        return None
    values = [_parse_text(text) for text in texts]
    if len(values) == 1:
        return values[0]
    if not any(isinstance(value, str) for value in values):
        return values

    whole = _parse_text("".join(texts))
    if not isinstance(whole, str):
        return whole

    objects = [value for value in values if _is_container(value)]
    if not objects:
        return whole
    return objects[0] if len(objects) == 1 else objects


def _is_container(value: object) -> bool:
    return isinstance(value, dict | list)


def _parse_text(text: str) -> object:
    """Decode a text; return one that is not JSON as it is."""
    try:
        return decode_json(text.encode())
    except ValueError:
        return text


def _text_of(resource: dict[str, object]) -> str | None:
    """Return the text of a content block or a resource, which may be in base64; None without."""
    text = resource.get("text")
    if isinstance(text, str):
        return text

    blob = resource.get("blob")
    if not isinstance(blob, str):
        return None
    try:
        return base64.b64decode(blob, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
