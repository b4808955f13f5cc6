"""Error responses of the service, as the matching subclass of `APIError`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from ferry_sdk._engine.http import Reply, parse_date
from ferry_sdk._engine.retry import leaves_outcome_open
from ferry_sdk._protocols.json_body import is_list, is_object, members_of
from ferry_sdk.errors import (
    SERVICE_CODES,
    APIError,
    AuthenticationError,
    AvailabilityError,
    BadRequestError,
    ConflictError,
    NoSailingsError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    UnexpectedResponseError,
    UnprocessableEntityError,
    phrase_of,
)

_BY_STATUS: Final[Mapping[int, type[APIError]]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: UnprocessableEntityError,
    429: RateLimitError,
}
_CODES = ("code", "error_code", "errorCode")
"""The members of a body that may be a code, the first that is there."""
_MESSAGES = ("message", "error_description", "detail", "title", "error", "msg")
"""The members of a body that may be a message, the first that is there."""
_FIELD = re.compile(r"[A-Za-z_][\w.\[\]]{0,99}", re.ASCII)
"""The path of a field in a request: ``passengers.0.email``, ``passengers[0].email``."""
_INDEX = re.compile(r"\.(\d+)(?=\.|$)")
"""An index with a dot before it, which is written in brackets: ``.0`` in ``passengers.0.email``."""


def api_error(
    head: Reply,
    body: object,
    *,
    code: str | None = None,
    message: str | None = None,
    field: str | None = None,
    kind: type[APIError] | None = None,
) -> APIError:
    """Return the error of a reply. A known service code decides its class, else the status.

    Args:
        head: Status and headers of the reply.
        body: The decoded body, of any shape.
        code: The service's code; by default it is taken from the body.
        message: The service's message; by default it is taken from the body.
        field: The invalid field of the request; by default it is taken from the body.
        kind: The class, if neither the code nor the status decides it.
    """
    code = code or _first_text(body, _CODES)
    message = message or message_of(body) or phrase_of(head.status_code)
    error_class = kind or _class_of(head.status_code, code)

    error = error_class(
        message,
        status_code=head.status_code,
        code=code,
        request_id=head.request_id,
        field=field or _field_of(body),
        body=body,
        retry_after=retry_after(head.headers),
        www_authenticate=head.headers.get("www-authenticate"),
    )

    if leaves_outcome_open(head.status_code):
        error.outcome = "unknown"
    return error


def unexpected_response(problem: str, head: Reply, body: object = None) -> UnexpectedResponseError:
    """Return the error of a reply without a usable value."""
    return UnexpectedResponseError(
        problem, status_code=head.status_code, request_id=head.request_id, body=body
    )


def service_error(value: object, head: Reply, body: object = None) -> APIError | None:
    """Return the error that the interface's error object reports; None if the value is none.

    Args:
        value: Any value.
        head: Status and headers of the reply.
        body: The body of the reply, if it is not the error object itself.
    """
    if not is_object(value) or value.get("error") is not True:
        return None
    code = value.get("code")
    if not isinstance(code, str):
        return None

    message = value.get("message")
    if not isinstance(message, str) or not message:
        message = code
    if body is None:
        body = value
    return api_error(head, body, code=code, message=message, field=_field_of(value))


def raise_service_error(value: object, head: Reply) -> None:
    """Raise the error of the interface's error object, if the value is one."""
    error = service_error(value, head)
    if error is not None:
        raise error


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After``, from a number or a date; None if it is invalid.

    A date is compared with the reply's Date, because the service's clock may differ from ours.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)

    moment = parse_date(text)
    if moment is None:
        return None
    now = parse_date(headers.get("date", "")) or time.time()
    return max(0.0, moment - now)


def message_of(body: object) -> str | None:
    """Return the message of a decoded body of any shape; None without one."""
    return _first_text(body, _MESSAGES)


def _field_of(body: object) -> str | None:
    """Return the first member of the request that a refusal names."""
    candidates = [body]
    errors = members_of(body).get("errors")
    if is_list(errors):
        candidates += errors[:1]

    for value in candidates:
        field = members_of(value).get("field")
        if isinstance(field, str) and _FIELD.fullmatch(field):
            return _INDEX.sub(r"[\1]", field)
    return None


def _class_of(status_code: int, code: str | None) -> type[APIError]:
    """Return the class of an error: that of the service's code, else that of the status."""
    default = ServerError if status_code >= HTTPStatus.INTERNAL_SERVER_ERROR else APIError
    kind = SERVICE_CODES.get(code or "") or _BY_STATUS.get(status_code, default)
    if kind is AvailabilityError and status_code == HTTPStatus.NOT_FOUND:
        return NoSailingsError
    return kind


def _first_text(body: object, names: tuple[str, ...]) -> str | None:
    """Return the first text under one of the names, in the body or one level below."""
    if is_list(body):
        return _first_text(body[0], names) if body else None

    members = members_of(body)
    for name in names:
        value = members.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()

    for name in ("error", "errors", "detail"):
        inner = members.get(name)
        text = _first_text(inner, names) if inner else None
        if text:
            return text
    return None
