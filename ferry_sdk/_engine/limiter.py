"""Ask the client's rate limiter before a request leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, cast

from ferry_sdk._engine.effects import CallUser, Flow, RunBlocking, Sleep
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.errors import ConfigurationError, FerryError
from ferry_sdk.hooks import is_async_function
from ferry_sdk.types import RateLimiter

if TYPE_CHECKING:
    from ferry_sdk._engine.context import Context


@dataclass(frozen=True, slots=True)
class RateRequest:
    """What a limiter of the library knows of a request besides its operation.

    Attributes:
        until: When the wait ends with an error, on the monotonic clock; None: never.
        goes_first: Whether it leaves before those that do not.
        clock: Monotonic seconds.
    """

    until: float | None = None
    goes_first: bool = False
    clock: Callable[[], float] = monotonic


current_request: ContextVar[RateRequest] = ContextVar(
    "ferry_sdk_rate_request",
    default=RateRequest(),  # noqa: B039 -- it is frozen
)
"""The request for which a limiter is asked, for a limiter that asks another one."""


class FlowLimiter(ABC):
    """A limiter whose waits are effects, so that no thread waits for a task."""

    @abstractmethod
    def steps(self, request: RateRequest) -> Flow[None]:
        """Return when a request may leave.

        Raises:
            RequestTimeoutError: The wait has ended without a turn.
        """


def acquire(limiter: RateLimiter, context: Context, until: float | None) -> Flow[None]:
    """Return when a request may leave; if this raises, nothing is sent.

    Raises:
        RequestTimeoutError: The deadline has passed.
        Exception: What a limiter of the user raises, unless a write is read back.
    """
    # The first effect makes the HTTP client, if there is none yet. That takes so long that a turn
    # which was given before would be missed.
    yield from Sleep(0.0)

    request = RateRequest(until, context.goes_first, context.clock)
    operation = context.state.operation
    if isinstance(limiter, FlowLimiter) and _is_own(limiter):
        turn = limiter.steps(request)
    else:
        turn = _call(limiter, request, operation)
    if context.hook_runner is not None:
        turn = context.hook_runner.wait_for_turn(turn, operation)

    try:
        yield from turn
    except FerryError as error:
        error.outcome = "not_sent"
        raise
    except Exception as error:
        if not context.state.is_in_doubt:
            raise
        # A write is read back. Its unknown outcome matters more than why that cannot be done.
        raise ConfigurationError(f"limiter: it failed with {type(error).__name__}") from error


def _is_own(limiter: RateLimiter) -> bool:
    """Return whether `acquire` is the library's, and not replaced in a subclass or a test."""
    function = getattr(limiter.acquire, "__func__", None)
    return getattr(function, "__module__", "").startswith("ferry_sdk.")


def _call(limiter: RateLimiter, request: RateRequest, operation: str) -> Flow[None]:
    """Call a limiter of the user, whose `acquire` may be async."""
    function = cast("Callable[[], Any]", partial(limiter.acquire, operation))
    token = current_request.set(request)
    try:
        if is_async_function(limiter.acquire):
            yield from CallUser(function, request.until, "limiter")
            return
        result = yield from RunBlocking(function, request.until, may_be_interrupted=True)
        if isawaitable(result):  # a sync function may return an awaitable; `CallUser` awaits it
            yield from CallUser(lambda: result, request.until, "limiter")
    finally:
        with suppress(ValueError):  # a flow that is dropped ends in another context
            current_request.reset(token)
