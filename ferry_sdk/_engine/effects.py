"""What a flow may ask of a transport, as values: bytes sent, a wait, a question, a turn, a file.

A flow yields an effect and is sent its result; a failure is thrown into it at the same place.
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
"""A course of effects that ends in a value."""


class Effect(Generic[R]):
    """Something a transport performs."""

    __slots__ = ()

    def __iter__(self) -> Generator[Effect[Any], Any, R]:
        result: R = yield self
        return result


@dataclass(slots=True)
class Send(Effect[Reply]):
    """Send the request and read the reply, to its end or to where the listener has enough.

    Whatever becomes of it, it is over at the moment `until`, on the monotonic clock.
    """

    request: Request
    timeout: Timeout
    listener: Listener | None = None
    until: float | None = None
    sending: Sending = field(default_factory=Sending)


@dataclass(frozen=True, slots=True)
class Sleep(Effect[None]):
    """Wait for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CallUser(Effect[T]):
    """Call a function of the caller's; what it gives is awaited where it can be.

    It is awaited until a moment of the monotonic clock. An error calls it by its argument.
    """

    function: Callable[[], T | Awaitable[T]]
    until: float | None = None
    argument: str = "function"


@dataclass(frozen=True, slots=True)
class RunBlocking(Effect[T]):
    """Call a function that blocks for a while, such as a journal's.

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
    """Run steps while no other call of this client runs steps of the same key.

    The turn is waited for until a moment of the monotonic clock.
    """

    key: Hashable
    steps: Callable[[], Flow[R]] = field(repr=False)
    until: float | None = None


@dataclass(frozen=True, slots=True)
class SingleFlight(Effect[R]):
    """Run steps once for everybody who asks for the same key meanwhile, in this process.

    Those who join have the result, or the error, until a moment of the monotonic clock.
    """

    key: Hashable = field(repr=False)
    steps: Callable[[], Flow[R]] = field(repr=False)
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Save(Effect[None]):
    """Put a file in its place, whole or not at all."""

    path: Path
    content: bytes = field(repr=False)
