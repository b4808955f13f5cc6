"""Effects: the I/O that a flow requests from a transport, as values.

A flow yields an effect and receives its result. If the effect fails, the error is thrown into the
flow at the same place: `drive` and `drive_async` do both.
``yield from`` an effect gives the result with its type: ``reply = yield from Send(request)``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from ferry_sdk._engine.http import Listener, Reply, Request, Timeout
from ferry_sdk._engine.sending import Sending

E = TypeVar("E")
R = TypeVar("R")
T = TypeVar("T")

Flow = Generator["Effect[Any]", Any, T]
"""A generator that yields effects and returns a value."""


Steps = Generator["Effect[Any] | Item[T]", Any, None]
"""A generator that yields effects, and items for the caller of a stream."""


class Effect(Generic[R]):
    """An action that a transport performs."""

    __slots__ = ()

    def __iter__(self) -> Generator[Effect[Any], Any, R]:
        result: R = yield self
        return result


@dataclass(slots=True)
class Send(Sending, Effect[Reply]):
    """Send the request and read the reply, to its end or until the listener stops.

    Attributes:
        request: The request.
        timeout: Its timeouts.
        listener: Receives the body while it is read.
        until: When the effect ends at the latest, on the monotonic clock.
        is_unproven: Whether the request is a write that no read proves, so that it must not leave
            on a connection that the service may be about to close.
    """

    request: Request
    timeout: Timeout
    listener: Listener | None = None
    until: float | None = None
    is_unproven: bool = False


class Signal:
    """Calls functions once it is set, from whichever thread sets it."""

    def __init__(self) -> None:
        self.is_set: bool = False
        self._callbacks: set[Callable[[], object]] = set()

    @contextmanager
    def call(self, function: Callable[[], object]) -> Generator[None]:
        """Call a function if the signal is set within the block."""
        self._callbacks.add(function)
        try:
            if self.is_set:
                function()
            yield
        finally:
            self._callbacks.discard(function)

    def set(self) -> None:
        """Set the signal."""
        self.is_set = True
        for function in [*self._callbacks]:
            function()


@dataclass(frozen=True, slots=True)
class Sleep(Effect[None]):
    """Wait for a number of seconds, or until a signal is set."""

    seconds: float
    signal: Signal | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class CheckOpen(Effect[None]):
    """Raise a `ConfigurationError` if the client is closed, or the batch of the call is stopped."""


@dataclass(slots=True)
class CallUser(Effect[T]):
    """Call a function of the user, and await its result if it is awaitable.

    The await ends at `until` on the monotonic clock. `argument` is the name used in errors. It is
    not frozen, which would take three times as long to create: each hook of a call needs one.
    """

    function: Callable[[], T | Awaitable[T]]
    until: float | None = None
    argument: str = "function"


@dataclass(frozen=True, slots=True)
class RunBlocking(Effect[T]):
    """Call a function that blocks, such as one of a journal.

    Attributes:
        function: The function. It runs to its end, even if nobody waits for it any more.
        until: When the caller stops waiting, on the monotonic clock.
        may_be_interrupted: Whether an interruption of the caller may stop the function.
    """

    function: Callable[[], T]
    until: float | None = None
    may_be_interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Exclusive(Effect[R]):
    """Run steps under the lock of an object: no other call runs steps of the same one.

    The lock goes with the object. The wait for the lock ends at `until` on the monotonic clock.
    """

    key: object
    steps: Callable[[], Flow[R]] = field(repr=False)
    until: float | None = None


@dataclass(slots=True)
class SingleFlight(Effect[R]):
    """Run steps once for all callers of this process that use the same key at the same time.

    It is not frozen, for the same reason as `CallUser`.

    Attributes:
        key: What the callers have in common.
        steps: Returns the steps, which run in the caller that is first.
        until: When the caller stops waiting for those of another, on the monotonic clock.
        may_run_again: Whether, if the steps of one caller fail or are interrupted, another that
            waits runs its own. Otherwise all of them get the error.
    """

    key: Hashable = field(repr=False)
    steps: Callable[[], Flow[R]] = field(repr=False)
    until: float | None = None
    may_run_again: bool = False


@dataclass(frozen=True, slots=True)
class Save(Effect[None]):
    """Write a file atomically."""

    path: Path
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """A result that steps give to the caller of a stream; they go on when the next is wanted."""

    value: T


def next_item(steps: Steps[T]) -> Flow[Item[T] | None]:
    """Go on with steps until they give an item, and return it; None at their end."""
    try:
        step = next(steps)
        while not isinstance(step, Item):
            try:
                result = yield step
            except BaseException as error:  # noqa: BLE001 -- the steps handle it
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration:
        return None
    return step


def drive(flow: Generator[E, Any, T], perform: Callable[[E], object]) -> T:
    """Perform each effect of a generator, send the results or errors into it, return its value.

    It throws every `BaseException` into the generator, so that an interrupted write is recorded.
    """
    try:
        effect = next(flow)

        while True:
            try:
                result = perform(effect)
            except BaseException as error:  # noqa: BLE001 -- the flow handles it
                effect = flow.throw(error)
            else:
                effect = flow.send(result)

    except StopIteration as end:  # the generator has returned
        value: T = end.value
        return value
    finally:
        flow.close()


async def drive_async(
    flow: Generator[E, Any, T],
    perform: Callable[[E], Awaitable[object]],
    perform_shielded: Callable[[E], Awaitable[object]],
) -> T:
    """Do the same with effects that are awaited.

    After a cancellation `perform_shielded` performs the remaining effects, so that a cancelled
    write is still recorded.
    """
    try:
        effect = next(flow)

        while True:
            try:
                result = await perform(effect)
            except GeneratorExit:  # the event loop has ended, so nothing can be awaited
                raise
            except BaseException as error:  # noqa: BLE001 -- the flow handles it
                if not isinstance(error, Exception):
                    perform = perform_shielded
                effect = flow.throw(error)
            else:
                effect = flow.send(result)

    except StopIteration as end:  # the generator has returned
        value: T = end.value
        return value
    finally:
        flow.close()
