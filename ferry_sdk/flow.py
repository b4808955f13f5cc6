"""One call from description to answer: decided here, performed by a transport."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from ._version import __version__
from .correlating import next_correlation_id
from .effects import Sleep, Steps
from .errors import (
    APIError,
    Attempt,
    FerryError,
    OutcomeUnknownError,
    ReadOnlyError,
    UnexpectedResponseError,
)
from .operation import Context, Operation
from .repeating import Repeating
from .responses import RawResponse
from .session import McpSession
from .settings import Settings

T = TypeVar("T")

logger = logging.getLogger("ferry_sdk")

_SHORTEST_TOKEN = 4


def run(
    operation: Operation[T],
    settings: Settings,
    session: McpSession,
    clock: Callable[[], float] = time.monotonic,
) -> Steps[RawResponse[T]]:
    """Make the call: attempt after attempt, as the safety table allows, to its answer or error.

    Raises:
        FerryError: What became of the call, with its attempts and its correlation id.
    """
    correlation_id = settings.correlation_id or next_correlation_id()
    context = Context(settings, _conventions(settings, correlation_id), session, clock)
    attempts: list[Attempt] = []
    try:
        if settings.read_only and not operation.safety.is_read:
            raise ReadOnlyError("the client only reads, and this is a write")
        return (yield from _attempts(operation, context, correlation_id, attempts))
    except FerryError as failure:
        error = _named(failure, operation)
        error.operation = operation.name
        error.correlation_id = correlation_id
        error.attempts = tuple(attempts)
        if error is failure:
            raise
        raise error from failure.with_traceback(None)


def _attempts(
    operation: Operation[T], context: Context, correlation_id: str, attempts: list[Attempt]
) -> Steps[RawResponse[T]]:
    began = context.clock()
    repeating: Repeating | None = None
    while True:
        try:
            answered = yield from operation.call.exchange(context)
            reply = answered.reply
            try:
                value = operation.answer.read(answered.value)
            except UnexpectedResponseError as error:
                error.status_code, error.request_id = reply.status_code, reply.request_id
                raise
        except FerryError as error:
            failure = error
        else:
            attempts.append(
                Attempt(sent=True, status_code=reply.status_code, request_id=reply.request_id)
            )
            return RawResponse(
                value, reply, correlation_id, context.clock() - began, tuple(attempts)
            )
        _hide(failure, _secrets(operation, context.settings))
        attempts.append(_record(failure))
        repeating = repeating or Repeating(operation.safety, context.settings.max_retries)
        wait = repeating.wait_after(failure)
        attempts[-1] = replace(attempts[-1], waited=wait)
        logger.info(
            "%s failed (%s), next try in %.2f s", operation.name, type(failure).__name__, wait
        )
        yield from Sleep(wait)


def _conventions(settings: Settings, correlation_id: str) -> dict[str, str]:
    """What every request to the service carries, whatever its protocol."""
    headers = {
        "user-agent": f"ferry_sdk/{__version__}",
        "Accept-Encoding": "gzip",
        "x-client-correlation-id": correlation_id,
    }
    if settings.language is not None:
        headers["Accept-Language"] = settings.language
    if settings.client_version is not None:
        headers["x-client-version"] = settings.client_version
    return headers | dict(settings.headers)


def _named(failure: FerryError, operation: Operation[T]) -> FerryError:
    """The error as the caller meets it: a write that may have happened says so."""
    if operation.safety.is_read or failure.outcome != "unknown":
        return failure
    if isinstance(failure, UnexpectedResponseError) and failure.is_redirect:
        return failure
    seen = failure.body if isinstance(failure, UnexpectedResponseError | APIError) else None
    return OutcomeUnknownError(
        f"{operation.name} may have happened: {failure}",
        request=operation.call.digest(),
        last_seen=seen,
    )


def _record(failure: FerryError) -> Attempt:
    record = Attempt(sent=failure.outcome != "not_sent", problem=type(failure).__name__)
    if isinstance(failure, UnexpectedResponseError | APIError):
        return replace(record, status_code=failure.status_code, request_id=failure.request_id)
    return record


def _secrets(operation: Operation[T], settings: Settings) -> Iterable[str]:
    tokens = (settings.token, settings.organisation_token)
    shown = {token.shown for token in tokens if token is not None and token.shown}
    shown = {token for token in shown if len(token) >= _SHORTEST_TOKEN}
    return sorted(operation.call.secrets() | shown, key=len, reverse=True)


def _hide(error: FerryError, secrets: Iterable[str]) -> None:
    """Take out of an error's words what the service repeated of a traveller's or a token."""
    for secret in secrets:
        error.args = tuple(str(words).replace(secret, "[hidden]") for words in error.args)
        if isinstance(error, APIError):
            error.message = error.message.replace(secret, "[hidden]")
            error.code = error.code and error.code.replace(secret, "[hidden]")
            challenge = error.www_authenticate
            error.www_authenticate = challenge and challenge.replace(secret, "[hidden]")
