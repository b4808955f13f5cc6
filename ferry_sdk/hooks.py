"""Events for the hooks of a client: plain values without tokens and travellers' data.

Hooks only observe. Their results are ignored, and their exceptions are logged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from types import TracebackType
from typing import Any, Final, Literal, TypedDict, cast
from weakref import WeakSet

from ferry_sdk._runtime.values import is_iterable
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.types import Attempt, Outcome

logger: logging.Logger = logging.getLogger("ferry_sdk")


@dataclass(frozen=True, eq=False)
class CallInfo:
    """The call of an event: the same object in all events of one call.

    Attributes:
        operation: The call's public name, such as ``bookings.confirm``; ``recover`` for
            `Ferry.recover`.
        correlation_id: The id sent with every request of the call.
        began: When it started, in seconds since the epoch.
        label: The `label` of the client or view that made the call; None without one.
    """

    operation: str
    correlation_id: str
    began: float
    label: str | None = None


class _CallEvent:
    """An event of a call."""

    call: CallInfo

    @property
    def label(self) -> str | None:
        """The `label` of the client or view that made the call; None without one."""
        return self.call.label


@dataclass(frozen=True, eq=False)
class RequestEvent(_CallEvent):
    """A request is about to be sent.

    Attributes:
        call: The call that it belongs to.
        operation: The operation: the call itself, or a read that belongs to it.
        attempt: The number of the attempt, from 1.
        method: HTTP method.
        route: Path of the URL, with ``{id}`` in place of an id.
        host: Name or address of the server.
        port: Its port; None if the URL has no valid one.
        rpc_method: The MCP method, such as ``tools/call``; None for REST.
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
        """The protocol of the request."""
        return "REST" if self.rpc_method is None else "MCP"


@dataclass(frozen=True, eq=False)
class ResponseEvent:
    """A reply was read, or the request failed.

    Attributes:
        request: The event of the request.
        seconds: How long it took.
        status_code: The HTTP status; None without a reply.
        request_id: The service's id of the request.
        problem: The name of the error; None with a reply.
    """

    request: RequestEvent
    seconds: float
    status_code: int | None = None
    request_id: str | None = None
    problem: str | None = None

    @property
    def label(self) -> str | None:
        """The `label` of the client or view that made the call; None without one."""
        return self.request.label


