"""Effects: the I/O that a flow requests from a transport, as values.

A flow yields an effect and receives its result. If the effect fails, the transport throws the
error into the flow at the same place.
``yield from`` an effect gives the result with its type: ``reply = yield from Send(request)``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from ferry_sdk._engine.http import Listener, Reply, Request, Sending, Timeout

R = TypeVar("R")
T = TypeVar("T")

Flow = Generator["Effect[Any]", Any, T]
"""A generator that yields effects and returns a value."""


class Effect(Generic[R]):
    """An action that a transport performs."""

    __slots__ = ()

    def __iter__(self) -> Generator[Effect[Any], Any, R]:
        result: R = yield self
        return result


@dataclass(slots=True)
class Send(Effect[Reply]):
    """Send the request and read the reply, to its end or until the listener stops.

    The effect ends at `until` on the monotonic clock at the latest.
    """

    request: Request
    timeout: Timeout
    listener: Listener | None = None
    until: float | None = None
    sending: Sending = field(default_factory=Sending)


@dataclass(frozen=True, slots=True)
class Sleep(Effect[None]):
    """Wait for a number of seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CallUser(Effect[T]):
    """Call a function of the user, and await its result if it is awaitable.

    The await ends at `until` on the monotonic clock. `argument` is the name used in errors.
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
    """Run steps under a lock: no other call of this client runs steps of the same key.

    The wait for the lock ends at `until` on the monotonic clock.
    """

    key: Hashable
    steps: Callable[[], Flow[R]] = field(repr=False)
    until: float | None = None


@dataclass(frozen=True, slots=True)
class SingleFlight(Effect[R]):
    """Run steps once for all callers of this process that use the same key at the same time.

    Callers that join get the same result or error. They wait until `until` on the monotonic clock.
    """

    key: Hashable = field(repr=False)
    steps: Callable[[], Flow[R]] = field(repr=False)
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Save(Effect[None]):
    """Write a file atomically."""

    path: Path
    content: bytes = field(repr=False)
