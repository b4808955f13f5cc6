"""Writes: guarded, recorded in the journal, sent once, and read back if the outcome is unknown.

`send_write` runs these steps, in this order:

1. Raise if an argument has expired (`check_expiries`). Read the guard and check it
   (`send_guarded`).
2. Share the request among callers that ask for the same change at the same time (`deduplicate`).
3. Record the intent in the journal, before the first byte leaves (`_with_journal`).
4. Send the request (`send`). Only failures that prove that nothing was done are retried.
5. If the outcome is unknown, read until the effect is seen or time is up (`_resolve_unknown`). Of
   a create that is possible only if the failed reply names the booking, which goes on record first
   (`_note_named_booking`). If the service refused the write, read once whether the effect was there
   before (`_raise_refusal`).
6. Record the outcome in the journal (`_with_journal`).

From the first byte on, an interruption or an error leaves the entry unresolved, never "not sent".

If the guard shows that the effect is there already, nothing is sent: steps 2, 3 and 6 run with
`_raise` in place of `send`. If the guard cannot be read, steps 3 and 6 do, unless the service
refused that read. An unresolved entry of the same write is then reported first: it is worse.

With an idempotency key (`send_for_key`), step 3 comes first, because the journal decides what the
key stands for (`journal.idempotency`): the write is recorded, or refused. If it is refused because
the same booking is made, that one is read and returned (`_resolve_duplicate`). So a call that is
repeated gives its booking although its tariffs have expired in the meantime.

For example, the reply to `tickets.cancel("t-1")` is lost: the steps read the fee of ``t-1``, record
the intent, send the cancellation, read ``t-1`` until it is cancelled, record ``done``, and return
the result that the lost reply would have given.

`_share`, `_with_journal` and `send` leave their `except` blocks before they go on, so that a later
error does not refer to the handled one as its context.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, NoReturn

from ferry_sdk._engine.attempts import send_with_retries
from ferry_sdk._engine.booking_ids import named_booking
from ferry_sdk._engine.context import Context, Result
from ferry_sdk._engine.effects import Flow, RunBlocking, SingleFlight, T
from ferry_sdk._engine.log import log
from ferry_sdk._engine.operation import Guard, Operation, ReadBack, Write
from ferry_sdk._engine.outcomes import outcome_after, record_outcome
from ferry_sdk._engine.parsing import prepare
from ferry_sdk._engine.read_back import read_once, read_until_shown
from ferry_sdk._engine.safety import may_be_done
from ferry_sdk.errors import (
    AlreadyDoneError,
    APIError,
    ConfigurationError,
    FerryError,
    InvalidInputError,
    OutcomeUnknownError,
    TransportError,
    UnexpectedResponseError,
    UnresolvedWriteError,
)
from ferry_sdk.types import Intent, Recorder


def send_write(operation: Operation[T], write: Write[T], context: Context) -> Flow[Result[T]]:
    """Check a write, and return the steps that make it and return its result.

    Raises:
        OutcomeUnknownError: The write may have happened.
        AlreadyDoneError: Its effect was there before.
        FerryError: The write has not happened.
    """
    steps = _WriteSteps(operation, write, context)
    if write.idempotency_key is not None:
        return steps.send_for_key()

    if write.expiries:
        steps.check_expiries()
    if write.guard is None:
        return steps.deduplicate(steps.send)
    return steps.send_guarded(write.guard)


@dataclass(slots=True)
class _WriteSteps(Generic[T]):
    """The steps of one write."""

    operation: Operation[T]
    write: Write[T]
    context: Context
    read_record: object = None
    """What the guard read, or the record in which the effect was seen."""
    entry_id: str | None = None
    """The entry in the journal of this caller; None until there is one."""

    def check_expiries(self) -> None:
        """Raise InvalidInputError if an argument has expired."""
        for argument, moment in self.write.expiries.items():
            if self.context.now() + self.context.session.skew >= moment.timestamp():
                field = self.operation.argument_at(argument)
                raise InvalidInputError("the tariff has expired; search again", field=field)

    def send_for_key(self) -> Flow[Result[T]]:
        """Return the steps that record and send a write, unless its key has an effect already.

        Raises:
            ConfigurationError: There is no journal that keeps the keys.
        """
        journal = self.context.settings.journal
        if journal is None:
            raise ConfigurationError("missing: journal=…, which idempotency_key requires")
        if not getattr(journal, "accepts_keys", False):
            raise ConfigurationError("journal: it accepts no idempotency_key")
        return self._with_journal(journal, self._send_unexpired)

    def _send_unexpired(self) -> Flow[Result[T]]:
        self.check_expiries()
        return (yield from self.send())

    def send_guarded(self, guard: Guard[T]) -> Flow[Result[T]]:
        """Read the guard, judge the write by it, and send the write."""
        try:
            before, done_before = yield from self._read_guard(guard)
        except FerryError as failure:
            journal = self.context.settings.journal
            if journal is None or failure.outcome == "rejected":
                raise
            # If the journal has an unresolved entry of the same write, it raises that error first.
            return (yield from self._with_journal(journal, partial(_raise, failure)))

        if done_before is not None:
            return (yield from self.deduplicate(partial(_raise, done_before)))

        guard.judge(before)
        self.read_record = before
        response = yield from self.deduplicate(self.send)
        return response.of(guard.conclude(response.value, before))

    def _read_guard(self, guard: Guard[T]) -> Flow[tuple[object, AlreadyDoneError | None]]:
        """Return what the guard reads, and the error if the effect is there already.

        A service may refuse to name the fee of a cancelled ticket. So after a refusal, too, the
        effect is read.
        """
        record: object = None
        fee_error: FerryError | None = None
        try:
            record = (yield from send_with_retries(guard.reading, self.context.for_reads())).value
        except FerryError as failure:
            if failure.outcome == "unknown":
                failure.outcome = "not_sent"  # of the write, which waited for this read
            if guard.suggests is None or not may_be_done(failure):
                raise
            fee_error = failure

        confirmed_by: object = None
        if guard.suggests is None:
            confirmed_by = record
        elif fee_error is not None or guard.suggests(record):
            confirmed_by = yield from self._read_effect()

        done_before = self._already_done(confirmed_by, "not_sent")
        if fee_error is not None and done_before is None:
            raise fee_error
        return record, done_before

    def deduplicate(self, send: Callable[[], Flow[Result[T]]]) -> Flow[Result[T]]:
        """Return steps that run `send` once for all who ask for the same change at a time.

        With a journal, two things are shared, one around the other: the entry among the callers
        with the same journal, and the request among all callers. So a caller with another journal
        has an entry of its own there.
        """
        settings = self.context.settings
        journal = settings.journal
        if not self.write.subject:  # two creates make two bookings
            return send() if journal is None else self._with_journal(journal, send)

        accounts = settings.token.account, settings.secret(self.operation.call.authority).account
        effect = self.operation.safety.effect
        change = (settings.base_url, accounts, effect, self.write.canonical())
        share_request = partial(self._share, change, send)
        if journal is None:
            return share_request()

        record_and_share = partial(self._with_journal, journal, share_request)
        change_in_journal = (*change, id(journal))
        return self._share(change_in_journal, record_and_share)

    def _share(self, key: Hashable, steps: Callable[[], Flow[Result[T]]]) -> Flow[Result[T]]:
        """Run the steps, or wait for the caller who runs those of the same key."""
        state = self.context.state

        def lead() -> Flow[Result[T]]:
            state.is_in_doubt = False
            try:
                return (yield from steps())
            except FerryError as failure:
                # Before it is shared: another caller copies it at once.
                self.context.describe(failure, self.operation.name)
                raise

        state.is_in_doubt = True  # another caller's request for the same may be on its way
        try:
            return (yield from SingleFlight(key, lead, self.context.deadline))
        except FerryError as failure:
            if failure.outcome != "unknown":
                state.is_in_doubt = False
                raise

            # A caller who sent the request to its end raises another error, because it has read the
            # effect back.
            sender_was_interrupted = isinstance(failure, TransportError)
            if not sender_was_interrupted:
                raise
            lost = failure

        return (yield from self._resolve_unknown(lost))

    def _with_journal(
        self, journal: Recorder, send: Callable[[], Flow[Result[T]]]
    ) -> Flow[Result[T]]:
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
            identity=self.write.canonical(),
            correlation_id=context.correlation_id,
            address=context.settings.base_url,
            idempotency_key=self.write.idempotency_key,
        )

        try:
            yield from RunBlocking(partial(self._begin, journal, intent), context.deadline)
            response = yield from send()
        except GeneratorExit:  # the steps are abandoned, and may yield nothing more
            raise
        except UnresolvedWriteError as error:
            duplicate = error
        except BaseException as stop:
            context.state.is_abandoned = True
            yield from self._record_failure(stop)
            raise
        else:
            context.state.is_done = True
            yield from self._record_success(response)
            return response

        # Nothing was sent: the journal has an entry of the same write.
        return (yield from self._resolve_duplicate(duplicate))

    def _record_failure(self, stop: BaseException) -> Flow[None]:
        """Record the outcome of a write that an error or an interruption ended."""
        context = self.context
        if isinstance(stop, FerryError):
            context.describe(stop, self.operation.name)
        if isinstance(stop, OutcomeUnknownError):
            # If the request was shared, the error has the entry of the caller who sent it.
            stop.entry_id = self.entry_id
        outcome = outcome_after(stop, context)
        yield from record_outcome(context, self.entry_id, outcome, result_or_error=stop)

    def _record_success(self, response: Result[T]) -> Flow[None]:
        """Record that the write is done."""
        yield from record_outcome(
            self.context,
            self.entry_id,
            "done",
            result_or_error=response.value,
            record=self.read_record,
        )

    def _begin(self, journal: Recorder, intent: Intent) -> None:
        """Record the intent; undo that if the call was abandoned in the meantime.

        It runs in a thread that goes on if its caller is interrupted.
        """
        self.entry_id = entry_id = journal.begin(intent)
        if self.context.state.is_abandoned:
            journal.end(entry_id, "not_sent")

    def _resolve_duplicate(self, duplicate: UnresolvedWriteError) -> Flow[Result[T]]:
        """Return the result of the same earlier write if its effect is visible now.

        A create with a key may be refused because its booking is made. Part of an order is not
        returned alone: `orders.hold` returns the order.
        """
        entry = duplicate.entry
        is_done = entry.state == "done"
        read_back = self.write.read_back
        if is_done and entry.booking_id is not None and self.write.read_back_named is not None:
            read_back = self.write.read_back_named(entry.booking_id)
        if read_back is None or duplicate.order_id is not None:
            raise duplicate
        try:
            seen = yield from read_once(read_back, self.context)
        except FerryError as failure:
            raise duplicate from failure.with_traceback(None)

        record = seen.value
        if not read_back.shows(record):
            raise duplicate
        result = read_back.result(record)
        if not is_done:
            yield from record_outcome(
                self.context, entry.id, "done", result_or_error=result, record=record
            )
        return seen.of(result)

    def _read_effect(self) -> Flow[object]:
        """Return the record that may show the effect; None if it cannot be read."""
        if self.write.read_back is None:
            return None
        try:
            return (yield from read_once(self.write.read_back, self.context)).value
        except FerryError:
            return None

    def _already_done(
        self, record: object, outcome: Literal["not_sent", "rejected"]
    ) -> AlreadyDoneError | None:
        """Return the error of a write whose effect a record shows; None if it does not."""
        read_back = self.write.read_back
        if read_back is None or record is None or not read_back.shows(record):
            return None
        result: Any = read_back.result(record)
        ending = "nothing was sent" if outcome == "not_sent" else "the service refused it"
        return AlreadyDoneError(
            f"{self.operation.name} took effect before this call; {ending}",
            result=result,
            last_seen=record,
            outcome=outcome,
        )

    def send(self) -> Flow[Result[T]]:
        """Send the write once; if it is not known to be done, find out whether it was."""
        # The read-back must not wait for this once the request has left.
        prepare(self.operation.answer)
        context = self.context
        if self.write.read_back is None:
            context.state.is_unproven = True
        else:
            prepare(self.write.read_back.reading.answer)
            context = replace(context, keeps_reserve=True)

        try:
            return (yield from send_with_retries(self.operation, context))
        except FerryError as failure:
            is_redirect = isinstance(failure, UnexpectedResponseError) and failure.is_redirect
            is_certain = failure.outcome != "unknown" or is_redirect
            if is_certain and not may_be_done(failure):
                raise
            unresolved = failure

        if unresolved.outcome == "rejected":
            yield from self._raise_refusal(unresolved)

        self.context.state.is_in_doubt = True
        yield from self._note_named_booking(unresolved)
        return (yield from self._resolve_unknown(unresolved))

    def _raise_refusal(self, error: FerryError) -> Flow[NoReturn]:
        """Raise the refusal of the service, or that the effect was there before."""
        record = yield from self._read_effect()
        done_before = self._already_done(record, "rejected")
        if done_before is None:
            raise error
        self.context.describe(error, self.operation.name)
        raise done_before from error.with_traceback(None)

    def _note_named_booking(self, lost: FerryError) -> Flow[None]:
        """Keep the booking that the failed reply of a create names."""
        if self.write.subject:  # a change, whose booking or ticket is known
            return

        booking_id = named_booking(lost, self.context)
        self.context.state.booking_id = booking_id
        if booking_id is not None and self.write.read_back_named is not None:
            # On record before it is read: a process that dies meanwhile does not lose it.
            yield from record_outcome(self.context, self.entry_id, "unknown", result_or_error=lost)

    def _read_back(self) -> ReadBack[T] | None:
        """Return how to read the result back; None if no read can show it."""
        booking_id = self.context.state.booking_id
        if booking_id is not None and self.write.read_back_named is not None:
            return self.write.read_back_named(booking_id)
        return self.write.read_back

    def _resolve_unknown(self, lost: FerryError) -> Flow[Result[T]]:
        """Return the result of a write whose reply was lost, if its effect is seen in time."""
        last_seen = lost.body if isinstance(lost, UnexpectedResponseError | APIError) else None
        read_back = self._read_back()
        if read_back is not None:
            self._log_read_back(lost)
            polled = yield from read_until_shown(read_back, self.context)
            if polled is not None and polled.last is not None:
                last_seen = polled.last.value
                if polled.is_met:
                    self.read_record = last_seen
                    result = read_back.result(last_seen)
                    if read_back.complete and isinstance(lost, UnexpectedResponseError):
                        result = read_back.complete(result, lost.body)
                    return polled.last.of(result)

        error = self._unknown_error(lost, last_seen, can_be_read=read_back is not None)
        raise error from lost.with_traceback(None)

    def _log_read_back(self, lost: FerryError) -> None:
        """Log that the effect of the write is read back, and why."""
        name = self.operation.name
        log(
            self.context,
            logging.INFO,
            "%s may have happened (%s), reading its effect back (correlation id %s)",
            name,
            type(lost).__name__,
            operation=name,
            outcome="unknown",
        )

    def _unknown_error(
        self, lost: FerryError, last_seen: object, *, can_be_read: bool
    ) -> OutcomeUnknownError:
        """Return the error of a write whose effect was not seen, with all that is known of it."""
        correlation_id = self.context.correlation_id
        booking_id = self.context.state.booking_id
        named = "" if booking_id is None else f"; the reply names booking {booking_id}"
        if can_be_read:
            next_step = "ferry.recover(error) reads it back"
        else:
            next_step = (
                "no read of the client shows it: ask the service's support before you send it again"
            )

        return OutcomeUnknownError(
            f"{self.operation.name} may have happened: {lost}{named} "
            f"(correlation id {correlation_id}; {next_step})",
            request=self.operation.call.digest(),
            subject=self.write.subject,
            last_seen=last_seen,
            entry_id=self.entry_id,
            booking_id=booking_id,
        )


def _raise(error: FerryError) -> NoReturn:
    """Raise an error, in place of the step that sends the request."""
    raise error
