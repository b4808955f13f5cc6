"""What a flow may ask of a transport, as values: bytes sent, a wait, a question, a turn, a file.

A flow yields an effect and is sent its result; a failure is thrown into it at the same place.
``yield from`` an effect gives the result with its type: ``reply = yield from Send(request)``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Generator, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar, overload

from typing_extensions import Self

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")

R = TypeVar("R")
T = TypeVar("T")

Steps = Generator["Effect[Any]", Any, T]
"""A course of effects that ends in a value."""


@dataclass(frozen=True, slots=True)
class Timeout:
    """Time-outs of one attempt, in seconds; None is no limit.

    Attributes:
        connect: To reach the service.
        read: Between two pieces of the reply.
        write: Between two pieces of the request.
        pool: To get a connection from the pool.
    """

    connect: float | None = 5.0
    read: float | None = 30.0
    write: float | None = 30.0
    pool: float | None = 5.0


@dataclass(slots=True)
class Request:
    """One HTTP request, whole. Nothing of it but method and route shows in a repr.

    Attributes:
        method: HTTP method.
        url: The whole address.
        headers: All headers that are not the HTTP library's own.
        content: The body.
        route: Path of the address, with ``{id}`` where an id stands.
        rpc_method: Method of the JSON-RPC message in it; None: there is none.
    """

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(default=None, repr=False)
    route: str = ""
    rpc_method: str | None = None


class Headers(Mapping[str, str]):
    """The headers of a reply: names without regard to case, no value in a repr."""

    __slots__ = ("_values",)

    def __init__(self, items: Iterable[tuple[str, str]]) -> None:
        self._values = {name.lower(): value for name, value in items}

    @classmethod
    def of(cls, values: dict[str, str]) -> Self:
        """Headers whose names are in lower case."""
        headers = cls(())
        headers._values = values
        return headers

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    @overload
    def get(self, key: str, /) -> str | None: ...
    @overload
    def get(self, key: str, /, default: str) -> str: ...
    @overload
    def get(self, key: str, /, default: T) -> str | T: ...
    def get(self, key: str, /, default: object = None) -> object:
        """The value of a header, or the default."""
        return self._values.get(key.lower(), default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({sorted(self)})"


@dataclass(frozen=True, slots=True)
class Head:
    """What comes before a reply's body."""

    status_code: int
    headers: Headers

    @property
    def request_id(self) -> str | None:
        """The service's id of the exchange, if it looks like one: it is logged."""
        named = self.headers.get("x-request-id") or ""
        return named if _REQUEST_ID.fullmatch(named) else None

    @property
    def media_type(self) -> str:
        """The media type of the body in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_redirect(self) -> bool:
        """Whether the status is 3xx."""
        return 300 <= self.status_code < 400  # noqa: PLR2004 -- the range is its name


@dataclass(frozen=True, slots=True)
class Reply(Head):
    """One HTTP reply, as far as it was read."""

    content: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status_code < 300  # noqa: PLR2004 -- the range is its name


class Listener(Protocol):
    """Follows a body while it is read, and says when enough was read."""

    def feed(self, head: Head, chunk: bytes) -> bool:
        """Take the next piece; True when no more is needed."""
        ...


class Effect(Generic[R]):
    """Something a transport performs."""

    __slots__ = ()

    def __iter__(self) -> Generator[Effect[Any], Any, R]:
        result: R = yield self
        return result


@dataclass(slots=True)
class Sending:
    """How far a request has got, by what the HTTP library tells.

    Attributes:
        is_handed_over: Whether the HTTP library has it.
        is_own: Whether it is a library of ours, which tells of every step.
        is_followed: Whether the library has told of a step.
        is_sent: Whether its first byte was about to leave.
    """

    is_handed_over: bool = False
    is_own: bool = False
    is_followed: bool = False
    is_sent: bool = False

    @property
    def may_have_left(self) -> bool:
        """Whether anything of it may have reached the service; what is not known counts."""
        if self.is_own or self.is_followed:
            return self.is_sent
        return self.is_handed_over


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
class Ask(Effect[T]):
    """Call a function of the caller's; what it gives is awaited where it can be.

    It is awaited until a moment of the monotonic clock. An error calls it by its argument.
    """

    function: Callable[[], T | Awaitable[T]]
    until: float | None = None
    argument: str = "function"


@dataclass(frozen=True, slots=True)
class Consult(Effect[T]):
    """Call a function that blocks for a while, such as a journal's.

    It is waited for until a moment of the monotonic clock, and goes on unheard after it.
    """

    function: Callable[[], T]
    until: float | None = None


@dataclass(frozen=True, slots=True)
class InTurn(Effect[R]):
    """Run steps while no other call of this client runs steps of the same key.

    The turn is waited for until a moment of the monotonic clock.
    """

    key: Hashable
    steps: Callable[[], Steps[R]] = field(repr=False)
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Together(Effect[R]):
    """Run steps once for everybody who asks for the same key meanwhile, in this process.

    Those who join have the result, or the error, until a moment of the monotonic clock.
    """

    key: Hashable = field(repr=False)
    steps: Callable[[], Steps[R]] = field(repr=False)
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Save(Effect[None]):
    """Put a file in its place, whole or not at all."""

    path: Path
    content: bytes = field(repr=False)
