"""The state of one call: settings, session, deadline, attempts, and how far its request got.

All requests of a call share its `Context`: retries, handshakes, guards and read-backs. The fields
that decide the outcome of a write are `sending`, `is_in_doubt` and `is_done`. `sending` is set
before a request is handed to the HTTP library and cleared only when the service provably did
nothing, so an interruption at any point finds the true state.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, TypeVar

from ferry_sdk._engine.correlation import next_correlation_id, recent_ids
from ferry_sdk._engine.effects import Flow, RunBlocking, Send
from ferry_sdk._engine.http import Listener, Reply, Request, Sending, Timeout
from ferry_sdk._engine.raw_response import LONG_REPLY, read_in_thread
from ferry_sdk._engine.session import Session
from ferry_sdk._engine.settings import Settings
from ferry_sdk._version import __version__
from ferry_sdk.errors import FerryError, RequestTimeoutError, UnexpectedResponseError
from ferry_sdk.hooks import CallInfo, Hooks
from ferry_sdk.types import Attempt

if TYPE_CHECKING:
    from ferry_sdk._engine.hook_runner import HookRunner

T = TypeVar("T")

logger: logging.Logger = logging.getLogger("ferry_sdk")

_LONGEST_RESERVE = 5.0
"""Seconds kept before a deadline for reading back, or a quarter of the remaining time."""


@dataclass(slots=True)
class Context:
    """The state of one call, shared by its attempts and the reads that belong to it.

    Attributes:
        settings: The client's settings.
        session: The MCP session and the clock skew of this client.
        correlation_id: The id that every request of the call carries.
        headers: The headers of every request to the service, without Authorization.
        clock: Monotonic seconds.
        now: Seconds since the epoch, by the local clock.
        deadline: End of the call on the monotonic clock; None: no limit.
        attempts: The attempts so far.
        sent_tokens: The tokens sent, in order.
        sending: The request handed over last. It stays until the service is known to have done
            nothing with it; a reply alone does not clear it.
        is_in_doubt: Whether the call may have happened, whatever became of its last request.
        is_done: Whether the write is known to be done.
        keeps_reserve: Whether requests end early enough to leave time for reading back.
        is_abandoned: Whether nobody waits for the call any more.
        began: When the call began, on the monotonic clock.
        hook_runner: Runs the client's hooks; None without hooks.
        operation: The operation of the current attempt: the call itself, or a read for it.
    """

    settings: Settings
    session: Session
    correlation_id: str
    headers: Mapping[str, str] = field(repr=False)
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    deadline: float | None = None
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    sent_tokens: list[str] = field(default_factory=list[str], repr=False)
    sending: Sending | None = None
    is_in_doubt: bool = False
    is_done: bool = False
    keeps_reserve: bool = False
    is_abandoned: bool = False
    began: float = 0.0
    hook_runner: HookRunner | None = None
    operation: str = ""

    @classmethod
    def start(
        cls,
        settings: Settings,
        session: Session,
        operation: str,
        *,
        correlation_id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> Context:
        """Return the context of a call that starts now."""
        named = correlation_id or settings.correlation_id or next_correlation_id()
        recent_ids.add(named)
        began = clock()
        return cls(
            settings,
            session,
            named,
            _default_headers(settings, named),
            clock,
            now,
            deadline=None if settings.deadline is None else began + settings.deadline,
            began=began,
            hook_runner=_new_hook_runner(settings.hooks, CallInfo(operation, named, now()), clock)
            if settings.hooks
            else None,
        )

    def copy(self) -> Context:
        """Return a copy for requests made before the call's own, such as a guard's read."""
        return replace(self)

    def with_deadline(self, moment: float) -> Context:
        """Return a copy whose deadline is not later than the given moment."""
        return replace(
            self, deadline=moment if self.deadline is None else min(moment, self.deadline)
        )

    def remaining(self) -> float | None:
        """Return the seconds until the deadline; None: no limit."""
        return None if self.deadline is None else self.deadline - self.clock()

    @property
    def may_have_happened(self) -> bool:
        """Whether the call may have happened if it is interrupted now."""
        return self.is_in_doubt or (self.sending is not None and self.sending.may_have_left)

    def describe(self, error: FerryError, operation: str) -> None:
        """Set the operation, the correlation id and the attempts of an error."""
        error.operation = operation
        error.correlation_id = error.correlation_id or self.correlation_id
        error.attempts = error.attempts or tuple(self.attempts)

    def start_attempt(self, operation: str, number: int) -> None:
        """Set the current operation and the number of the attempt."""
        self.operation = operation
        if self.hook_runner is not None:
            self.hook_runner.operation, self.hook_runner.attempt = operation, number

    def record_wait(self, seconds: float) -> Flow[None]:
        """Record the wait after the last attempt, and notify the hooks of a retry."""
        self.attempts[-1] = last = replace(self.attempts[-1], waited=seconds)
        if self.hook_runner is not None and last.problem is not None:
            yield from self.hook_runner.notify_retry(last)

    def send(self, request: Request, listener: Listener | None = None) -> Flow[Reply]:
        """Send a request to the service, within the deadline.

        Raises:
            RequestTimeoutError: The deadline has passed.
        """
        until = self._send_deadline()
        timeout = self.timeouts_until(until)
        # Set before the request leaves, so that no interruption finds it missing.
        self.sending = Sending()
        reply = yield from self.send_with_hooks(
            Send(request, timeout, listener, until, self.sending)
        )
        self._refuse_another_calls(reply)
        self.session.update_clock_skew(reply.headers.get("date"), self.now())
        return reply

    def _refuse_another_calls(self, reply: Reply) -> None:
        """Raise if the reply belongs to another call of this process.

        An unknown correlation id is logged once: a gateway may replace the client's id.
        """
        named = reply.headers.get("x-client-correlation-id") or self.correlation_id
        if named == self.correlation_id:
            return
        if named in recent_ids:
            raise UnexpectedResponseError(
                "the reply belongs to another call of this process",
                status_code=reply.status_code,
                request_id=reply.request_id,
            )
        if not self.session.has_foreign_ids:
            self.session.has_foreign_ids = True
            logger.warning(
                "replies carry another correlation id than their requests, such as the reply to %s",
                self.correlation_id,
            )

    def read(self, reply: Reply, work: Callable[[], T]) -> Flow[T]:
        """Parse a reply within the deadline, a long one in a thread so as not to block the loop.

        Raises:
            UnexpectedResponseError: The reply cannot be parsed, or does not fit into memory.
            RequestTimeoutError: The deadline has passed; the outcome is unknown.
        """
        try:
            if len(reply.content) < LONG_REPLY:
                return work()
            return (
                yield from RunBlocking(
                    partial(read_in_thread, work, get_ident()),
                    self._send_deadline(),
                    may_be_interrupted=True,
                )
            )
        except MemoryError:
            failure: FerryError = UnexpectedResponseError("the reply does not fit into memory")
        except (RequestTimeoutError, UnexpectedResponseError) as error:
            failure = error
        failure.outcome = "unknown"
        if isinstance(failure, UnexpectedResponseError):
            failure.status_code, failure.request_id = reply.status_code, reply.request_id
        raise failure

    def send_with_hooks(self, send: Send) -> Flow[Reply]:
        """Send a request and notify the hooks, if there are any."""
        if self.hook_runner is None:
            return (yield from send)
        return (yield from self.hook_runner.exchange(send))

    def timeouts_until(self, until: float | None) -> Timeout:
        """Return the timeouts, none of them later than a deadline.

        Raises:
            RequestTimeoutError: The deadline has passed.
        """
        timeout = self.settings.timeout
        if until is None:
            return timeout
        remaining = until - self.clock()
        if remaining <= 0:
            raise RequestTimeoutError("the deadline has passed")
        return Timeout(
            *(
                remaining if limit is None else min(limit, remaining)
                for limit in (timeout.connect, timeout.read, timeout.write, timeout.pool)
            )
        )

    def _send_deadline(self) -> float | None:
        """Return the deadline of the next request, which leaves time to read back."""
        remaining = self.remaining()
        if self.deadline is None or remaining is None or not self.keeps_reserve:
            return self.deadline
        return self.deadline - min(_LONGEST_RESERVE, max(0.0, remaining) / 4)


def _new_hook_runner(hooks: Hooks, call: CallInfo, clock: Callable[[], float]) -> HookRunner:
    from ferry_sdk._engine.hook_runner import HookRunner  # noqa: PLC0415 -- loaded where there are hooks

    return HookRunner(hooks, call, clock)


def _default_headers(settings: Settings, correlation_id: str) -> dict[str, str]:
    """Return the headers of every request to the service, in both protocols."""
    headers = {
        "user-agent": f"ferry_sdk/{__version__}",
        "Accept-Encoding": "gzip",
        "x-client-correlation-id": correlation_id,
    }
    if settings.language is not None:
        headers["Accept-Language"] = settings.language
    if settings.client_version is not None:
        headers["x-client-version"] = settings.client_version
    return headers | dict(settings.headers)
