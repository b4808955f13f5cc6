"""Why an attempt failed, where another may succeed."""

from __future__ import annotations

from http import HTTPStatus

from .errors import APIError, FerryError, ServerError, TransportError, UnexpectedResponseError
from .safety import Cause


def cause_of(failure: FerryError) -> Cause | None:
    """Why the attempt failed; None where the same request would only fail again."""
    if isinstance(failure, APIError) and failure.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limited"
    if not _is_passing(failure):
        return None
    return "not_sent" if failure.outcome == "not_sent" else "lost"


def _is_passing(failure: FerryError) -> bool:
    """Whether the same request may well succeed another time."""
    if isinstance(failure, UnexpectedResponseError):
        return not failure.is_redirect
    if isinstance(failure, APIError) and failure.status_code == HTTPStatus.REQUEST_TIMEOUT:
        return True
    return isinstance(failure, TransportError | ServerError) or (
        isinstance(failure, APIError) and failure.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
    )
