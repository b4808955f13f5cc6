"""`Operation`: the description of a call, with its row of the safety table."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, Protocol, TypeVar, cast

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.http import Reply, T_co
from ferry_sdk._engine.parsing import Answer
from ferry_sdk._engine.safety import Safety
from ferry_sdk._engine.settings import Authority
from ferry_sdk.types import IdempotencyKey, RequestDigest

T = TypeVar("T")

_LONGEST_NAME: Final = 1000
"""Characters of a text that is composed, whose time can be quadratic. No name is as long."""
_LONGEST_BODY: Final = 10_000
"""Characters of a body that is checked as a whole, for the same reason."""


class Call(Protocol):
    """A request in one of the service's protocols.

    `authority` says which token it carries. `send` sends it once, and returns the parsed value and
    its reply, or raises its error. `digest` identifies it without its content. `secrets` has its
    texts that no message may contain.
    """

    @property
    def authority(self) -> Authority: ...

    def send(self, context: Context, parse: Callable[[object], T]) -> Flow[tuple[T, Reply]]: ...

    def digest(self) -> RequestDigest: ...

    def secrets(self) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class ReadBack(Generic[T_co]):
    """How to read back the result of a write whose reply was lost.

    Attributes:
        reading: The read that shows the effect.
        shows: Returns whether a record shows the effect.
        result: Makes the result of the write from that record.
        complete: Adds to that result what the unreadable reply says beside it; None: nothing.
    """

    reading: Operation[Any]
    shows: Callable[[Any], bool]
    result: Callable[[Any], T_co]
    complete: Callable[[Any, object], T_co] | None = None


@dataclass(frozen=True, slots=True)
class Guard(Generic[T_co]):
    """A check before a write is sent, which may prevent it.

    Attributes:
        reading: The read.
        judge: Raises if the write must not be sent.
        conclude: Makes the final result from the write's result and the record read before.
        suggests: Returns whether the record suggests that the effect is there already, so that the
            read-back is made and decides. None: the guard reads the record of the read-back.
    """

    reading: Operation[Any]
    judge: Callable[[Any], None]
    conclude: Callable[[Any, Any], T_co]
    suggests: Callable[[Any], bool] | None = None


@dataclass(slots=True)
class Write(Generic[T_co]):
    """What the library knows about a write besides its request.

    Attributes:
        identity: Equal for two writes that do the same, in either protocol; JSON may be encoded,
            which takes less memory while a call is in flight.
        subject: The ids of what is changed; empty if something is created.
        read_back: How to read its result back; None if no read shows its effect.
        read_back_named: How to read back what a create made, by the id of the booking that its
            reply named; None for all other writes.
        guard: The check before it is sent; None without one.
        expiries: When each argument expires, by its name.
        idempotency_key: The key under which a create has one effect; None without one.
    """

    identity: Mapping[str, object] | bytes = field(repr=False)
    subject: Mapping[str, str]
    read_back: ReadBack[T_co] | None = None
    guard: Guard[T_co] | None = None
    read_back_named: Callable[[str], ReadBack[T_co]] | None = None
    expiries: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    idempotency_key: IdempotencyKey | None = None

    def canonical(self) -> bytes:
        """Return the identity as JSON in one form."""
        identity = self.identity
        if isinstance(identity, bytes):
            identity = json.loads(identity)
        return canonical_json(identity)


def canonical_json(value: object) -> bytes:
    """Return a value as JSON in one form: sorted, and with é as one character.

    What is sent stays as the caller wrote it.
    """
    escaped = json.dumps(value, sort_keys=True, default=str)
    if "\\u" not in escaped:
        return escaped.encode()

    # Most texts with such letters have them as one character already, which one look tells.
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    if len(text) <= _LONGEST_BODY and unicodedata.is_normalized("NFC", text):
        return escaped.encode()
    return json.dumps(_composed(json.loads(escaped))).encode()


def _composed(value: Any) -> Any:  # noqa: ANN401 -- of JSON
    """Return a value of JSON whose texts have one character for each letter."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _composed(member) for name, member in members.items()}
    if isinstance(value, list):
        return [_composed(element) for element in cast("Sequence[Any]", value)]
    if isinstance(value, str) and len(value) <= _LONGEST_NAME:
        return unicodedata.normalize("NFC", value)
    return value


def _is_never_final(_: object) -> bool:
    return False


def _no_due_times(_: object) -> Iterable[datetime]:
    return ()


@dataclass(frozen=True, slots=True)
class Wait:
    """How a read is polled.

    Attributes:
        seconds: The longest time to poll.
        until: Returns whether a record meets the condition.
        is_final: Returns whether the record can never meet it any more.
        due_times: Returns the moments at which the record is due to change.
        on_progress: Called with every record that is read.
    """

    seconds: float
    until: Callable[[Any], bool]
    is_final: Callable[[Any], bool] = _is_never_final
    due_times: Callable[[Any], Iterable[datetime]] = _no_due_times
    on_progress: Callable[[Any], Awaitable[None] | None] | None = None


@dataclass(slots=True)
class Operation(Generic[T_co]):
    """The description of a call.

    Attributes:
        call: The request.
        answer: Parses the decoded reply.
        safety: Its row of the safety table.
        write: What is known about a write besides its request; None for a read.
        wait: How the read is polled; None for a single read.
        argument_names: The names of arguments by the beginning of their path in the request, if
            they differ.
        sharing_key: What equal reads have in common; those that are under way at the same time are
            one request. None: each is a request of its own.
    """

    call: Call = field(repr=False)
    answer: Answer[T_co]
    safety: Safety
    write: Write[T_co] | None = None
    wait: Wait | None = None
    argument_names: Mapping[str, str] | None = None
    sharing_key: bytes | None = field(default=None, repr=False)

    def argument_at(self, path: str) -> str:
        """Return the argument of the call for a path in the request."""
        for beginning, name in (self.argument_names or {}).items():
            if path.startswith(beginning):
                return name + path.removeprefix(beginning)
        return path

    @property
    def name(self) -> str:
        """The operation's public name."""
        return self.safety.operation
