"""Refuse a write that is in progress, is done, or may have happened.

A write is in one of three tables, by a key that is equal for equal writes:

1. `begin` puts it in ``under_way``. A second call for the same write is refused from here on.
2. `update` records the amount that counts for it. Just before the write is sent, it is called again
   with an `UnknownOutcome`, and records that the write may have happened.
3. `complete` moves it to ``completed`` once it was done, and `abandon` forgets it if it was not
   sent. If its outcome is not known, `mark_unknown` moves it to ``unknown``, where it stays until a
   person or a read tells what has become of it.

If a process ends in between, another one takes the write over: one that was not sent is forgotten,
one that was sent becomes one of unknown outcome. For example, a process dies while it sends a
booking. The next call for the same booking finds it in ``unknown`` and reads whether it was made.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from pydantic import JsonValue

from ferry_sdk._runtime.processes import has_ended, machine_id
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Hold
from ferry_sdk.agents.policy.known_ids import REMEMBERED
from ferry_sdk.agents.policy.state import State
from ferry_sdk.errors import InvalidInputError, OutcomeUnknownError
from ferry_sdk.types import RequestDigest

_PREPARED_FOR: Final = 600.0
"""Seconds after which another process may take over a write that was not sent."""
_SENT_FOR: Final = 120.0
"""Seconds after which another process counts a write that was sent as one of unknown outcome."""


@dataclass(frozen=True, slots=True)
class UnresolvedWrite:
    """A write of an agent that may have happened.

    Attributes:
        tool: The tool that was called.
        subject: The ids of what the write changes or books.
        correlation_id: The id that the request carried.
        at: When it was sent, UTC.
        amount: The price or the penalty that was approved.
        currency: The currency of `amount`.
        booking_id: The booking that the failed reply of a create named; None if it named none.
    """

    tool: str
    subject: Mapping[str, str] = field(hash=False)
    correlation_id: str
    at: datetime
    amount: Decimal
    currency: str
    booking_id: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownOutcome:
    """A write that may have happened.

    Attributes:
        write: The write.
        hold: The amount that is counted for it.
        entry_id: Its entry in the journal, if there is one.
    """

    write: UnresolvedWrite
    hold: Hold | None
    entry_id: str | None = None

    @property
    def error(self) -> OutcomeUnknownError:
        """The error with which `recover` reads its effect back."""
        operation = self.write.tool.replace("_", ".", 1)  # bookings_create is bookings.create
        error = OutcomeUnknownError(
            f"{operation} may have happened",
            request=RequestDigest("POST", "", ""),
            subject=self.write.subject,
            entry_id=self.entry_id,
            booking_id=self.write.booking_id,
        )
        error.operation = operation
        error.correlation_id = self.write.correlation_id
        return error


@dataclass(frozen=True, slots=True)
class WriteInProgress:
    """A write that a toolkit prepares or sends.

    Attributes:
        target_id: The booking or ticket that it changes.
        owner: Identifies the toolkit.
        pid: Its process.
        until: When other processes may take it over; seconds since the epoch.
        machine: Identifies the processes among which `pid` is unique, if that is known.
        hold: The amount that is counted for it.
        unknown: Its record from the moment when it is sent.
    """

    target_id: str
    owner: str
    pid: int
    until: float
    machine: str | None = None
    hold: Hold | None = None
    unknown: UnknownOutcome | None = None


@dataclass(frozen=True, slots=True)
class CompletedWrite:
    """A write that was done.

    Attributes:
        result: The short view of its result.
        booking_id: The booking that it made, if any.
        choice: What was chosen for it; see `Identity`.
    """

    result: JsonValue = field(repr=False)
    booking_id: str | None = None
    choice: str = ""


class Duplicates:
    """Remember writes by their identity; safe to share between threads.

    The last `REMEMBERED` completed ones are kept; unresolved ones are never forgotten. `release`
    is called with the amount of a write that was prepared and not sent.
    """

    def __init__(self, state: State, release: Callable[[Hold], None]) -> None:
        self._state = state
        self._release = release
        self._owner = secrets.token_hex(8)
        self._under_way = state.table("under_way", WriteInProgress)
        self._unknown = state.table("unknown", UnknownOutcome)
        self._completed = state.table("completed", CompletedWrite, REMEMBERED)

    def begin(self, key: str, target_id: str, choice: str = "") -> UnknownOutcome | None:
        """Register a write, or return the earlier write with this key if it may have happened.

        Only one write changes a target, which is a booking or a ticket, at a time. Writes of
        different tools block each other only while they are in progress: an agent may cancel a
        booking whose confirmation is unresolved.

        Raises:
            RefusedError: The write is in progress, or done, perhaps with another choice.
        """
        with self._state.transaction():
            self._take_over()
            busy = {write.target_id for write in self._under_way.values()}
            if key in self._under_way or target_id in busy:
                raise RefusedError("under_way")

            done = self._completed.get(key)
            # A booking that a person has settled has no choice on record.
            if done is not None and done.choice not in {"", choice}:
                raise RefusedError("booked_otherwise", done.choice, choice, result=done.result)
            if done is not None:
                raise RefusedError("already_done", result=done.result)

            if key in self._unknown:
                return self._unknown[key]
            self._under_way[key] = WriteInProgress(
                target_id=target_id,
                owner=self._owner,
                pid=os.getpid(),
                until=time.time() + _PREPARED_FOR,
                machine=machine_id(),
            )
            return None

    def update(self, key: str, hold: Hold | None, unknown: UnknownOutcome | None = None) -> None:
        """Record the amount of a write in progress, and with `unknown` that it is being sent.

        Raises:
            RefusedError: Another process has taken it over.
        """
        with self._state.transaction():
            write = self._under_way.get(key)
            if write is None or write.owner != self._owner:
                raise RefusedError("took_too_long")
            until = write.until if unknown is None else time.time() + _SENT_FOR
            self._under_way[key] = replace(write, hold=hold, until=until, unknown=unknown)

    def _take_over(self) -> None:
        """Conclude the writes of processes that have ended."""
        now = time.time()
        for key, write in tuple(self._under_way.items()):
            # A moment that no write has so early: the clock was set back, or another is ahead.
            is_of_future = write.until > now + max(_PREPARED_FOR, _SENT_FOR)
            is_late = now >= write.until or is_of_future
            has_expired = is_late or has_ended(write.pid, write.machine)
            if write.owner == self._owner or not has_expired:
                continue

            del self._under_way[key]
            if write.unknown is not None:
                self._unknown[key] = write.unknown
            elif write.hold is not None:
                self._release(write.hold)

    def abandon(self, key: str) -> None:
        """Forget a write that was not sent, and release its amount, unless it was taken over."""
        with self._state.transaction():
            write = self._under_way.get(key)
            if write is not None and write.owner == self._owner:
                del self._under_way[key]
                if write.hold is not None:
                    self._release(write.hold)

    def mark_unknown(
        self, key: str, correlation_id: str, entry_id: str | None, booking_id: str | None
    ) -> None:
        """Record that a write that was sent may have happened, and the booking that is named."""
        with self._state.transaction():
            write = self._under_way.pop(key, None)
            unknown = self._unknown.get(key) if write is None else write.unknown
            if unknown is not None:
                sent = replace(unknown.write, correlation_id=correlation_id, booking_id=booking_id)
                self._unknown[key] = replace(unknown, write=sent, entry_id=entry_id)

    def complete(self, key: str, write: CompletedWrite) -> None:
        """Record that a write was done."""
        with self._state.transaction():
            self._unknown.pop(key, None)
            self._under_way.pop(key, None)
            self._completed[key] = write

    def forget(self, booking_id: str) -> None:
        """Allow the write that made this booking to be made again."""
        with self._state.transaction():
            for key, write in tuple(self._completed.items()):
                if write.booking_id == booking_id:
                    del self._completed[key]

    @property
    def unresolved(self) -> tuple[UnresolvedWrite, ...]:
        """The writes that may have happened, in the order in which they were sent."""
        with self._state.transaction():
            self._take_over()
            return tuple(unknown.write for unknown in self._unknown.values())

    def settle(self, correlation_id: str, *, happened: bool) -> None:
        """Record a person's answer: the write counts as done, or may be made again.

        A new booking is not known here by its id, so its price is released; it counts again when
        the booking is confirmed.

        Raises:
            InvalidInputError: No unresolved write has this id.
        """
        with self._state.transaction():
            self._take_over()
            settled = {
                key: unknown
                for key, unknown in self._unknown.items()
                if unknown.write.correlation_id == correlation_id
            }
            if not settled:
                raise InvalidInputError("no unresolved write has this id", field="correlation_id")

            for key, unknown in settled.items():
                if not happened:
                    self.rule_out(key)
                    continue
                if unknown.hold is not None and unknown.write.tool == "bookings_create":
                    self._release(unknown.hold)
                self.complete(key, CompletedWrite(None, unknown.write.booking_id))

    def rule_out(self, key: str) -> None:
        """Record that a write that may have happened did not: it may be made again.

        Its correlation id does not do in place of the key, because other writes may have the same.
        """
        with self._state.transaction():
            unknown = self._unknown.pop(key, None)
            if unknown is not None and unknown.hold is not None:
                self._release(unknown.hold)
