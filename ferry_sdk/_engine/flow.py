"""The flow of a call: what is done, in which order, from its description to its result.

A flow is a generator. It does no I/O: it yields effects, and a transport performs them. So every
decision about a call is made here, in `attempts`, in `polling` and in `writes`, once for the sync
and the async client.
"""

from __future__ import annotations

import logging
from copy import copy
from dataclasses import replace
from typing import Any, Literal

from ferry_sdk._engine.attempts import log_text, send_with_retries
from ferry_sdk._engine.context import Context, Result
from ferry_sdk._engine.effects import Flow, T
from ferry_sdk._engine.log import log, logger
from ferry_sdk._engine.operation import Operation, ReadBack
from ferry_sdk._engine.outcomes import outcome_after, record_outcome
from ferry_sdk._engine.polling import poll_until_met
from ferry_sdk._engine.shared_reads import share_read
from ferry_sdk._engine.writes import send_write
from ferry_sdk.errors import FerryError, OutcomeUnknownError, ReadOnlyError
from ferry_sdk.types import Outcome


def run(operation: Operation[T], context: Context) -> Flow[Result[T]]:
    """Make the call and return its result.

    Raises:
        FerryError: The failure of the call, with its attempts and its correlation id.
    """
    steps = _run(operation, context)
    # A call that nobody listens to is not watched, so that the log costs it this question alone.
    if context.is_watched and logger.isEnabledFor(logging.INFO):
        steps = _log_end(steps, operation.name, context)
    return steps if context.hook_runner is None else context.hook_runner.run(steps, context)


def _log_end(steps: Flow[Result[T]], name: str, context: Context) -> Flow[Result[T]]:
    """Run the steps of a call, and log one record when it ends."""
    try:
        result = yield from steps
    except GeneratorExit:
        raise
    except FerryError as error:
        _log_call(name, context, sent_by=context, outcome=error.outcome, end=log_text(error))
        raise
    except BaseException as error:
        outcome = context.state.outcome
        _log_call(name, context, sent_by=context, outcome=outcome, end=type(error).__name__)
        raise

    # The request may be that of another caller, who searches the same.
    end = f"HTTP {result.reply.status_code}"
    _log_call(name, context, sent_by=result.context, outcome="done", end=end)
    return result


def _log_call(
    name: str,
    context: Context,
    *,
    sent_by: Context,
    outcome: Literal["done"] | Outcome,
    end: str,
) -> None:
    """Log that a call has ended.

    Args:
        name: Its operation.
        context: Its context.
        sent_by: The context of its requests.
        outcome: What became of it.
        end: The last status, or the error.
    """
    attempts = sent_by.state.attempts
    last = attempts[-1] if attempts else None
    milliseconds = int((context.clock() - context.began) * 1000)
    log(
        context,
        logging.INFO,
        "%s: %s, %s, %d ms, attempts: %d (correlation id %s)",
        name,
        outcome,
        end,
        milliseconds,
        len(attempts),
        operation=name,
        outcome=outcome,
        attempt=last,
        more={"milliseconds": milliseconds, "attempts": len(attempts)},
    )


def report_interruption(operation: Operation[Any], context: Context) -> None:
    """Log the outcome of a write that was interrupted, so that its caller gets no result.

    A transport calls this from its outermost frame, so that no moment between the first byte and
    the caller is left out.
    """
    if operation.write is None:
        return

    name = operation.name
    if context.state.is_done:
        log(
            context,
            logging.WARNING,
            "%s was done when it was interrupted (correlation id %s)",
            name,
            operation=name,
            outcome="done",
        )
    elif context.state.may_have_happened:
        log(
            context,
            logging.WARNING,
            "%s was interrupted and may have happened (correlation id %s)",
            name,
            operation=name,
            outcome="unknown",
        )


def _run(operation: Operation[T], context: Context) -> Flow[Result[T]]:
    try:
        if context.settings.read_only and not operation.safety.is_read:
            problem = "the client is read-only (read_only= or FERRY_READ_ONLY), and this is a write"
            raise ReadOnlyError(problem)

        if operation.write is not None:
            result = yield from send_write(operation, operation.write, context)
            context.state.is_done = True
            return result

        if operation.wait is not None:
            # The wait's own timeout replaces the client's deadline.
            unlimited = replace(context, deadline=None)
            return (yield from poll_until_met(operation, operation.wait, unlimited))

        if operation.sharing_key is not None:
            return (yield from share_read(operation, operation.sharing_key, context))

        return (yield from send_with_retries(operation, context))
    except FerryError as error:
        context.describe(error, operation.name)
        if operation.write is not None:
            error.outcome = outcome_after(error, context)
        raise


def recover(
    error: OutcomeUnknownError, read_back: ReadBack[T], context: Context
) -> Flow[Result[T]]:
    """Read a write back again, under its correlation id.

    Raises:
        OutcomeUnknownError: The outcome is still unknown; the error has updated attributes.
    """
    context.state.is_in_doubt = True
    context = replace(context, goes_first=True, is_watched=True)
    steps = _recover(error, read_back, context)
    if logger.isEnabledFor(logging.INFO):
        steps = _log_end(steps, error.operation, context)
    return steps if context.hook_runner is None else context.hook_runner.run(steps, context)


def _recover(
    error: OutcomeUnknownError, read_back: ReadBack[T], context: Context
) -> Flow[Result[T]]:
    updated = copy(error)
    try:
        seen = yield from send_with_retries(read_back.reading, context)
    except FerryError as failure:
        updated.attempts += tuple(context.state.attempts)
        raise updated from failure.with_traceback(None)

    updated.attempts += tuple(context.state.attempts)
    updated.last_seen = record = seen.value
    if not read_back.shows(record):
        raise updated

    result = seen.of(read_back.result(record))
    yield from record_outcome(
        context, error.entry_id, "done", result_or_error=result.value, record=record
    )
    return result
