"""Polling: a read repeated with backoff until a condition is met or time is up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Generic

from ferry_sdk._engine.attempts import send_with_retries
from ferry_sdk._engine.context import Context, Result
from ferry_sdk._engine.effects import CallUser, Flow, Sleep, T
from ferry_sdk._engine.operation import Operation, Wait
from ferry_sdk._engine.retry import failure_kind, poll_delays
from ferry_sdk.errors import APIError, FerryError, RequestTimeoutError

_LAST_LOOK = 0.25
"""Seconds before the end that are kept for a last read."""
_SHORTEST = 0.25
"""Shortest delay in seconds; the service's times are in whole seconds."""


@dataclass(frozen=True, slots=True)
class PollResult(Generic[T]):
    """The result of polling.

    Attributes:
        last: The last record read; None if no read succeeded.
        is_met: Whether the condition is met.
        failure: The error of the last read; None if it succeeded.
    """

    last: Result[T] | None
    is_met: bool
    failure: FerryError | None = None


def poll(reading: Operation[T], context: Context, wait: Wait) -> Flow[PollResult[T]]:
    """Poll until the condition is met or ruled out, or time is up; retry transient errors."""
    context = context.for_reads(context.clock() + wait.seconds)
    delays = poll_delays()
    last: Result[T] | None = None
    while True:
        delay = next(delays)
        retry_after = 0.0
        failure: FerryError | None = None
        try:
            last = yield from send_with_retries(reading, context)
        except FerryError as error:
            failure = error
            if failure_kind(error) is None:
                return PollResult(last, is_met=False, failure=failure)
            if isinstance(error, APIError):
                retry_after = error.retry_after or 0.0
        else:
            seen = last.value
            yield from _report_progress(wait, seen, context)
            if wait.until(seen):
                return PollResult(last, is_met=True)
            if wait.is_final(seen):
                return PollResult(last, is_met=False)
            delay = _until_due_time(delay, context, wait, seen)

        remaining = (context.remaining() or 0.0) - _LAST_LOOK
        if remaining <= 0 or remaining < retry_after:
            return PollResult(last, is_met=False, failure=failure)

        delay = max(retry_after, min(delay, remaining))
        yield from context.record_wait(delay)
        try:
            yield from Sleep(delay)
        except FerryError as closed:  # the client was closed
            return PollResult(last, is_met=False, failure=closed)


def _report_progress(wait: Wait, seen: object, context: Context) -> Flow[None]:
    """Call `on_progress` with the record; its time is limited by the deadline."""
    if wait.on_progress is None:
        return
    try:
        yield from CallUser(partial(wait.on_progress, seen), context.deadline, "on_progress")
    except RequestTimeoutError:
        if (context.remaining() or 0.0) > 0:
            raise  # there is time left, so it is the function's own error


def poll_until_met(operation: Operation[T], wait: Wait, context: Context) -> Flow[Result[T]]:
    """Return the record that meets the condition.

    Raises:
        RequestTimeoutError: No record met it in time, or none ever will; has the last record.
        FerryError: The read failed permanently.
    """
    result = yield from poll(operation, context, wait)
    if result.last is not None and result.is_met:
        return result.last
    if result.failure is not None and failure_kind(result.failure) is None:
        raise result.failure

    last_seen = None if result.last is None else result.last.value
    raise RequestTimeoutError(
        "the condition was not met", outcome="unknown", last_seen=last_seen
    ) from result.failure


def _until_due_time(delay: float, context: Context, wait: Wait, seen: object) -> float:
    """Return the delay, shortened if the record is due to change earlier."""
    now = context.now() + context.session.skew
    for moment in wait.due_times(seen):
        seconds = moment.timestamp() - now
        if seconds > 0:
            delay = min(delay, max(seconds, _SHORTEST))
    return delay
