"""Outcomes of writes: what is known after an error, and what the journal records.

`outcome_after` decides between "not_sent", "rejected" and "unknown" when a write ends with an error
or is interrupted. `record_outcome` ends the entry of the write in the journal. For example, a
confirmation that the service refused ends its entry so:

    details = OutcomeDetails(status_code=409, code="BOOKING_CONFIRM_ERROR")
    journal.end("entry-1", "rejected", details=details)

The details are left out if the recorder is a user's own whose `end` does not take them.
"""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from functools import partial
from inspect import signature
from typing import Any, cast
from weakref import WeakKeyDictionary

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow, RunBlocking
from ferry_sdk._engine.log import log
from ferry_sdk.errors import AlreadyDoneError, APIError, FerryError
from ferry_sdk.types import DetailedRecorder, EndState, Outcome, OutcomeDetails, Recorder

_AFTER_INTERRUPTION = 2.0
"""Seconds that an interrupted call waits until its outcome is on record. The record itself goes on:
it runs in a thread."""
_CODE = re.compile(r"-?[A-Za-z0-9]+([_.:-][A-Za-z0-9]+)*", re.ASCII)
"""A code, such as ``PRICE_CHANGED``, ``-32603`` or ``booking.closed``."""
_takes_details_by_function: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Whether a function that ends an entry has the parameter `details`."""


def record_outcome(
    context: Context,
    entry_id: str | None,
    state: EndState,
    *,
    result_or_error: object,
    record: object = None,
) -> Flow[None]:
    """Record an outcome; if that fails, the entry stays unresolved, which is safe.

    Args:
        context: That of the call.
        entry_id: The entry; None if there is none.
        state: The outcome.
        result_or_error: The result of the write, or the error that ended it.
        record: What a guard read, or the booking or ticket in which the effect was seen.
    """
    journal = context.settings.journal
    if journal is None or entry_id is None:
        return

    end = partial(
        _end,
        journal,
        entry_id,
        state,
        result_or_error=result_or_error,
        record=record,
        named_id=context.state.booking_id,
    )
    until = context.deadline
    if isinstance(result_or_error, BaseException) and not isinstance(result_or_error, Exception):
        # The caller was cancelled or interrupted, and must not wait for a database that is late.
        latest = context.clock() + _AFTER_INTERRUPTION
        until = latest if until is None else min(until, latest)

    try:
        yield from RunBlocking(end, until)
    except Exception as error:  # noqa: BLE001 -- whatever a recorder fails with
        # Without a traceback, which may show the recorder's variables.
        log(
            context,
            logging.ERROR,
            "journal entry %s is not known to be %s: %s (correlation id %s)",
            entry_id,
            state,
            error,
            outcome=state,
        )


def _end(
    journal: Recorder,
    entry_id: str,
    state: EndState,
    *,
    result_or_error: object,
    record: object,
    named_id: str | None,
) -> None:
    """End an entry, with details if the recorder takes them.

    Args:
        journal: The recorder.
        entry_id: The entry.
        state: The outcome.
        result_or_error: The result of the write, or the error that ended it.
        record: What a guard or a read-back has read.
        named_id: The booking that the failed reply of a create named.
    """
    details: OutcomeDetails | None = None
    # An outcome without details is better than none on record.
    with suppress(Exception):
        if _takes_details(journal):
            details = _details(state, result_or_error, record=record, named_id=named_id)

    if details is None:
        journal.end(entry_id, state)
    else:
        cast("DetailedRecorder", journal).end(entry_id, state, details=details)


def _takes_details(journal: Recorder) -> bool:
    """Return whether the `end` of a recorder has the parameter `details`.

    The page on the journal promises this rule to users who write a recorder of their own: a
    `Recorder` needs no such parameter, a `DetailedRecorder` has it.

    A user may replace `end` of a journal by a wrapper at any time, so each write looks which
    function it is. The parameters of a function are read once.
    """
    end: Any = journal.end
    function = getattr(end, "__func__", end)  # all journals of a class share that of a method
    takes_details = _takes_details_by_function.get(function)
    if takes_details is None:
        # A wrapper of `functools.wraps` shows the parameters of the function that it wraps, and
        # need not pass them on. With ``follow_wrapped=False``, its own parameters count.
        takes_details = "details" in signature(function, follow_wrapped=False).parameters
        _takes_details_by_function[function] = takes_details
    return takes_details


def _details(
    state: EndState, result_or_error: object, *, record: object, named_id: str | None
) -> OutcomeDetails:
    """Return the details of an outcome: the ids of what was made, or the refusal."""
    match state:
        case "done":
            return _ids_of(result_or_error, record)

        case "rejected":
            api_error = result_or_error
            if isinstance(api_error, AlreadyDoneError):
                api_error = api_error.__cause__
            if isinstance(api_error, APIError):
                return OutcomeDetails(status_code=api_error.status_code, code=code_of(api_error))
            return OutcomeDetails()

        case "unknown":
            return OutcomeDetails(booking_id=named_id)

        case _:
            return OutcomeDetails()


def _ids_of(result: object, record: object) -> OutcomeDetails:
    """Return the ids of the booking and of the tickets that the result of a write names.

    A confirmation issues every ticket of a booking, but its result names one. If the record that a
    guard or a read-back has read is that booking, it names all of them.
    """
    booking_id = _text(result, "booking_id")
    ticket_id = _text(result, "ticket_id")
    if ticket_id is None:
        return OutcomeDetails(booking_id)

    ticket_ids = (ticket_id,)
    is_confirmation = bool(booking_id)
    if is_confirmation:
        all_ids = tuple(ticket.id for ticket in getattr(record, "tickets", ()))
        if ticket_id in all_ids:
            ticket_ids = all_ids
    return OutcomeDetails(booking_id, ticket_ids)


def code_of(error: APIError) -> str | None:
    """Return the code of an error, unless it is a sentence, which may name a traveller."""
    return error.code if _CODE.fullmatch(error.code or "") else None


def _text(record: object, member: str) -> str | None:
    """Return a text of a record, or of the decoded answer of a tool that has no record."""
    if isinstance(record, dict):
        value = cast("dict[str, object]", record).get(member)
    else:
        value = getattr(record, member, None)
    return value if isinstance(value, str) else None


def outcome_after(stop: BaseException, context: Context) -> Outcome:
    """Return the outcome of a write that an error or an interruption ended.

    It is "not_sent" only if nothing can have left. If an error says so, but an earlier request of
    the call may have left, it is "unknown".
    """
    if not isinstance(stop, FerryError):
        return context.state.outcome

    if stop.outcome == "not_sent" and context.state.may_have_happened:
        return "unknown"
    return stop.outcome
