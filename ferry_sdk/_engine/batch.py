"""Calls that consist of other calls, several of which are made at the same time.

A `Plan` is a flow that makes whole calls: it puts them into a `Batch` and yields `NextAnswer` for
the answer of whichever ends first. The sync transport makes the calls in threads, the async one in
tasks. A call that fails gives an answer with its error, so that the others go on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Generic, TypeVar

from ferry_sdk._engine.effects import Effect, Flow
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.settings import Settings
from ferry_sdk.errors import FerryError

K = TypeVar("K")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Plan(Generic[T_co]):
    """The description of a call that consists of other calls.

    Attributes:
        steps: Returns the flow, given the settings of the client or of its view.
    """

    steps: Callable[[Settings], Flow[T_co]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class BatchAnswer(Generic[K, T_co]):
    """How one call of a batch ended.

    Attributes:
        key: Names the call in its batch.
        value: Its result; None if it failed.
        error: Why it failed; None if it did not.
    """

    key: K
    value: T_co | None
    error: FerryError | None


@dataclass(frozen=True, slots=True)
class BatchCall(Generic[K, T_co]):
    """A call of a batch.

    Attributes:
        key: Names the call in its batch.
        call: What to call.
        changes: The settings that differ from those of the client.
    """

    key: K
    call: Operation[T_co] | Plan[T_co]
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True, eq=False)
class Batch(Generic[K, T]):
    """Calls to make, at most `limit` at the same time, in the order of `waiting`.

    Attributes:
        limit: How many calls may be under way at the same time.
        until: When the last of them ends, on the monotonic clock; None: no limit.
        waiting: The calls that have not begun.
        under_way: The keys of the calls that have begun and whose answers were not given yet,
            by a number.
        worker: The threads or tasks that make the calls; set by the transport. They begin calls
            at any time, so copy `waiting` and `under_way` before you iterate over them.
    """

    limit: int
    until: float | None = None
    waiting: deque[BatchCall[K, T]] = field(default_factory=deque[BatchCall[K, T]])
    under_way: dict[int, K] = field(default_factory=dict[int, K])
    worker: Any = None
    _numbers: count[int] = field(default_factory=count)

    def add(self, key: K, call: Operation[T] | Plan[T], **changes: object) -> None:
        """Add a call. It begins with the next `NextAnswer` that has room for it."""
        self.waiting.append(BatchCall(key, call, changes))

    def start_next(self, running: int) -> tuple[int, BatchCall[K, T]] | None:
        """Take the next call that may begin beside those that run; None if there is none."""
        is_past = self.until is not None and time.monotonic() >= self.until
        if not self.waiting or running >= self.limit or is_past:
            return None
        begun = self.waiting.popleft()
        number = next(self._numbers)
        self.under_way[number] = begun.key
        return number, begun

    def settings_of(self, begun: BatchCall[K, T], settings: Settings) -> Settings:
        """Return the settings of a call, given those of the client."""
        until = settings.until(self.until)
        return replace(until, **begun.changes) if begun.changes else until

    def answer(
        self, number: int, value: T | None, error: BaseException | None
    ) -> BatchAnswer[K, T]:
        """Return the answer of a call that ended.

        An error that is not a `FerryError` is raised, such as one of the user's token function.
        """
        key = self.under_way.pop(number)
        if error is not None and not isinstance(error, FerryError):
            raise error
        return BatchAnswer(key, value, error)

    def __len__(self) -> int:
        return len(self.waiting) + len(self.under_way)


@dataclass(frozen=True, slots=True)
class NextAnswer(Effect[T]):
    """Begin as many calls of a batch as its limit allows, and wait for the next answer.

    The result is a `BatchAnswer`, or None if `until` on the monotonic clock comes first.
    """

    batch: Batch[Any, Any]
    until: float | None = None


@dataclass(frozen=True, slots=True)
class StopBatch(Effect[None]):
    """Stop the calls of a batch that are under way, and begin no others."""

    batch: Batch[Any, Any]


def next_answer(batch: Batch[K, T]) -> Flow[BatchAnswer[K, T] | None]:
    """Return the next answer of a batch; None if its deadline comes first."""
    effect: NextAnswer[BatchAnswer[K, T] | None] = NextAnswer(batch, batch.until)
    return (yield from effect)


def stop_after_error(batch: Batch[Any, Any], steps: Flow[T]) -> Flow[T]:
    """Run steps that use a batch, and stop its calls if the steps fail or are interrupted."""
    try:
        return (yield from steps)
    except GeneratorExit:
        raise
    except BaseException:
        yield from StopBatch(batch)
        raise
