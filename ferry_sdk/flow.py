"""A call from description to answer: decided here, performed by a transport."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import TypeVar

from .attempting import attempted
from .context import Context
from .effects import Steps
from .errors import FerryError, OutcomeUnknownError, ReadOnlyError
from .operation import Operation, ReadBack
from .responses import RawResponse
from .session import Session
from .settings import Settings
from .waiting import waited
from .writing import ended, written

T = TypeVar("T")


def run(
    operation: Operation[T],
    settings: Settings,
    session: Session,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
) -> Steps[RawResponse[T]]:
    """Make the call, as the safety table allows, to its answer or error.

    Raises:
        FerryError: What became of the call, with its attempts and its correlation id.
    """
    context = Context.begun(settings, session, operation.name, clock=clock, now=now)
    steps = _made(operation, context)
    return (yield from _told(steps, context))


def _made(operation: Operation[T], context: Context) -> Steps[RawResponse[T]]:
    try:
        if context.settings.read_only and not operation.safety.is_read:
            raise ReadOnlyError("the client only reads, and this is a write")
        if operation.write is not None:
            return (yield from written(operation, operation.write, context))
        if operation.wait is not None:
            context.until = None  # its own time goes before the client's
            return (yield from waited(operation, operation.wait, context))
        return (yield from attempted(operation, context))
    except FerryError as error:
        context.name(error, operation.name)
        raise


def recover(
    error: OutcomeUnknownError,
    read_back: ReadBack[T],
    settings: Settings,
    session: Session,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
) -> Steps[T]:
    """Read a write back again, under the correlation id that it had.

    Raises:
        OutcomeUnknownError: The same, with fresher facts.
    """
    context = Context.begun(
        settings,
        session,
        "recover",
        correlation_id=error.correlation_id,
        clock=clock,
        now=now,
    )
    context.is_in_doubt = True
    steps = _recovered(error, read_back, context)
    return (yield from _told(steps, context))


def _recovered(error: OutcomeUnknownError, read_back: ReadBack[T], context: Context) -> Steps[T]:
    fresher = copy(error)
    try:
        seen = yield from attempted(read_back.reading, context)
    except FerryError as failure:
        fresher.attempts += tuple(context.attempts)
        raise fresher from failure.with_traceback(None)
    fresher.attempts += tuple(context.attempts)
    fresher.last_seen = seen.parse()
    if not read_back.shows(seen.parse()):
        raise fresher
    yield from ended(context, error.entry_id, "done")
    return read_back.result(seen.parse())


def _told(steps: Steps[T], context: Context) -> Steps[T]:
    if context.telling is None:
        return steps
    from .ending import told  # noqa: PLC0415 -- loaded where there are hooks

    return told(steps, context, context.telling)
