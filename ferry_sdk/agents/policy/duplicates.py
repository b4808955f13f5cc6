"""The same write is not made twice: not at once, not after it was done, not while in doubt."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Hold
from ferry_sdk.errors import InvalidInputError, OutcomeUnknownError

REMEMBERED = 10_000
"""Writes that are remembered as done; those in doubt all are."""


@dataclass(frozen=True, slots=True)
class UnresolvedWrite:
    """A write of an agent's that may have happened.

    Attributes:
        tool: The tool that was called.
        subject: The ids of what was to be changed, or of what was to be booked.
        correlation_id: The id that the request carried.
        at: When it was sent, UTC.
        amount: What was approved: a price, or a penalty.
        currency: Its currency.
    """

    tool: str
    subject: Mapping[str, str] = field(hash=False)
    correlation_id: str
    at: datetime
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class UnknownOutcome:
    """What a toolkit has to know of a write that may have happened.

    Attributes:
        write: What is told of it.
        error: What it ended in; `recover` reads its effect back where a read shows it.
        hold: The money that is counted for it.
    """

    write: UnresolvedWrite
    error: OutcomeUnknownError = field(repr=False)
    hold: Hold | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class CompletedWrite:
    """A write that was done.

    Attributes:
        result: What it gave, short.
        made: The booking that it made, if it made one.
    """

    result: JsonValue = field(repr=False)
    booking_id: str | None = None


class Duplicates:
    """Remembers writes by what makes them the same; safe between threads."""

    def __init__(self) -> None:
        self._under_way: dict[str, str] = {}
        self._unknown: dict[str, UnknownOutcome] = {}
        self._completed: OrderedDict[str, CompletedWrite] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, key: str, subject: str) -> UnknownOutcome | None:
        """Begin a write, unless it has been made or may have been.

        Writes of different tools hold each other back only while they are under way: cancelling
        what may have been confirmed is the way out of not knowing.

        Args:
            key: What makes it the same.
            subject: The booking or ticket that it changes; two changes are not made at once.

        Returns:
            The same write's doubt, where it may have happened; then nothing was begun.

        Raises:
            RefusedError: It is under way, or done.
        """
        with self._lock:
            if key in self._under_way or subject in self._under_way.values():
                raise RefusedError("under_way", "a write of the same is under way")
            if key in self._completed:
                raise RefusedError(
                    "already_done", "this was done before", result=self._completed[key].result
                )
            if key in self._unknown:
                return self._unknown[key]
            self._under_way[key] = subject
            return None

    def abandon(self, key: str) -> None:
        """Nothing of it was done, and it may begin again."""
        with self._lock:
            self._under_way.pop(key, None)

    def mark_unknown(self, key: str, unknown: UnknownOutcome) -> None:
        """It may have happened."""
        with self._lock:
            self._unknown[key] = unknown
            self._under_way.pop(key, None)

    def complete(self, key: str, write: CompletedWrite) -> None:
        """It was done, as its answer or a later look says."""
        with self._lock:
            self._add_completed(key, write)

    def forget(self, booking_id: str) -> None:
        """What made a booking that is no more may be done again."""
        with self._lock:
            for key in [
                key for key, write in self._completed.items() if write.booking_id == booking_id
            ]:
                del self._completed[key]

    @property
    def unresolved(self) -> tuple[UnresolvedWrite, ...]:
        """The writes that may have happened, in the order in which they were sent."""
        with self._lock:
            return tuple(unknown.write for unknown in self._unknown.values())

    def settle(self, correlation_id: str, *, happened: bool) -> list[UnknownOutcome]:
        """A person has looked: it is as good as done, or may be made again.

        Raises:
            InvalidInputError: No write of that id is in doubt.
        """
        with self._lock:
            found = {
                key: unknown
                for key, unknown in self._unknown.items()
                if unknown.write.correlation_id == correlation_id
            }
            if not found:
                raise InvalidInputError("no write of it is unresolved", field="correlation_id")
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
        while len(self._completed) > REMEMBERED:
            self._completed.popitem(last=False)