@dataclass(frozen=True, eq=False)
class RetryEvent(_CallEvent):
    """An attempt failed, and another follows.

    Attributes:
        call: The call that it belongs to.
        operation: The operation that failed.
        attempt: The number of the attempt, from 1.
        problem: The name of the error.
        status_code: The HTTP status; None without a reply.
        request_id: The service's id of the request.
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
class OutcomeEvent(_CallEvent):
    """A call has ended.

    Attributes:
        call: The call.
        outcome: ``done``, or the outcome of the error: ``not_sent``, ``rejected``, ``unknown``.
        seconds: How long it took, waits included.
        problem: The name of the error; None if it is done. ``CancelledError``, with trio
            ``Cancelled``, if the call was cancelled. So is a read that the client itself stops,
            such as the other searches of `trips.search` when one meets a wrong token.
        attempts: All attempts, in order.
        read_back: Whether the reply was lost, and the effect was read back.
    """

    call: CallInfo
    outcome: Literal["done"] | Outcome
    seconds: float
    problem: str | None
    attempts: tuple[Attempt, ...]
    read_back: bool = False


@dataclass(frozen=True, eq=False)
class LimiterEvent(_CallEvent):
    """The client's limiter has let a request leave, or has failed.

    Attributes:
        call: The call that it belongs to.
        operation: The operation that waited: the call itself, or a read that belongs to it.
        seconds: How long it waited.
        problem: The name of the error; None if the request may leave.
    """

    call: CallInfo
    operation: str
    seconds: float
    problem: str | None = None


@dataclass(frozen=True, eq=False)
class ConnectionsEvent(_CallEvent):
    """A client has used its connections for the first time in this process or event loop.

    Attributes:
        call: The call that used them first.
        host: Name or address of the server of its request.
        port: Its port; None if the URL has no valid one.
        connections: A view of them; its ``len`` is how many are open now. Keep only a weak
            reference, so that a closed client can go.
    """

    call: CallInfo
    host: str
    port: int | None
    connections: Sized = field(repr=False)


Event = RequestEvent | ResponseEvent | RetryEvent | OutcomeEvent | LimiterEvent | ConnectionsEvent
Hook = Callable[[Any], object]

_EVENTS: Final[Mapping[str, type[Event]]] = {
    "request": RequestEvent,
    "response": ResponseEvent,
    "retry": RetryEvent,
    "outcome": OutcomeEvent,
    "limiter": LimiterEvent,
    "connections": ConnectionsEvent,
}
"""The events by the names of `EventHooks`."""


class EventHooks(TypedDict, total=False):
    """Functions that are called with the events of a client; for `AsyncFerry` they may be async."""

    request: Sequence[Callable[[RequestEvent], object]]
    response: Sequence[Callable[[ResponseEvent], object]]
    retry: Sequence[Callable[[RetryEvent], object]]
    outcome: Sequence[Callable[[OutcomeEvent], object]]
    limiter: Sequence[Callable[[LimiterEvent], object]]
    connections: Sequence[Callable[[ConnectionsEvent], object]]


class Hooks:
    """The hooks of a client and its views.

    Attributes:
        by_event: The hooks for each type of event.
        known_connections: The connections of which the hooks have had a `ConnectionsEvent`.
    """

    def __init__(self, by_event: Mapping[type[Event], Sequence[Hook]]) -> None:
        self.by_event: Mapping[type[Event], Sequence[Hook]] = by_event
        self.known_connections: WeakSet[Sized] = WeakSet()
        self._known_failures: set[int] = set()

    def log_failure(self, hook: Hook, error: Exception, call: CallInfo) -> None:
        """Log the exception of a hook: as a warning the first time, then at DEBUG."""
        is_first = id(hook) not in self._known_failures
        self._known_failures.add(id(hook))

        shown_error: Exception | None = None
        if is_first:
            # Only the first failure of a hook has its traceback, from the hook on.
            shown_error = error.with_traceback(_without_library_frames(error.__traceback__))

        logger.log(
            logging.WARNING if is_first else logging.DEBUG,
            "hook %s failed in %s: %s (correlation id %s)",
            getattr(hook, "__qualname__", type(hook).__name__),
            call.operation,
            type(error).__name__,
            call.correlation_id,
            extra={
                "operation": call.operation,
                "correlation_id": call.correlation_id,
                "label": call.label,
            },
            exc_info=shown_error,
        )


def build_hooks(event_hooks: EventHooks | None, *, may_be_async: bool) -> Hooks | None:
    """Return the validated hooks of a client; None without any.

    Raises:
        ConfigurationError: An event is unknown, or a hook is not callable.
    """
    hooks_by_name: Any = {} if event_hooks is None else event_hooks
    if not isinstance(hooks_by_name, Mapping):
        raise ConfigurationError("event_hooks: expected a mapping of events to functions")

    by_event: dict[type[Event], Sequence[Hook]] = {}
    for name, hooks in cast("Mapping[str, Any]", hooks_by_name).items():
        if name not in _EVENTS:
            expected = ", ".join(_EVENTS)
            raise ConfigurationError(f"event_hooks: unknown event {name!r}, expected {expected}")
        where = f"event_hooks[{name!r}]"
        by_event[_EVENTS[name]] = _check_hooks(hooks, where, may_be_async=may_be_async)
    if not any(by_event.values()):
        return None
    return Hooks(by_event)


def _check_hooks(hooks: object, where: str, *, may_be_async: bool) -> Sequence[Hook]:
    """Return the hooks of an event as a list, which changes no more."""
    if not is_iterable(hooks):
        raise ConfigurationError(f"{where}: expected a list of functions")

    checked: list[Hook] = []
    for hook in hooks:
        if not callable(hook):
            raise ConfigurationError(f"{where}: not a function: {hook!r}")
        if not may_be_async and is_async_function(hook):
            raise ConfigurationError(f"{where}: an async function needs AsyncFerry")
        checked.append(hook)
    return checked


def is_async_function(function: Callable[..., object]) -> bool:
    """Return whether a function or a callable object is async."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 -- this does not test for callability


def _without_library_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the hook on, without the library's frames, which hold requests."""
    while traceback is not None:
        module_name = traceback.tb_frame.f_globals.get("__name__")
        if not f"{module_name}.".startswith("ferry_sdk."):
            return traceback
        traceback = traceback.tb_next
    return None
