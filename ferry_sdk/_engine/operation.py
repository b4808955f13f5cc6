"""A call described and not yet made, with its row of the safety table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.http import Reply
from ferry_sdk._engine.parsing import Answer
from ferry_sdk._engine.settings import Authority
from ferry_sdk.safety import Safety
from ferry_sdk.types import RequestDigest

T_co = TypeVar("T_co", covariant=True)


@dataclass(slots=True)
class DecodedReply:
    """What came back: the decoded JSON value, and the reply it stood in."""

    value: object = field(repr=False)
    reply: Reply


class Call(Protocol):
    """What is said to the service, in one of its languages."""

    @property
    def authority(self) -> Authority:
        """Whose token it carries."""
        ...

    def exchange(self, context: Context) -> Flow[DecodedReply]:
        """Say it once, and give the decoded answer or raise the named error."""
        ...

    def digest(self) -> RequestDigest:
        """Which request it is, without its content."""
        ...

    def secrets(self) -> frozenset[str]:
        """Texts of the request that no message may repeat."""
        ...


@dataclass(frozen=True, slots=True)
class ReadBack(Generic[T_co]):
    """How the result of a write is read back where its reply was lost.

    Attributes:
        reading: The read that shows the effect.
        shows: Whether what was read shows it.
        result: The write's result, made of what was read.
    """

    reading: Operation[Any]
    shows: Callable[[Any], bool]
    result: Callable[[Any], T_co]


@dataclass(frozen=True, slots=True)
class Guard(Generic[T_co]):
    """What is read before a write leaves, and may hold it back.

    Attributes:
        reading: The read.
        judge: Raises where the write must not leave.
        conclude: The write's result, in the light of what was read before.
    """

    reading: Operation[Any]
    judge: Callable[[Any], None]
    conclude: Callable[[Any, Any], T_co]


@dataclass(frozen=True, slots=True)
class Write(Generic[T_co]):
    """What is known of a write beyond its request.

    Attributes:
        identity: What makes two writes the same, in the words of either protocol.
        subject: The ids of what is to be changed; empty where it is to be made.
        read_back: How its result is read back; None where no read shows its effect.
        guard: What is read before it leaves.
        expiries: Until when it makes sense, by the argument that says so.
    """

    identity: Mapping[str, object] = field(repr=False)
    subject: Mapping[str, str] = field(default_factory=dict[str, str])
    read_back: ReadBack[T_co] | None = None
    guard: Guard[T_co] | None = None
    expiries: Mapping[str, datetime] = field(default_factory=dict[str, datetime])


@dataclass(frozen=True, slots=True)
class Wait:
    """A read that is made again until enough is seen.

    Attributes:
        seconds: How long at the most.
        until: Whether what was read is what is waited for.
        is_final: Whether what was read rules out that it ever comes.
        due_times: The moments at which what was read is due to change.
        on_progress: Told of everything that is read.
    """

    seconds: float
    until: Callable[[Any], bool]
    is_final: Callable[[Any], bool]
    due_times: Callable[[Any], Iterable[datetime]]
    on_progress: Callable[[Any], Awaitable[None] | None] | None = None


@dataclass(frozen=True, slots=True)
class Operation(Generic[T_co]):
    """A call described and not yet made.

    Attributes:
        call: What is said to the service.
        answer: What the decoded answer is read as.
        safety: What may be done when it goes wrong.
        write: What is known of a write beyond its request.
        wait: How it is made again until enough is seen.
    """

    call: Call = field(repr=False)
    answer: Answer[T_co]
    safety: Safety
    write: Write[T_co] | None = None
    wait: Wait | None = None

    @property
    def name(self) -> str:
        """The operation's public name."""
        return self.safety.operation
