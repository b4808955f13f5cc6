"""Calls that consist of other calls, several of which are made at the same time.

A `Plan` is a flow that makes whole calls: it puts them into a `Batch` and yields `NextAnswer` for
the answer of whichever ends first. The sync transport makes the calls in threads, the async one in
tasks. A call that fails gives an answer with its error, so that the others go on. For example, a
plan that searches two days:

    batch = Batch[date, Records[Sailing]]()
    batch.add(monday, search_of(monday))
    batch.add(tuesday, search_of(tuesday))
    while batch:
        answer = yield from next_answer(batch)  # begins both; the first result or error
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, Generic, TypeVar

from ferry_sdk._engine.effects import E, Effect, Flow, R, T
from ferry_sdk._engine.http import RawResponse, T_co
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.settings import Settings
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.errors import FerryError, trim

K = TypeVar("K")

CONCURRENCY: Final = 8
"""How many calls are under way at the same time, unless the user sets another number."""


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
        began_at: When it began, in seconds since the epoch.
    """

    key: K
    value: T_co | None
    error: FerryError | None
    began_at: float


@dataclass(slots=True)
class BatchCall(Generic[K, T_co]):
    """A call of a batch.

    Attributes:
        key: Names the call in its batch.
        call: What to call.
        changes: The settings that differ from those of the client.
        is_raw: Whether the result comes with its HTTP reply.
        began_at: When it began, in seconds since the epoch.
    """

    key: K
    call: Operation[Any] | Plan[T_co]
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_raw: bool = False
    began_at: float = 0.0

    def make(self, transport: Any) -> Any:  # noqa: ANN401 -- of threads or of tasks
        """Make the call; a transport for tasks returns a coroutine."""
        if self.is_raw:
            return transport.answer(self.call)
        return transport.run(self.call)


@dataclass(slots=True, eq=False)
class Batch(Generic[K, T]):
    """Calls to make, at most `limit` at the same time, in the order of `waiting`.

    Attributes:
        limit: How many calls may be under way at the same time.
        until: When the last of them ends, on the monotonic clock; None: no limit.
        waiting: The calls that have not begun.
        under_way: The calls that have begun and whose answers were not given yet, by a number.
        worker: The threads or tasks that make the calls; set by the transport. They begin calls
            at any time, so copy `waiting` and `under_way` before you iterate over them.
    """

    limit: int = CONCURRENCY
    until: float | None = None
    waiting: deque[BatchCall[K, T]] = field(default_factory=deque[BatchCall[K, T]])
    under_way: dict[int, BatchCall[K, T]] = field(default_factory=dict[int, BatchCall[K, T]])
    worker: Any = None
    _numbers: count[int] = field(default_factory=count)

    def add(self, key: K, call: Operation[T] | Plan[T], **changes: object) -> None:
        """Add a call. It begins with the next `NextAnswer` that has room for it."""
        self.waiting.append(BatchCall(key, call, changes))

    def add_raw(
        self: Batch[K, RawResponse[R]], key: K, call: Operation[R], **changes: object
    ) -> None:
        """Add a call whose result comes with its HTTP reply."""
        self.waiting.append(BatchCall(key, call, changes, is_raw=True))

    def start_next(self, running: int) -> tuple[int, BatchCall[K, T]] | None:
        """Take the next call that may begin beside those that run; None if there is none."""
        is_past = self.until is not None and monotonic() >= self.until
        if not self.waiting or running >= self.limit or is_past:
            return None

        begun = self.waiting.popleft()
        number = next(self._numbers)
        begun.began_at = time.time()
        self.under_way[number] = begun
        return number, begun

    def settings_of(self, begun: BatchCall[K, T], settings: Settings) -> Settings:
        """Return the settings of a call, given those of the client.

        The deadline is `until`. A call with changes has its own deadline if that is earlier.
        """
        changes = dict(begun.changes)
        if self.until is not None:
            deadline = max(0.0, self.until - monotonic())
            own = changes.get("deadline", settings.deadline) if changes else None
            if own is not None:
                deadline = min(deadline, own)
            changes["deadline"] = deadline

        return replace(settings, **changes) if changes else settings

    def answer(
        self, number: int, value: T | None, error: BaseException | None
    ) -> BatchAnswer[K, T]:
        """Return the answer of a call that ended.

        An error that is not a `FerryError` is raised, such as one of the user's token function.
        """
        begun = self.under_way.pop(number)
        if error is not None and not isinstance(error, FerryError):
            raise error

        failure = None if error is None else trim(error)
        return BatchAnswer(key=begun.key, value=value, error=failure, began_at=begun.began_at)

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


def all_answers(batch: Batch[K, T]) -> Flow[list[BatchAnswer[K, T]]]:
    """Return the answers of a batch without a deadline, in the order of its calls."""
    return stop_after_error(batch, _all_answers(batch))


def _all_answers(batch: Batch[K, T]) -> Flow[list[BatchAnswer[K, T]]]:
    keys = [call.key for call in batch.waiting]
    answers: dict[K, BatchAnswer[K, T]] = {}
    while batch:
        answer = yield from next_answer(batch)
        assert answer is not None  # noqa: S101 -- there is no deadline
        answers[answer.key] = answer
    return [answers[key] for key in keys]


def stop_after_error(
    batch: Batch[Any, Any], steps: Generator[E, Any, T]
) -> Generator[E | Effect[Any], Any, T]:
    """Run steps that use a batch, and stop its calls if the steps fail or are interrupted."""
    try:
        return (yield from steps)
    except GeneratorExit:
        raise
    except BaseException:
        yield from StopBatch(batch)
        raise
