"""A read made again and again, with gentle backoff, until enough is seen or time is up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from ferry_sdk._engine.attempts import send_with_retries
from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import CallUser, Flow, Sleep
from ferry_sdk._engine.operation import Operation, Wait
from ferry_sdk._engine.raw_response import RawResponse
from ferry_sdk.errors import APIError, FerryError, RequestTimeoutError
from ferry_sdk.safety import failure_kind

T = TypeVar("T")

_LAST_LOOK = 0.25
"""Seconds kept for a last look before time is up."""
_SHORTEST = 0.25
"""Seconds that a delay has at the least; the service tells the time in whole seconds only."""


@dataclass(frozen=True, slots=True)
class PollResult(Generic[T]):
    """What came of looking.

    Attributes:
        last: What was read last; None if nothing could be read.
        is_met: Whether the condition is met.
        failure: Why the last look failed; None if it did not.
    """

    last: RawResponse[T] | None
    is_met: bool
    failure: FerryError | None = None


def poll(reading: Operation[T], context: Context, wait: Wait) -> Flow[PollResult[T]]:
    """Look until enough is seen or never will be, or time is up; outlive failures that pass."""
    context = context.with_deadline(context.clock() + wait.seconds)
    from ferry_sdk._engine.retry import PollBackoff  # noqa: PLC0415 -- most calls never need it

    backoff = PollBackoff()
    last: RawResponse[T] | None = None
    while True:
        delay, asked = backoff.next(), 0.0
        failure: FerryError | None = None
        try:
            last = yield from send_with_retries(reading, context)
        except FerryError as error:
            failure = error
            if failure_kind(error) is None:
                return PollResult(last, is_met=False, failure=failure)
            if isinstance(error, APIError):
                asked = error.retry_after or 0.0
        else:
            seen = last.parse()
            yield from _report_progress(wait, seen, context)
            if wait.until(seen):
                return PollResult(last, is_met=True)
            if wait.is_final(seen):
                return PollResult(last, is_met=False)
            delay = _until_due_time(delay, context, wait, seen)
        remaining = (context.remaining() or 0.0) - _LAST_LOOK
        if remaining <= 0 or remaining < asked:
            return PollResult(last, is_met=False, failure=failure)
        delay = max(asked, min(delay, remaining))
        yield from context.record_wait(delay)
        try:
            yield from Sleep(delay)
        except FerryError as closed:
            return PollResult(last, is_met=False, failure=closed)


def _report_progress(wait: Wait, seen: object, context: Context) -> Flow[None]:
    """Tell of what was seen, for as long as there is time."""
    if wait.on_progress is None:
        return
    try:
        yield from CallUser(partial(wait.on_progress, seen), context.deadline, "on_progress")
    except RequestTimeoutError:
        if (context.remaining() or 0.0) > 0:
            raise  # the function's own


def poll_until_met(operation: Operation[T], wait: Wait, context: Context) -> Flow[RawResponse[T]]:
    """The answer that is waited for.

    Raises:
        RequestTimeoutError: It did not come in time, or never will; with what was seen last.
        FerryError: It cannot be read, and never will.
    """
    found = yield from poll(operation, context, wait)
    if found.last is not None and found.is_met:
        return found.last
    if found.failure is not None and failure_kind(found.failure) is None:
        raise found.failure
    raise RequestTimeoutError(
        "what was waited for has not come",
        outcome="unknown",
        last_seen=found.last and found.last.parse(),
    ) from found.failure


def _until_due_time(delay: float, context: Context, wait: Wait, seen: object) -> float:
    """The delay, cut short where a change is due."""
    now = context.now() + context.session.skew
    ahead = (moment.timestamp() - now for moment in wait.due_times(seen))
    return min([delay, *(max(seconds, _SHORTEST) for seconds in ahead if seconds > 0)])
