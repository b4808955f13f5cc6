"""What a call is made with: settings, conventions, clocks, and the record of its attempts."""

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
"""Seconds before a deadline that are kept for reading back, or a quarter of what there is."""


@dataclass(slots=True)
class Context:
    """What one call is made with, all its attempts and the reads that belong to it.

    Attributes:
        settings: The client's settings.
        session: What the service has told this client.
        correlation_id: The id that every request of the call carries.
        headers: The conventions every request to the service carries, without authorisation.
        clock: Monotonic seconds.
        now: Seconds since the epoch, by this machine.
        deadline: When the call has to be over, on the monotonic clock.
        attempts: What was tried so far.
        presented: The tokens that were sent, the last one last.
        sending: The request that was handed over last. It stays until the service is known to have
            done nothing with it; a reply alone does not take it away.
        is_in_doubt: Whether the call may have happened, whatever became of its last request.
        is_done: Whether the write is known to be done.
        keeps_reserve: Whether a request is given up some time before the call has to be over.
        is_left: Whether nobody waits for the call any more.
        began: When the call began, on the monotonic clock.
        hook_runner: Tells the client's hooks; None where there are none.
        operation: What is tried: the call itself, or a read that belongs to it.
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
        """The context of a call that begins now."""
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
        """The same call, for requests that go before its own; nothing of it is sent by them."""
        return replace(self)

    def with_deadline(self, moment: float) -> Context:
        """The same call, for steps that have to be over by then, if not earlier."""
        return replace(
            self, deadline=moment if self.deadline is None else min(moment, self.deadline)
        )

    def remaining(self) -> float | None:
        """Seconds until the call has to be over; None: no limit."""
        return None if self.deadline is None else self.deadline - self.clock()

    @property
    def may_have_happened(self) -> bool:
        """Whether the call, if it is interrupted now, may have happened."""
        return self.is_in_doubt or (self.sending is not None and self.sending.may_have_left)

    def describe(self, error: FerryError, operation: str) -> None:
        """Put on an error which call it is of, and what was tried."""
        error.operation = operation
        error.correlation_id = error.correlation_id or self.correlation_id
        error.attempts = error.attempts or tuple(self.attempts)

    def start_attempt(self, operation: str, number: int) -> None:
        """Say what is tried from now on, and for which time."""
        self.operation = operation
        if self.hook_runner is not None:
            self.hook_runner.operation, self.hook_runner.attempt = operation, number

    def record_wait(self, seconds: float) -> Flow[None]:
        """Put on record, and tell, how long is waited after the last attempt."""
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
        # In place before the request leaves, so that no interruption finds it missing.
        self.sending = Sending()
        reply = yield from self.send_with_hooks(
            Send(request, timeout, listener, until, self.sending)
        )
        self._refuse_another_calls(reply)
        self.session.update_clock_skew(reply.headers.get("date"), self.now())
        return reply

    def _refuse_another_calls(self, reply: Reply) -> None:
        """Refuse a reply to another call of this process.

        An id of no call here is logged once: a gateway may put its own in place of the client's.
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
                "replies name another correlation id than their requests, such as that of %s",
                self.correlation_id,
            )

    def read(self, reply: Reply, work: Callable[[], T]) -> Flow[T]:
        """Read a reply; a long one aside, so that an event loop goes on, and within the deadline.

        Raises:
            UnexpectedResponseError: It cannot be read, or not be held.
            RequestTimeoutError: The deadline has passed; what the reply says is not known.
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
        """Send a request, and tell the hooks of it where there are any."""
        if self.hook_runner is None:
            return (yield from send)
        return (yield from self.hook_runner.exchange(send))

    def timeouts_until(self, until: float | None) -> Timeout:
        """The time-outs, none of which outlasts a moment.

        Raises:
            RequestTimeoutError: It has passed.
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
        """When the next request has to be over, so that there is time to read back."""
        remaining = self.remaining()
        if self.deadline is None or remaining is None or not self.keeps_reserve:
            return self.deadline
        return self.deadline - min(_LONGEST_RESERVE, max(0.0, remaining) / 4)


def _new_hook_runner(hooks: Hooks, call: CallInfo, clock: Callable[[], float]) -> HookRunner:
    from ferry_sdk._engine.hook_runner import HookRunner  # noqa: PLC0415 -- loaded where there are hooks

    return HookRunner(hooks, call, clock)


def _default_headers(settings: Settings, correlation_id: str) -> dict[str, str]:
    """What every request to the service carries, whatever its protocol."""
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
