"""Writes: guarded, recorded in the journal, sent once, and read back if the outcome is unknown.

`send_write` runs these steps, in this order:

1. Raise if an argument has expired; read and check the guard. Nothing is sent before this.
2. Share the request among callers that ask for the same change at the same time (`_deduplicate`).
3. Record the intent in the journal, before the first byte leaves (`_with_journal`).
4. Send the request (`_send`). Only failures that prove that nothing was done are retried.
5. If the outcome is unknown, read until the effect is seen or time is up (`_resolve_unknown`).
6. Record the outcome in the journal.

From the first byte on, an interruption or an error leaves the entry unresolved, never "not sent".
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Hashable
from functools import partial
from importlib import import_module
from typing import TypeVar

from ferry_sdk._engine.attempts import send_with_retries
from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow, RunBlocking, SingleFlight
from ferry_sdk._engine.http import RawResponse
from ferry_sdk._engine.operation import Operation, ReadBack, Wait, Write
from ferry_sdk._engine.parsing import prepare
from ferry_sdk._engine.polling import PollResult, poll
from ferry_sdk.errors import (
    APIError,
    FerryError,
    InvalidInputError,
    OutcomeUnknownError,
    TransportError,
    UnexpectedResponseError,
    UnresolvedWriteError,
)
from ferry_sdk.types import EndState, Intent, Outcome, Recorder

T = TypeVar("T")

logger: logging.Logger = logging.getLogger("ferry_sdk")

READ_BACK_WINDOW = 30.0
"""Seconds in which an effect is read back, if there is no deadline."""


def send_write(operation: Operation[T], write: Write[T], context: Context) -> Flow[RawResponse[T]]:
    """Make a write and return its result.

    Raises:
        OutcomeUnknownError: The write may have happened.
        FerryError: The write has not happened.
    """
    _refuse_expired(write, context)
    if write.guard is None:
        return (yield from _deduplicate(operation, write, context))
    guard = write.guard
    try:
        before = yield from send_with_retries(guard.reading, context.for_reads())
    except FerryError as failure:
        if failure.outcome == "unknown":
            failure.outcome = "not_sent"  # of the write, which waited for this read
        raise
    guard.judge(before.parse())
    response = yield from _deduplicate(operation, write, context)
    return response.of(guard.conclude(response.parse(), before.parse()))


def _refuse_expired(write: Write[T], context: Context) -> None:
    """Raise if an argument has expired by the service's clock, as known from its replies."""
    there = context.now() + context.session.skew
    for argument, moment in write.expiries.items():
        if there >= moment.timestamp():
            raise InvalidInputError("the tariff has expired; search again", field=argument)


def _deduplicate(
    operation: Operation[T], write: Write[T], context: Context
) -> Flow[RawResponse[T]]:
    """Send one request for all callers who ask for the same change at the same time.

    Callers who share a journal share its entry. A caller with another journal has an entry of its
    own there and shares the request only.
    """
    journal = context.settings.journal
    send = partial(_send, operation, write, context)
    if not write.subject:
        if journal is None:
            return (yield from send(None))
        return (yield from _with_journal(journal, operation, write, context, send))
    key = _key(operation, write, context)
    share = partial(_share, operation, write, context)

    def share_request(entry_id: str | None) -> Flow[RawResponse[T]]:
        return share(key, partial(send, entry_id), entry_id)

    if journal is None:
        return (yield from share_request(None))
    steps = partial(_with_journal, journal, operation, write, context, share_request)
    return (yield from share((*key, id(journal)), steps, None))


def _share(
    operation: Operation[T],
    write: Write[T],
    context: Context,
    key: Hashable,
    steps: Callable[[], Flow[RawResponse[T]]],
    entry_id: str | None,
) -> Flow[RawResponse[T]]:
    """Run the steps, or wait for the caller who runs those of the same key."""

    def lead() -> Flow[RawResponse[T]]:
        context.state.clear_doubt()
        return (yield from steps())

    context.state.mark_in_doubt()  # another caller's request for the same may be on its way
    try:
        return (yield from SingleFlight(key, lead, context.deadline))
    except FerryError as failure:
        if failure.outcome != "unknown":
            context.state.clear_doubt()
            raise
        if not isinstance(failure, TransportError):
            raise
        lost = failure  # the caller who was joined was interrupted
    return (yield from _resolve_unknown(operation, write, context, lost, entry_id))


def _key(operation: Operation[T], write: Write[T], context: Context) -> tuple[Hashable, ...]:
    settings = context.settings
    source = settings.secret(operation.call.authority).source
    whose = source if isinstance(source, str) else id(source)
    return settings.base_url, whose, operation.safety.effect, _canonical(write)


def _canonical(write: Write[T]) -> bytes:
    return json.dumps(write.identity, sort_keys=True, default=str).encode()


