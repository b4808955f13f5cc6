"""Writes: guarded, recorded in the journal, sent once, and read back if the outcome is unknown.

`send_write` runs these steps, in this order:

1. Raise if an argument has expired; read and check the guard. Nothing is sent before this.
2. Share the request among callers that ask for the same change at the same time (`deduplicate`).
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
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Generic, TypeVar

from ferry_sdk._engine.attempts import send_with_retries
from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow, RunBlocking, SingleFlight
from ferry_sdk._engine.http import RawResponse
from ferry_sdk._engine.operation import Operation, Wait, Write
from ferry_sdk._engine.outcomes import outcome_after, record_outcome
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
from ferry_sdk.types import Intent, Recorder

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
    there = context.now() + context.session.skew
    for argument, moment in write.expiries.items():
        if there >= moment.timestamp():
            raise InvalidInputError("the tariff has expired; search again", field=argument)
    steps = _WriteSteps(operation, write, context)
    if write.guard is None:
        return (yield from steps.deduplicate())
    guard = write.guard
    try:
        before = yield from send_with_retries(guard.reading, context.for_reads())
    except FerryError as failure:
        if failure.outcome == "unknown":
            failure.outcome = "not_sent"  # of the write, which waited for this read
        raise
    guard.judge(before.parse())
    steps.read_record = before.parse()
    response = yield from steps.deduplicate()
    return response.of(guard.conclude(response.parse(), before.parse()))


@dataclass(slots=True)
class _WriteSteps(Generic[T]):
    """The steps of one write after its guard."""

    operation: Operation[T]
    write: Write[T]
    context: Context
    read_record: object = None
    """What the guard read, or the record in which the effect was seen."""

    def deduplicate(self) -> Flow[RawResponse[T]]:
        """Send one request for all callers who ask for the same change at the same time.

        Callers who share a journal share its entry. A caller with another journal has an entry of
        its own there and shares the request only.
        """
        journal = self.context.settings.journal
        if not self.write.subject:
            if journal is None:
                return (yield from self._send(None))
            return (yield from self._with_journal(journal, self._send))
        settings = self.context.settings
        source = settings.secret(self.operation.call.authority).source
        whose = source if isinstance(source, str) else id(source)
        effect = self.operation.safety.effect
        key = (settings.base_url, whose, effect, _canonical(self.write))

        def share_request(entry_id: str | None) -> Flow[RawResponse[T]]:
            return self._share(key, partial(self._send, entry_id), entry_id)

        if journal is None:
            return (yield from share_request(None))
        steps = partial(self._with_journal, journal, share_request)
        return (yield from self._share((*key, id(journal)), steps, None))

    def _share(
        self, key: Hashable, steps: Callable[[], Flow[RawResponse[T]]], entry_id: str | None
    ) -> Flow[RawResponse[T]]:
        """Run the steps, or wait for the caller who runs those of the same key."""
        state = self.context.state

        def lead() -> Flow[RawResponse[T]]:
            state.is_in_doubt = False
            return (yield from steps())

        state.is_in_doubt = True  # another caller's request for the same may be on its way
        try:
            return (yield from SingleFlight(key, lead, self.context.deadline))
        except FerryError as failure:
            if failure.outcome != "unknown":
                state.is_in_doubt = False
                raise
            if not isinstance(failure, TransportError):
                raise
            lost = failure  # the caller who was joined was interrupted
        return (yield from self._resolve_unknown(lost, entry_id))

    def _with_journal(
        self, journal: Recorder, send: Callable[[str], Flow[RawResponse[T]]]
    ) -> Flow[RawResponse[T]]:
        """Record the intent, run `send`, and record the outcome.

        The entry is ``open``, which counts as unresolved, from before the first byte leaves. Only a
        certain outcome changes that, so an interruption at any point leaves it unresolved.
        """
        context = self.context
        digest = self.operation.call.digest()
        intent = Intent(
            operation=self.operation.name,
            effect=self.operation.safety.effect or self.operation.name,
            method=digest.method,
            path=digest.path,
            subject=self.write.subject,
            identity=_canonical(self.write),
            correlation_id=context.correlation_id,
        )
        begun: list[str] = []
        begin = partial(_begin, journal, intent, context, begun)
        try:
            yield from RunBlocking(begin, context.deadline)
            response = yield from send(begun[0])
        except GeneratorExit:
            raise
        except UnresolvedWriteError as error:
            duplicate = error
        except BaseException as stop:
            context.state.is_abandoned = True
            if isinstance(stop, FerryError):
                context.describe(stop, self.operation.name)
            if isinstance(stop, OutcomeUnknownError):
                stop.entry_id = begun[0]  # not that of the caller whose request was shared
            yield from record_outcome(
                context, begun[0] if begun else None, outcome_after(stop, context), stop
            )
            raise
        else:
            context.state.is_done = True
            yield from record_outcome(context, begun[0], "done", response.parse(), self.read_record)
            return response
        return (yield from self._resolve_duplicate(duplicate))

    def _resolve_duplicate(self, duplicate: UnresolvedWriteError) -> Flow[RawResponse[T]]:
        """Return the result of the same earlier write if its effect is visible now."""
        read_back = self.write.read_back
        if read_back is None:
            raise duplicate
        try:
            context = self.context.for_reads()._replace(goes_first=True)
            seen = yield from send_with_retries(read_back.reading, context)
        except FerryError as failure:
            raise duplicate from failure.with_traceback(None)
        if not read_back.shows(seen.parse()):
            raise duplicate
        record = seen.parse()
        result = read_back.result(record)
        yield from record_outcome(self.context, duplicate.entry.id, "done", result, record)
        return seen.of(result)

    def _send(self, entry_id: str | None) -> Flow[RawResponse[T]]:
        """Send the write once; if the reply is lost, find out whether it was done."""
        # Nothing is imported or built once the request has left: an interruption in the middle of
        # it would break what follows.
        import_module("ferry_sdk._engine.retry")
        prepare(self.operation.answer)
        own = self.context
        if self.write.read_back is not None:
            prepare(self.write.read_back.reading.answer)
            own = own._replace(keeps_reserve=True)
        try:
            return (yield from send_with_retries(self.operation, own))
        except FerryError as failure:
            is_redirect = isinstance(failure, UnexpectedResponseError) and failure.is_redirect
            if failure.outcome != "unknown" or is_redirect:
                raise
            lost = failure
        self.context.state.is_in_doubt = True
        return (yield from self._resolve_unknown(lost, entry_id))

    def _resolve_unknown(self, lost: FerryError, entry_id: str | None) -> Flow[RawResponse[T]]:
        """Return the result of a write whose reply was lost, if its effect is seen in time."""
        last_seen = lost.body if isinstance(lost, UnexpectedResponseError | APIError) else None
        read_back = self.write.read_back
        if read_back is not None:
            logger.info(
                "%s may have happened (%s), reading its effect back (correlation id %s)",
                self.operation.name,
                type(lost).__name__,
                self.context.correlation_id,
            )
            remaining = self.context.remaining()
            window = READ_BACK_WINDOW if remaining is None else remaining
            found: PollResult[object] | None = None
            if window > 0:
                wait = Wait(window, until=read_back.shows)
                context = self.context._replace(goes_first=True)
                with suppress(FerryError):  # the client was closed meanwhile
                    found = yield from poll(read_back.reading, context, wait)
            if found is not None and found.last is not None:
                last_seen = found.last.parse()
                if found.is_met:
                    self.read_record = last_seen
                    return found.last.of(read_back.result(last_seen))
        can = "cannot read" if read_back is None else "reads"
        raise OutcomeUnknownError(
            f"{self.operation.name} may have happened: {lost} (correlation id "
            f"{self.context.correlation_id}; ferry.recover(error) {can} it back)",
            request=self.operation.call.digest(),
            subject=self.write.subject,
            last_seen=last_seen,
            entry_id=entry_id,
        ) from lost.with_traceback(None)


def _canonical(write: Write[Any]) -> bytes:
    return json.dumps(write.identity, sort_keys=True, default=str).encode()


def _begin(journal: Recorder, intent: Intent, context: Context, begun: list[str]) -> None:
    """Record the intent; undo that if the call was abandoned in the meantime."""
    begun.append(journal.begin(intent))
    if context.state.is_abandoned:
        journal.end(begun[0], "not_sent")
