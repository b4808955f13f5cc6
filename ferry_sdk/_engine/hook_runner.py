"""Runs the hooks of a client for one call. A hook that fails does not fail the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

from ferry_sdk._engine.effects import CallUser, Flow, Send, Signal, T
from ferry_sdk._engine.http import Reply, origin_of
from ferry_sdk.errors import ConfigurationError, FerryError, TransportError
from ferry_sdk.hooks import (
    CallInfo,
    ConnectionsEvent,
    Event,
    Hooks,
    LimiterEvent,
    OutcomeEvent,
    RequestEvent,
    ResponseEvent,
    RetryEvent,
)
from ferry_sdk.types import Attempt, Outcome

if TYPE_CHECKING:
    from ferry_sdk._engine.context import Context, Result


LONGEST = 1.0
"""Seconds that an async hook is awaited, whatever the deadline."""
_service_origin = lru_cache(maxsize=16)(origin_of)
"""`origin_of` for the addresses of services, which are few. Those of files have no end."""
_CANCELLED = "CancelledError"
"""The problem of a call that was stopped in a thread, as that of a cancelled task."""


@dataclass(slots=True)
class HookRunner:
    """Runs the hooks of one call.

    Attributes:
        hooks: The hooks.
        call: The call, for their events.
        clock: Returns monotonic seconds.
        stop: Is set if the batch of the call is stopped; None without a batch, and in a task.
    """

    hooks: Hooks
    call: CallInfo
    clock: Callable[[], float]
    stop: Signal | None = None

    def notify(self, event: Event) -> Flow[None]:
        """Call the hooks of an event, one after another."""
        for hook in self.hooks.by_event.get(type(event), ()):
            try:
                yield CallUser(partial(hook, event), self.clock() + LONGEST)
            except Exception as error:  # noqa: BLE001 -- a hook's failure is not the call's
                self.hooks.log_failure(hook, error, self.call)

    def run(self, steps: Flow[Result[T]], context: Context) -> Flow[Result[T]]:
        """Run the steps of a call, and notify the hooks of the outcome."""

        def make_event(result: Result[T] | None, error: BaseException | None) -> OutcomeEvent:
            outcome: Literal["done"] | Outcome = "done"
            problem: str | None = None
            if error is not None:
                problem = self._problem(error)
                # An interruption says nothing of the request; the state of the call does.
                outcome = context.state.outcome
                if isinstance(error, FerryError) and not self._is_stopped_by(error):
                    outcome = error.outcome

            read_back = result is not None and getattr(result.value, "read_back", False)
            return OutcomeEvent(
                call=self.call,
                outcome=outcome,
                seconds=self.clock() - context.began,
                problem=problem,
                attempts=tuple(context.state.attempts),
                read_back=read_back,
            )

        return self._watch(steps, make_event)

    def send(self, effect: Send, context: Context) -> Flow[Reply]:
        """Send a request, and notify the hooks before and after it."""
        request = effect.request
        state = context.state
        base_url = context.settings.base_url
        if request.url.startswith(f"{base_url}/"):
            _, host, port = _service_origin(base_url)
        else:  # a file at another address
            _, host, port = origin_of(request.url)

        event = RequestEvent(
            call=self.call,
            operation=state.operation,
            attempt=state.attempt,
            method=request.method,
            route=request.route,
            host=host,
            port=port,
            rpc_method=request.rpc_method,
        )

        began = self.clock()  # for an interruption of a hook, before the request has begun
        try:
            yield from self.notify(event)
            began = self.clock()
            reply: Reply = yield effect
        except GeneratorExit:
            raise
        except BaseException as error:
            problem = self._problem(error)
            yield from self.notify(ResponseEvent(event, self.clock() - began, problem=problem))
            raise

        if ResponseEvent in self.hooks.by_event:
            response = ResponseEvent(
                event,
                seconds=self.clock() - began,
                status_code=reply.status_code,
                request_id=context.request_id_of(reply),
            )
            yield from self.notify(response)
        if ConnectionsEvent in self.hooks.by_event:
            connections = effect.connections
            reported = self.hooks.known_connections
            if connections is not None and connections not in reported:
                reported.add(connections)
                first_use = ConnectionsEvent(
                    self.call, host=host, port=port, connections=connections
                )
                yield from self.notify(first_use)
        return reply

    def wait_for_turn(self, steps: Flow[None], operation: str) -> Flow[None]:
        """Wait for the client's limiter, and notify the hooks of the wait."""
        began = self.clock()

        def make_event(_: None, error: BaseException | None) -> LimiterEvent:
            problem = None if error is None else self._problem(error)
            return LimiterEvent(self.call, operation, seconds=self.clock() - began, problem=problem)

        return self._watch(steps, make_event)

    def notify_retry(self, failed: Attempt, attempt: int) -> Flow[None]:
        """Notify the hooks of a failed attempt that is retried."""
        event = RetryEvent(
            call=self.call,
            operation=failed.operation,
            attempt=attempt,
            problem=failed.problem or "",
            status_code=failed.status_code,
            request_id=failed.request_id,
            wait=failed.waited,
        )
        yield from self.notify(event)

    def _watch(
        self, steps: Flow[T], make_event: Callable[[T | None, BaseException | None], Event]
    ) -> Flow[T]:
        """Run steps, and notify the hooks of their result or error."""
        try:
            result = yield from steps
        except GeneratorExit:
            raise
        except BaseException as error:
            yield from self.notify(make_event(None, error))
            raise
        yield from self.notify(make_event(result, None))
        return result

    def _is_stopped_by(self, error: BaseException) -> bool:
        """Return whether an error says only that the batch of the call is stopped."""
        is_stopped = self.stop is not None and self.stop.is_set
        return is_stopped and isinstance(error, (ConfigurationError, TransportError))

    def _problem(self, error: BaseException) -> str:
        """Return the name of an error."""
        return _CANCELLED if self._is_stopped_by(error) else type(error).__name__