def _with_journal(
    journal: Recorder,
    operation: Operation[T],
    write: Write[T],
    context: Context,
    send: Callable[[str], Flow[RawResponse[T]]],
) -> Flow[RawResponse[T]]:
    """Record the intent, run `send`, and record the outcome.

    The entry is ``open``, which counts as unresolved, from before the first byte leaves. Only an
    certain outcome changes that, so an interruption at any point leaves it unresolved.
    """
    intent = _intent(operation, write, context)
    begun: list[str] = []
    try:
        yield from RunBlocking(partial(_begin, journal, intent, context, begun), context.deadline)
        response = yield from send(begun[0])
    except GeneratorExit:
        raise
    except UnresolvedWriteError as error:
        duplicate = error
    except BaseException as stop:
        context.state.mark_abandoned()
        if isinstance(stop, FerryError):
            context.describe(stop, operation.name)
        if isinstance(stop, OutcomeUnknownError):
            stop.entry_id = begun[0]  # not that of the caller whose request was shared
        yield from record_outcome(
            context, begun[0] if begun else None, outcome_after(stop, context)
        )
        raise
    else:
        context.state.mark_done()
        yield from record_outcome(context, begun[0], "done")
        return response
    return (yield from _resolve_duplicate(write, context, duplicate))


def _begin(journal: Recorder, intent: Intent, context: Context, begun: list[str]) -> None:
    """Record the intent; undo that if the call was abandoned in the meantime."""
    begun.append(journal.begin(intent))
    if context.state.is_abandoned:
        journal.end(begun[0], "not_sent")


def _intent(operation: Operation[T], write: Write[T], context: Context) -> Intent:
    digest = operation.call.digest()
    return Intent(
        operation=operation.name,
        effect=operation.safety.effect or operation.name,
        method=digest.method,
        path=digest.path,
        subject=write.subject,
        identity=_canonical(write),
        correlation_id=context.correlation_id,
    )


def _resolve_duplicate(
    write: Write[T], context: Context, duplicate: UnresolvedWriteError
) -> Flow[RawResponse[T]]:
    """Return the result of the same earlier write if its effect is visible now."""
    if write.read_back is None:
        raise duplicate
    try:
        seen = yield from send_with_retries(write.read_back.reading, context.for_reads())
    except FerryError as failure:
        raise duplicate from failure.with_traceback(None)
    if not write.read_back.shows(seen.parse()):
        raise duplicate
    yield from record_outcome(context, duplicate.entry.id, "done")
    return seen.of(write.read_back.result(seen.parse()))


def record_outcome(context: Context, entry_id: str | None, state: EndState) -> Flow[None]:
    """Record an outcome; if that fails, the entry stays unresolved, which is safe."""
    journal = context.settings.journal
    if journal is None or entry_id is None:
        return
    try:
        yield from RunBlocking(partial(journal.end, entry_id, state), context.deadline)
    except Exception as error:  # noqa: BLE001 -- whatever a recorder fails with
        logger.error(  # noqa: TRY400 -- its traceback may show the recorder's variables
            "journal entry %s is not known to be %s: %s (correlation id %s)",
            entry_id,
            state,
            error,
            context.correlation_id,
        )


def outcome_after(stop: BaseException, context: Context) -> Outcome:
    """Return the outcome of a write that ended so; "not sent" only if nothing can have left."""
    outcome = stop.outcome if isinstance(stop, FerryError) else "not_sent"
    return "unknown" if outcome == "not_sent" and context.state.may_have_happened else outcome


def _send(
    operation: Operation[T], write: Write[T], context: Context, entry_id: str | None
) -> Flow[RawResponse[T]]:
    """Send the write once; if the reply is lost, find out whether it was done."""
    # Nothing is imported or built once the request has left: an interruption in the middle of it
    # would break what follows.
    import_module("ferry_sdk._engine.retry")
    prepare(operation.answer)
    if write.read_back is not None:
        prepare(write.read_back.reading.answer)

    own = context if write.read_back is None else context._replace(keeps_reserve=True)
    try:
        return (yield from send_with_retries(operation, own))
    except FerryError as failure:
        if failure.outcome != "unknown" or _is_redirect(failure):
            raise
        lost = failure
    context.state.mark_in_doubt()
    return (yield from _resolve_unknown(operation, write, context, lost, entry_id))


def _is_redirect(failure: FerryError) -> bool:
    return isinstance(failure, UnexpectedResponseError) and failure.is_redirect


def _resolve_unknown(
    operation: Operation[T],
    write: Write[T],
    context: Context,
    lost: FerryError,
    entry_id: str | None,
) -> Flow[RawResponse[T]]:
    """Return the result of a write whose reply was lost, if its effect is seen in time."""
    last_seen = lost.body if isinstance(lost, UnexpectedResponseError | APIError) else None
    if write.read_back is not None:
        logger.info(
            "%s may have happened (%s), reading its effect back (correlation id %s)",
            operation.name,
            type(lost).__name__,
            context.correlation_id,
        )
        try:
            found = yield from _poll_for_effect(write.read_back, context)
        except FerryError:  # the client was closed meanwhile
            found = None
        if found is not None and found.last is not None:
            last_seen = found.last.parse()
            if found.is_met:
                return found.last.of(write.read_back.result(last_seen))
    raise OutcomeUnknownError(
        f"{operation.name} may have happened: {lost}",
        request=operation.call.digest(),
        subject=write.subject,
        last_seen=last_seen,
        entry_id=entry_id,
    ) from lost.with_traceback(None)


def _poll_for_effect(read_back: ReadBack[T], context: Context) -> Flow[PollResult[object] | None]:
    remaining = context.remaining()
    if remaining is not None and remaining <= 0:
        return None
    wait = Wait(
        seconds=READ_BACK_WINDOW if remaining is None else remaining,
        until=read_back.shows,
        is_final=lambda _: False,
        due_times=lambda _: (),
    )
    return (yield from poll(read_back.reading, context, wait))
