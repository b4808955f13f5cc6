"""A read made again and again, with gentle pauses, until enough is seen or time is up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from ferry_sdk._engine.attempts import attempted
from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Ask, Sleep, Steps
from ferry_sdk._engine.operation import Operation, Wait
from ferry_sdk._engine.raw_response import RawResponse
from ferry_sdk.errors import APIError, FerryError, RequestTimeoutError
from ferry_sdk.safety import cause_of

T = TypeVar("T")

_LAST_LOOK = 0.25
"""Seconds kept for a last look before time is up."""
_SHORTEST = 0.25
"""Seconds that a pause has at the least; the service tells the time in whole seconds only."""


@dataclass(frozen=True, slots=True)
class Watched(Generic[T]):
    """What came of looking.

    Attributes:
        last: What was read last; None if nothing could be read.
        is_enough: Whether it is what was waited for.
        failure: Why the last look failed; None if it did not.
    """

    last: RawResponse[T] | None
    is_enough: bool
    failure: FerryError | None = None


def watched(reading: Operation[T], context: Context, wait: Wait) -> Steps[Watched[T]]:
    """Look until enough is seen or never will be, or time is up; outlive failures that pass."""
    context = context.over_by(context.clock() + wait.seconds)
    from ferry_sdk._engine.retry import Pauses  # noqa: PLC0415 -- most calls never need it

    pauses = Pauses()
    last: RawResponse[T] | None = None
    while True:
        pause, asked = pauses.next(), 0.0
        failure: FerryError | None = None
        try:
            last = yield from attempted(reading, context)
        except FerryError as error:
            failure = error
            if cause_of(error) is None:
                return Watched(last, is_enough=False, failure=failure)
            if isinstance(error, APIError):
                asked = error.retry_after or 0.0
        else:
            seen = last.parse()
            yield from _told(wait, seen, context)
            if wait.is_enough(seen):
                return Watched(last, is_enough=True)
            if wait.is_over(seen):
                return Watched(last, is_enough=False)
            pause = _until_due(pause, context, wait, seen)
        remaining = (context.remaining() or 0.0) - _LAST_LOOK
        if remaining <= 0 or remaining < asked:
            return Watched(last, is_enough=False, failure=failure)
        pause = max(asked, min(pause, remaining))
        yield from context.waits(pause)
        try:
            yield from Sleep(pause)
        except FerryError as closed:
            return Watched(last, is_enough=False, failure=closed)


def _told(wait: Wait, seen: object, context: Context) -> Steps[None]:
    """Tell of what was seen, for as long as there is time."""
    if wait.on_progress is None:
        return
    try:
        yield from Ask(partial(wait.on_progress, seen), context.until, "on_progress")
    except RequestTimeoutError:
        if (context.remaining() or 0.0) > 0:
            raise  # the function's own


def waited(operation: Operation[T], wait: Wait, context: Context) -> Steps[RawResponse[T]]:
    """The answer that is waited for.

    Raises:
        RequestTimeoutError: It did not come in time, or never will; with what was seen last.
        FerryError: It cannot be read, and never will.
    """
    found = yield from watched(operation, context, wait)
    if found.last is not None and found.is_enough:
        return found.last
    if found.failure is not None and cause_of(found.failure) is None:
        raise found.failure
    raise RequestTimeoutError(
        "what was waited for has not come",
        outcome="unknown",
        last_seen=found.last and found.last.parse(),
    ) from found.failure


def _until_due(pause: float, context: Context, wait: Wait, seen: object) -> float:
    """The pause, cut short where a change is due."""
    now = context.now() + context.session.skew
    ahead = (moment.timestamp() - now for moment in wait.due(seen))
    return min([pause, *(max(seconds, _SHORTEST) for seconds in ahead if seconds > 0)])
