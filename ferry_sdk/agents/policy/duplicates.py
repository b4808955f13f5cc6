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
class Doubt:
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
class Done:
    """A write that was done.

    Attributes:
        result: What it gave, short.
        made: The booking that it made, if it made one.
    """

    result: JsonValue = field(repr=False)
    made: str | None = None


class Repeats:
    """Remembers writes by what makes them the same; safe between threads."""

    def __init__(self) -> None:
        self._under_way: dict[str, str] = {}
        self._in_doubt: dict[str, Doubt] = {}
        self._done: OrderedDict[str, Done] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, key: str, subject: str) -> Doubt | None:
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
            if key in self._done:
                raise RefusedError(
                    "already_done", "this was done before", result=self._done[key].result
                )
            if key in self._in_doubt:
                return self._in_doubt[key]
            self._under_way[key] = subject
            return None

    def left(self, key: str) -> None:
        """Nothing of it was done, and it may begin again."""
        with self._lock:
            self._under_way.pop(key, None)

    def doubted(self, key: str, doubt: Doubt) -> None:
        """It may have happened."""
        with self._lock:
            self._in_doubt[key] = doubt
            self._under_way.pop(key, None)

    def done(self, key: str, done: Done) -> None:
        """It was done, as its answer or a later look says."""
        with self._lock:
            self._remember(key, done)

    def forget(self, booking_id: str) -> None:
        """What made a booking that is no more may be done again."""
        with self._lock:
            for key in [key for key, done in self._done.items() if done.made == booking_id]:
                del self._done[key]

    @property
    def unresolved(self) -> tuple[UnresolvedWrite, ...]:
        """The writes that may have happened, in the order in which they were sent."""
        with self._lock:
            return tuple(doubt.write for doubt in self._in_doubt.values())

    def settle(self, correlation_id: str, *, happened: bool) -> list[Doubt]:
        """A person has looked: it is as good as done, or may be made again.

        Raises:
            InvalidInputError: No write of that id is in doubt.
        """
        with self._lock:
            found = {
                key: doubt
                for key, doubt in self._in_doubt.items()
                if doubt.write.correlation_id == correlation_id
            }
            if not found:
                raise InvalidInputError("no write of it is unresolved", field="correlation_id")
            for key in found:
                if happened:
                    self._remember(key, Done(None))
                else:
                    del self._in_doubt[key]
            return list(found.values())

    def _remember(self, key: str, done: Done) -> None:
        self._in_doubt.pop(key, None)
        self._under_way.pop(key, None)
        self._done[key] = done
        while len(self._done) > REMEMBERED:
            self._done.popitem(last=False)
