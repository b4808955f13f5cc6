"""Refuse a write that is in progress, is done, or may have happened."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Hold
from ferry_sdk.agents.policy.known_ids import REMEMBERED, Recent
from ferry_sdk.errors import InvalidInputError, OutcomeUnknownError


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
    """

    tool: str
    subject: Mapping[str, str] = field(hash=False)
    correlation_id: str
    at: datetime
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class UnknownOutcome:
    """A write that may have happened, with the error with which `recover` reads its effect back."""

    write: UnresolvedWrite
    error: OutcomeUnknownError = field(repr=False)
    hold: Hold | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class CompletedWrite:
    """A write that was done: the short view of its result, and the booking that it made, if any."""

    result: JsonValue = field(repr=False)
    booking_id: str | None = None


class Duplicates:
    """Remember writes by their identity; safe to share between threads.

    The last `REMEMBERED` completed ones are kept; unresolved ones are never forgotten.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, str] = {}
        self._unknown: dict[str, UnknownOutcome] = {}
        self._completed = Recent[str, CompletedWrite](REMEMBERED)
        self._lock = threading.Lock()

    def begin(self, key: str, subject: str) -> UnknownOutcome | None:
        """Register a write, or return the earlier write with this key if it may have happened.

        Only one write changes a `subject`, a booking or ticket, at a time. Writes of different
        tools block each other only while they are in progress: an agent may cancel a booking whose
        confirmation is unresolved.

        Raises:
            RefusedError: The write is in progress, or done.
        """
        with self._lock:
            if key in self._under_way or subject in self._under_way.values():
                raise RefusedError(
                    "under_way", "another write for the same booking or ticket is in progress"
                )
            if key in self._completed:
                raise RefusedError(
                    "already_done", "this was done before", result=self._completed[key].result
                )
            if key in self._unknown:
                return self._unknown[key]
            self._under_way[key] = subject
            return None

    def abandon(self, key: str) -> None:
        """Forget a write that was not sent."""
        with self._lock:
            self._under_way.pop(key, None)

    def mark_unknown(self, key: str, unknown: UnknownOutcome) -> None:
        """Record that a write may have happened."""
        with self._lock:
            self._unknown[key] = unknown
            self._under_way.pop(key, None)

    def complete(self, key: str, write: CompletedWrite) -> None:
        """Record that a write was done."""
        with self._lock:
            self._add_completed(key, write)

    def forget(self, booking_id: str) -> None:
        """Allow the write that made this booking to be made again."""
        with self._lock:
            for key, write in tuple(self._completed.items()):
                if write.booking_id == booking_id:
                    del self._completed[key]

    @property
    def unresolved(self) -> tuple[UnresolvedWrite, ...]:
        """The writes that may have happened, in the order in which they were sent."""
        with self._lock:
            return tuple(unknown.write for unknown in self._unknown.values())

    def settle(self, correlation_id: str, *, happened: bool) -> list[UnknownOutcome]:
        """Record a person's answer: the write counts as done, or may be made again.

        Raises:
            InvalidInputError: No unresolved write has this id.
        """
        with self._lock:
            found = {
                key: unknown
                for key, unknown in self._unknown.items()
                if unknown.write.correlation_id == correlation_id
            }
            if not found:
                raise InvalidInputError("no unresolved write has this id", field="correlation_id")
            for key in found:
                if happened:
                    self._add_completed(key, CompletedWrite(None))
                else:
                    del self._unknown[key]
            return list(found.values())

    def _add_completed(self, key: str, write: CompletedWrite) -> None:
        self._unknown.pop(key, None)
        self._under_way.pop(key, None)
        self._completed[key] = write
