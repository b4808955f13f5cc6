"""What a client's hooks are told of its calls: plain values, without tokens and travellers' data.

A hook observes. What it gives is ignored, and what it raises is logged and goes no further.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from types import TracebackType
from typing import Any, Literal, TypedDict, cast

from ferry_sdk.errors import ConfigurationError
from ferry_sdk.types import Attempt, Outcome

logger: logging.Logger = logging.getLogger("ferry_sdk")


@dataclass(frozen=True, eq=False)
class CallInfo:
    """Which call an event is of: the same object in all its events.

    Attributes:
        operation: The call's public name, such as ``bookings.confirm``; ``recover`` for
            `Ferry.recover`.
        correlation_id: The id that every request of the call carries.
        began: When it began, in seconds since the epoch.
    """

    operation: str
    correlation_id: str
    began: float


@dataclass(frozen=True, eq=False)
class RequestEvent:
    """A request is about to be sent.

    Attributes:
        call: The call that it belongs to.
        operation: What is tried: the call itself, or a read that belongs to it.
        attempt: Which attempt of that it is part of, counted from 1.
        method: HTTP method.
        route: Path of the address, with ``{id}`` where an id stands.
        host: Name or address of the server.
        port: Its port; None where the address has none that can be read.
        rpc_method: What is asked by MCP, such as ``tools/call``; None: it is not MCP.
    """

    call: CallInfo
    operation: str
    attempt: int
    method: str
    route: str
    host: str
    port: int | None
    rpc_method: str | None

    @property
    def protocol(self) -> Literal["REST", "MCP"]:
        """Which of the service's protocols is spoken."""
        return "REST" if self.rpc_method is None else "MCP"


@dataclass(frozen=True, eq=False)
class ResponseEvent:
    """An exchange is over: a reply was read, or none came.

    Attributes:
        request: The event of the request.
        seconds: How long it took.
        status_code: The HTTP status; None where no reply was read.
        request_id: The service's id of the exchange.
        problem: The name of the error that ended it; None where a reply was read.
    """

    request: RequestEvent
    seconds: float
    status_code: int | None = None
    request_id: str | None = None
    problem: str | None = None


@dataclass(frozen=True, eq=False)
class RetryEvent:
    """An attempt failed, and another follows.

    Attributes:
        call: The call that it belongs to.
        operation: What was tried.
        attempt: Which attempt failed, counted from 1.
        problem: The name of the error.
        status_code: The HTTP status; None where no reply was read.
        request_id: The service's id of the exchange.
        wait: Seconds until the next attempt.
    """

    call: CallInfo
    operation: str
    attempt: int
    problem: str
    status_code: int | None
    request_id: str | None
    wait: float


@dataclass(frozen=True, eq=False)
class OutcomeEvent:
    """A call is over.

    Attributes:
        call: The call.
        outcome: ``done``, or what the error says: ``not_sent``, ``rejected``, ``unknown``.
        seconds: How long it took, waits included.
        problem: The name of the error; None where it is done.
        attempts: What was tried, in order.
        read_back: Whether the reply was lost, and the effect was seen by reading it back.
    """

    call: CallInfo
    outcome: Literal["done"] | Outcome
    seconds: float
    problem: str | None
    attempts: tuple[Attempt, ...]
    read_back: bool = False


Event = RequestEvent | ResponseEvent | RetryEvent | OutcomeEvent
Hook = Callable[[Any], object]


class EventHooks(TypedDict, total=False):
    """Functions to be told of a client's calls; with `AsyncFerry` they may be async."""

    request: Sequence[Callable[[RequestEvent], object]]
    response: Sequence[Callable[[ResponseEvent], object]]
    retry: Sequence[Callable[[RetryEvent], object]]
    outcome: Sequence[Callable[[OutcomeEvent], object]]


class Hooks:
    """The hooks of a client and its views.

    Attributes:
        by_event: What is to be told of each kind of event.
    """

    def __init__(self, by_event: Mapping[type[Event], Iterable[Hook]]) -> None:
        self.by_event: dict[type[Event], tuple[Hook, ...]] = {
            kind: tuple(hooks) for kind, hooks in by_event.items()
        }
        self._known_failures: set[int] = set()

    def log_failure(self, hook: Hook, error: Exception, call: CallInfo) -> None:
        """Log what a hook raised; loudly the first time only."""
        is_known = id(hook) in self._known_failures
        self._known_failures.add(id(hook))
        logger.log(
            logging.DEBUG if is_known else logging.WARNING,
            "hook %s failed in %s: %s (correlation id %s)",
            getattr(hook, "__qualname__", type(hook).__name__),
            call.operation,
            type(error).__name__,
            call.correlation_id,
            exc_info=None
            if is_known
            else (type(error), error, _without_library_frames(error.__traceback__)),
        )


def build_hooks(event_hooks: EventHooks | None, *, may_be_async: bool) -> Hooks | None:
    """The hooks that a caller gave; None where there is none.

    Raises:
        ConfigurationError: There is no such event, or what is to be told cannot be called.
    """
    kinds: dict[str, type[Event]] = {
        "request": RequestEvent,
        "response": ResponseEvent,
        "retry": RetryEvent,
        "outcome": OutcomeEvent,
    }
    by_event: dict[type[Event], list[Hook]] = {}
    given = cast("object", {} if event_hooks is None else event_hooks)
    if not isinstance(given, Mapping):
        raise ConfigurationError("event_hooks: a mapping of events to functions is expected")
    for name, hooks in cast("Mapping[str, Any]", given).items():
        if name not in kinds:
            raise ConfigurationError(f"event_hooks: there are {', '.join(kinds)}, and no {name!r}")
        if not isinstance(hooks, Iterable):
            raise ConfigurationError(f"event_hooks[{name!r}]: a list of functions is expected")
        by_event[kinds[name]] = [*hooks]
        for hook in by_event[kinds[name]]:
            if not callable(hook):
                raise ConfigurationError(f"event_hooks[{name!r}]: not a function: {hook!r}")
            if not may_be_async and is_async_function(hook):
                raise ConfigurationError(
                    f"event_hooks[{name!r}]: an async function needs AsyncFerry"
                )
    return Hooks(by_event) if any(by_event.values()) else None


def is_async_function(function: Callable[..., object]) -> bool:
    """Whether a function, or what can be called like one, has to be awaited."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 -- not whether it can be called


def _without_library_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the hook on, without the library's frames, which hold requests."""
    while traceback is not None:
        if not f"{traceback.tb_frame.f_globals.get('__name__')}.".startswith("ferry_sdk."):
            return traceback
        traceback = traceback.tb_next
    return None
