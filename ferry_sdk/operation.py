"""A call described and not yet made, with its row of the safety table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from .answers import Answer
from .effects import Reply, Steps
from .errors import RequestDigest
from .safety import Safety
from .session import McpSession
from .settings import Settings

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Context:
    """What one attempt of a call is made with.

    Attributes:
        settings: The client's settings.
        headers: The conventions every request to the service carries, without authorisation.
        session: The client's MCP session.
        clock: Monotonic seconds.
    """

    settings: Settings
    headers: Mapping[str, str] = field(repr=False)
    session: McpSession
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back: the decoded JSON value, and the reply it stood in."""

    value: object = field(repr=False)
    reply: Reply


class Call(Protocol):
    """What is said to the service, in one of its languages."""

    def exchange(self, context: Context) -> Steps[Answered]:
        """Say it once, and give the decoded answer or raise the named error."""
        ...

    def digest(self) -> RequestDigest:
        """Which request it is, without its content."""
        ...

    def secrets(self) -> frozenset[str]:
        """Texts of the request that no message may repeat."""
        ...


@dataclass(frozen=True, slots=True)
class Operation(Generic[T_co]):
    """A call described and not yet made.

    Attributes:
        call: What is said to the service.
        answer: What the decoded answer is read as.
        safety: What may be done when it goes wrong.
    """

    call: Call = field(repr=False)
    answer: Answer[T_co]
    safety: Safety

    @property
    def name(self) -> str:
        """The operation's public name."""
        return self.safety.operation
