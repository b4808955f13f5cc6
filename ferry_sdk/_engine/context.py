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
from ferry_sdk._engine.effects import (
    Consult,
    Listener,
    Reply,
    Request,
    Send,
    Sending,
    Steps,
    Timeout,
)
from ferry_sdk._engine.raw_response import LONG_REPLY, read_aside
from ferry_sdk._engine.session import Session
from ferry_sdk._engine.settings import Settings
from ferry_sdk._version import __version__
from ferry_sdk.errors import FerryError, RequestTimeoutError, UnexpectedResponseError
from ferry_sdk.hooks import CallInfo, Hooks
from ferry_sdk.types import Attempt

if TYPE_CHECKING:
    from ferry_sdk._engine.hook_runner import Telling

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
        until: When the call has to be over, on the monotonic clock.
        attempts: What was tried so far.
        presented: The tokens that were sent, the last one last.
        sending: The request that was handed over last. It stays until the service is known to have
            done nothing with it; a reply alone does not take it away.
        is_in_doubt: Whether the call may have happened, whatever became of its last request.
        is_done: Whether the write is known to be done.
        keeps_reserve: Whether a request is given up some time before the call has to be over.
        is_left: Whether nobody waits for the call any more.
        began: When the call began, on the monotonic clock.
        telling: Tells the client's hooks; None where there are none.
        operation: What is tried: the call itself, or a read that belongs to it.
    """

    settings: Settings
    session: Session
    correlation_id: str
    headers: Mapping[str, str] = field(repr=False)
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    until: float | None = None
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    presented: list[str] = field(default_factory=list[str], repr=False)
    sending: Sending | None = None
    is_in_doubt: bool = False
    is_done: bool = False
    keeps_reserve: bool = False
    is_left: bool = False
    began: float = 0.0
    telling: Telling | None = None
    operation: str = ""

    @classmethod
    def begun(
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
            _conventions(settings, named),
            clock,
            now,
            until=None if settings.deadline is None else began + settings.deadline,
            began=began,
            telling=_telling(settings.hooks, CallInfo(operation, named, now()), clock)
            if settings.hooks
            else None,
        )

    def aside(self) -> Context:
        """The same call, for requests that go before its own; nothing of it is sent by them."""
        return replace(self)

    def over_by(self, moment: float) -> Context:
        """The same call, for steps that have to be over by then, if not earlier."""
        return replace(self, until=moment if self.until is None else min(moment, self.until))

    def remaining(self) -> float | None:
        """Seconds until the call has to be over; None: no limit."""
        return None if self.until is None else self.until - self.clock()

    @property
    def may_have_happened(self) -> bool:
        """Whether the call, if it is interrupted now, may have happened."""
        return self.is_in_doubt or (self.sending is not None and self.sending.may_have_left)

    def name(self, error: FerryError, operation: str) -> None:
        """Put on an error which call it is of, and what was tried."""
        error.operation = operation
        error.correlation_id = error.correlation_id or self.correlation_id
        error.attempts = error.attempts or tuple(self.attempts)

    def tries(self, operation: str, number: int) -> None:
        """Say what is tried from now on, and for which time."""
        self.operation = operation
        if self.telling is not None:
            self.telling.operation, self.telling.attempt = operation, number

    def waits(self, seconds: float) -> Steps[None]:
        """Put on record, and tell, how long is waited after the last attempt."""
        self.attempts[-1] = last = replace(self.attempts[-1], waited=seconds)
        if self.telling is not None and last.problem is not None:
            yield from self.telling.retry(last)

    def send(self, request: Request, listener: Listener | None = None) -> Steps[Reply]:
        """Send a request to the service, within the deadline.

        Raises:
            RequestTimeoutError: The deadline has passed.
        """
        until = self._until()
        timeout = self.within(until)
        # In place before the request leaves, so that no interruption finds it missing.
        self.sending = Sending()
        reply = yield from self.told(Send(request, timeout, listener, until, self.sending))
        self._refuse_another_calls(reply)
        self.session.hear(reply.headers.get("date"), self.now())
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

    def read(self, reply: Reply, work: Callable[[], T]) -> Steps[T]:
        """Read a reply; a long one aside, so that an event loop goes on, and within the deadline.

        Raises:
            UnexpectedResponseError: It cannot be read, or not be held.
            RequestTimeoutError: The deadline has passed; what the reply says is not known.
        """
        try:
            if len(reply.content) < LONG_REPLY:
                return work()
            return (yield from Consult(partial(read_aside, work, get_ident()), self._until()))
        except MemoryError:
            failure: FerryError = UnexpectedResponseError("the reply does not fit into memory")
        except (RequestTimeoutError, UnexpectedResponseError) as error:
            failure = error
        failure.outcome = "unknown"
        if isinstance(failure, UnexpectedResponseError):
            failure.status_code, failure.request_id = reply.status_code, reply.request_id
        raise failure

    def told(self, send: Send) -> Steps[Reply]:
        """Send a request, and tell the hooks of it where there are any."""
        if self.telling is None:
            return (yield from send)
        return (yield from self.telling.exchange(send))

    def within(self, until: float | None) -> Timeout:
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

    def _until(self) -> float | None:
        """When the next request has to be over, so that there is time to read back."""
        remaining = self.remaining()
        if self.until is None or remaining is None or not self.keeps_reserve:
            return self.until
        return self.until - min(_LONGEST_RESERVE, max(0.0, remaining) / 4)


def _telling(hooks: Hooks, call: CallInfo, clock: Callable[[], float]) -> Telling:
    from ferry_sdk._engine.hook_runner import Telling  # noqa: PLC0415 -- loaded where there are hooks

    return Telling(hooks, call, clock)


def _conventions(settings: Settings, correlation_id: str) -> dict[str, str]:
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
