"""The attempts of one request.

After each failed attempt the failure is redacted, recorded and logged. Then one of three things
happens: the token is refreshed and the request sent again (once), the retry policy gives a delay
and the request is sent again, or the failure is raised.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from http import HTTPStatus
from typing import Final, Literal
from urllib.parse import urlsplit

from ferry_sdk._engine.auth import can_refresh, refresh
from ferry_sdk._engine.context import Context, Result
from ferry_sdk._engine.effects import Flow, Sleep, T
from ferry_sdk._engine.log import log, logger
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.outcomes import code_of
from ferry_sdk._engine.redaction import show_request_id
from ferry_sdk._engine.retry import delay_before
from ferry_sdk._engine.safety import may_be_done
from ferry_sdk.errors import (
    SERVICE_CODES,
    APIError,
    FerryError,
    TransportError,
    UnexpectedResponseError,
)
from ferry_sdk.types import Attempt, Outcome

_OWN_PATHS: Final = frozenset({"api", "mcp", "v1"})
"""The ends of an address that is probably wrong, because the client adds the path itself."""


def send_with_retries(operation: Operation[T], context: Context) -> Flow[Result[T]]:
    """Send the request until an attempt succeeds or must not be retried.

    Raises:
        FerryError: The failure of the last attempt.
    """
    safety = operation.safety
    has_refreshed = False
    number = 0
    retries = 0
    while True:
        number += 1
        context.state.operation = safety.operation
        context.state.attempt = number
        context.state.secrets = operation.call.secrets

        try:
            if context.settings.secret(operation.call.authority).current is None:
                yield from refresh(context, operation.call.authority, None)
            value, reply = yield from operation.call.send(context, operation.answer.read)
        except FerryError as error:
            failure = error
        else:
            result = Result(value, reply, context)
            if context.is_watched:
                context.state.attempts.append(context.attempt_of(reply))
                _log(context, "done")
            return result

        _clear_sending_if_refused(failure, context)
        _hide(failure, operation, context)
        context.state.attempts.append(_record(failure, safety.operation))
        _log(context, failure.outcome)

        may_refresh = not has_refreshed and "unauthorised" in safety.retry_on
        if may_refresh and can_refresh(context, operation.call.authority, failure):
            has_refreshed = True
            yield from _announce_retry(failure, 0.0, context)
            yield from refresh(context, operation.call.authority, context.state.sent_tokens[-1])
            continue

        retries += 1
        # It raises what is not retried.
        wait = delay_before(retries, failure, safety=safety, context=context)
        yield from _announce_retry(failure, wait, context)
        try:
            yield from Sleep(wait)
        except FerryError as closed:
            closed.outcome = failure.outcome  # the wait sent nothing, so the last attempt decides
            raise


def _clear_sending_if_refused(failure: FerryError, context: Context) -> None:
    """Clear the record of the request if the failure proves that nothing was done."""
    is_local = failure.outcome == "not_sent" and not isinstance(failure, TransportError)
    if is_local and context.state.may_have_happened:
        failure.outcome = "unknown"  # raised by code that reads a reply, after the request left
    if failure.outcome != "unknown":
        context.state.is_rejected = may_be_done(failure)
        context.state.sending = None


def _announce_retry(failure: FerryError, wait: float, context: Context) -> Flow[None]:
    """Log that another attempt follows, and notify the hooks."""
    last = context.state.attempts[-1]
    log(
        context,
        logging.INFO,
        "%s failed (%s), next attempt in %.2f s (correlation id %s)",
        last.operation,
        log_text(failure),
        wait,
        outcome=failure.outcome,
        attempt=last,
    )
    yield from context.record_wait(wait)


def _log(context: Context, outcome: Literal["done"] | Outcome) -> None:
    """Log the last attempt."""
    if not logger.isEnabledFor(logging.DEBUG):
        return

    last = context.state.attempts[-1]
    log(
        context,
        logging.DEBUG,
        "%s: %s (correlation id %s)",
        last.operation,
        _attempt_text(last),
        outcome=outcome,
        attempt=last,
    )


def _attempt_text(attempt: Attempt) -> str:
    """Return an attempt in a few words, such as ``HTTP 503, ServerError, request id r-1``."""
    parts: list[str] = []
    if attempt.status_code is not None:
        parts.append(f"HTTP {attempt.status_code}")
    if attempt.problem:
        parts.append(attempt.problem)
    if attempt.request_id is not None:
        parts.append(f"request id {attempt.request_id}")
    if not attempt.sent:
        parts.append("not sent")
    return ", ".join(parts)


def log_text(error: FerryError) -> str:
    """Return the class, status and code of an error, which a log may contain."""
    parts = [type(error).__name__]
    if isinstance(error, APIError):
        parts.append(f"HTTP {error.status_code}")
        code = code_of(error)
        if code:
            parts.append(code)
    return ", ".join(parts)


def _record(failure: FerryError, name: str) -> Attempt:
    """Return the record of a failed attempt."""
    record = Attempt(
        sent=failure.outcome != "not_sent",
        request_id=failure.request_id,
        problem=type(failure).__name__,
        operation=name,
    )
    if isinstance(failure, UnexpectedResponseError | APIError):
        return replace(record, status_code=failure.status_code)
    return record


def _hide(error: FerryError, operation: Operation[T], context: Context) -> None:
    """Redact the texts of an error, and name the field of the request as the caller's argument."""
    redactor = context.redactor()
    if error.request_id is not None:
        error.request_id = show_request_id(
            error.request_id,
            tokens=redactor.tokens,
            personal_data=context.state.secrets,
            redactor=redactor,
        )
    error.redact(redactor)
    if isinstance(error, APIError):
        if error.field is not None:
            error.field = operation.argument_at(error.field)
        if error.status_code == HTTPStatus.NOT_FOUND and error.code not in SERVICE_CODES:
            _explain_address(error, context.settings.base_url)


def _explain_address(error: APIError, base_url: str) -> None:
    """Add to the text of a 404 that the address may have a path too much, if it looks so."""
    last = urlsplit(base_url).path.rpartition("/")[2]
    if last.lower() in _OWN_PATHS:
        problem = f"base_url ends in /{last}, but the client adds the path itself"
        error.args = (f"{error}; {problem}",)
