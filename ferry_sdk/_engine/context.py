"""What a client knows of the service, what a call was started with, and how far it got.

A `Context` never changes: the settings, the clocks, the deadline and the correlation id of a call.
Only its `CallState` changes. All requests of a call share the attempts and the correlation id:
retries, handshakes, guards and read-backs.

The fields that decide the outcome of a write are `sending`, by the rules of the module of that
name, `is_in_doubt`, `is_rejected` and `is_done`. So an interruption at any point finds the true
state.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Generic
from weakref import WeakKeyDictionary

from ferry_sdk._engine.correlation import next_correlation_id, recent_ids
from ferry_sdk._engine.effects import Flow, Signal, T
from ferry_sdk._engine.hook_runner import HookRunner
from ferry_sdk._engine.http import RawResponse, Reply, T_co
from ferry_sdk._engine.log import logger
from ferry_sdk._engine.redaction import SHORTEST_TOKEN, Redactor, show_request_id
from ferry_sdk._engine.sending import Sending
from ferry_sdk._engine.settings import Secret, Settings
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.errors import FerryError
from ferry_sdk.hooks import CallInfo, OutcomeEvent
from ferry_sdk.types import Attempt, Outcome


@dataclass(eq=False)
class Session:
    """What one account knows of the service.

    Attributes:
        secrets: The tokens in use by the client and its views, of all accounts.
        id: The MCP session id; None if the server gave none.
        version: The MCP version of the calls; None if they name none.
        opened_at: When the handshake was made or refused, on the monotonic clock; None before it.
        generation: The number of handshakes, so that calls that meet the same expired session
            renew it once.
        skew: Seconds that the service's clock is ahead of the local clock, at least.
        has_foreign_ids: Whether a reply carried a correlation id unknown to this process.
    """

    secrets: WeakKeyDictionary[Secret, None] = field(
        default_factory=WeakKeyDictionary[Secret, None], repr=False
    )
    id: str | None = field(default=None, repr=False)
    version: str | None = None
    opened_at: float | None = None
    generation: int = 0
    skew: float = 0.0
    has_foreign_ids: bool = False

    def of_view(self, old: Settings, new: Settings) -> Session:
        """Return the session of a view with new settings: another one if it is another account."""
        self.remember(new)
        return self if new.token is old.token else Session(self.secrets)

    def remember(self, settings: Settings) -> None:
        """Remember the tokens of a client, so that no text shows them."""
        for secret in (settings.token, settings.organisation_token):
            if secret is not None:
                self.secrets[secret] = None


def new_session(settings: Settings) -> Session:
    """Return the session of a new client."""
    session = Session()
    session.remember(settings)
    return session


class CallState:
    """How far a call got.

    Its fields begin as attributes of the class: to set them all for each call costs bytecodes.

    Attributes:
        attempts: The attempts so far.
        sent_tokens: The tokens sent, in order.
        operation: The operation of the current attempt: the call itself, or a read for it.
        attempt: The number of the current attempt.
        secrets: Returns the texts of its request that nothing may show.
        sending: The request handed over last, until the service is known to have done nothing
            with it.
        is_in_doubt: Whether the call may have happened, whatever became of its last request.
        is_done: Whether the write is known to be done.
        is_rejected: Whether the service refused the last attempt because of the booking's state.
        is_abandoned: Whether nobody waits for the call any more.
        booking_id: The booking that the failed reply of a create named.
        is_unproven: Whether the call is a write that no read proves.
        shown_id: The last reply whose request id was redacted, and what is shown of the id.
    """

    operation: str = ""
    attempt: int = 0
    secrets: Callable[[], frozenset[str]] = frozenset
    sending: Sending | None = None
    is_in_doubt: bool = False
    is_done: bool = False
    is_rejected: bool = False
    is_abandoned: bool = False
    booking_id: str | None = None
    is_unproven: bool = False
    shown_id: tuple[Reply, str | None] | None = None

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.sent_tokens: list[str] = []

    @property
    def may_have_happened(self) -> bool:
        """Whether the call may have happened if it is interrupted now."""
        return self.is_in_doubt or (self.sending is not None and self.sending.may_have_left)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the call if it is interrupted now."""
        if self.may_have_happened:
            return "unknown"
        return "rejected" if self.is_rejected else "not_sent"


@dataclass(slots=True)
class Context:
    """What a call was started with.

    Not frozen, which would take four times as long to create; `replace` makes those that differ.

    Attributes:
        settings: The client's settings.
        session: The MCP session and the clock skew of this account.
        correlation_id: The id that every request of the call carries.
        clock: Monotonic seconds.
        now: Seconds since the epoch, by the local clock.
        began: When the call began, on the monotonic clock.
        deadline: End of the call on the monotonic clock; None: no limit.
        hook_runner: Runs the client's hooks; None without hooks.
        state: How far the call got.
        is_watched: Whether hooks, a raw response, the log or a later error of the same call show
            the attempts of a success, so that it is recorded as soon as it is made.
        keeps_reserve: Whether requests end early enough to leave time for reading back.
        goes_first: Whether requests leave before others that wait for the rate limiter.
        keeps_body: Whether the body of a reply is kept when it is decoded. A raw response shows it,
            also one of another caller who joins the same write.
    """

    settings: Settings
    session: Session
    correlation_id: str
    clock: Callable[[], float]
    now: Callable[[], float]
    began: float
    deadline: float | None
    hook_runner: HookRunner | None
    state: CallState
    is_watched: bool = True
    keeps_reserve: bool = False
    goes_first: bool = False
    keeps_body: bool = True

    @classmethod
    def start(
        cls,
        settings: Settings,
        session: Session,
        operation: str,
        *,
        correlation_id: str | None = None,
        is_raw: bool = False,
        keeps_body: bool = True,
        clock: Callable[[], float] = monotonic,
        now: Callable[[], float] = time.time,
        stop: Signal | None = None,
    ) -> Context:
        """Return the context of a call that starts now; a raw one returns its attempts."""
        call_id = correlation_id or settings.correlation_id or next_correlation_id()
        recent_ids.add(call_id)
        began = clock()
        deadline = None if settings.deadline is None else began + settings.deadline

        is_watched = is_raw or logger.isEnabledFor(logging.INFO)
        runner: HookRunner | None = None
        if settings.hooks:
            is_watched = is_watched or OutcomeEvent in settings.hooks.by_event
            call = CallInfo(operation, call_id, began=now(), label=settings.label)
            runner = HookRunner(settings.hooks, call, clock=clock, stop=stop)

        return cls(
            settings=settings,
            session=session,
            correlation_id=call_id,
            clock=clock,
            now=now,
            began=began,
            deadline=deadline,
            hook_runner=runner,
            state=CallState(),
            is_watched=is_watched,
            keeps_body=keeps_body,
        )

    def for_reads(self, until: float | None = None) -> Context:
        """Return a context for requests besides the call's own, which do not change its outcome.

        Args:
            until: Their deadline, if it is earlier than that of the call.
        """
        deadlines = [moment for moment in (self.deadline, until) if moment is not None]
        earliest = min(deadlines, default=None)
        return replace(self, deadline=earliest, state=copy(self.state), is_watched=True)

    def remaining(self) -> float | None:
        """Return the seconds until the deadline; None: no limit."""
        return None if self.deadline is None else self.deadline - self.clock()

    def redactor(self) -> Redactor:
        """Return a redactor of all tokens in use and of the data in the current request."""
        return Redactor(self._tokens(), self.state.secrets())

    def _tokens(self) -> set[str]:
        """Return all tokens in use, and those that the call has sent."""
        tokens = {self.settings.token.current, *self.state.sent_tokens}
        if self.settings.organisation_token is not None:
            tokens.add(self.settings.organisation_token.current)
        for reference in self.session.secrets.keyrefs():
            secret = reference()
            if secret is not None:
                tokens.add(secret.current)
        return {token for token in tokens if token and len(token) >= SHORTEST_TOKEN}

    def request_id_of(self, reply: Reply) -> str | None:
        """Return the request id of a reply, redacted: once for hooks, logs and raw responses."""
        shown = self.state.shown_id
        if shown is None or shown[0] is not reply:
            request_id = reply.request_id
            if request_id is not None:
                request_id = show_request_id(request_id, self._tokens(), self.state.secrets)
            shown = self.state.shown_id = reply, request_id
        return shown[1]

    def attempt_of(self, reply: Reply) -> Attempt:
        """Return the attempt that has got a reply."""
        return Attempt(
            sent=True,
            status_code=reply.status_code,
            request_id=self.request_id_of(reply),
            operation=self.state.operation,
        )

    def describe(self, error: FerryError, operation: str) -> None:
        """Set the operation, the correlation id and the attempts of an error."""
        error.operation = operation
        error.correlation_id = error.correlation_id or self.correlation_id
        error.attempts = error.attempts or tuple(self.state.attempts)
        if error.request_id is None:
            # The last attempt of the call itself, not one of a read for it.
            for attempt in error.attempts:
                if attempt.operation == operation:
                    error.request_id = attempt.request_id

    def record_wait(self, seconds: float) -> Flow[None]:
        """Record the wait after the last attempt, and notify the hooks of a retry."""
        attempts = self.state.attempts
        attempts[-1] = last = replace(attempts[-1], waited=seconds)
        if self.hook_runner is not None and last.problem is not None:
            yield from self.hook_runner.notify_retry(last, self.state.attempt)


@dataclass(slots=True)
class Result(Generic[T_co]):
    """The value of a call and its last reply, of which a raw response is made if somebody looks.

    Attributes:
        value: The value that the call returns.
        reply: The reply that has it.
        context: The context of the request.
    """

    value: T_co
    reply: Reply
    context: Context

    def of(self, value: T) -> Result[T]:
        """Return the same reply with another value."""
        return Result(value, self.reply, self.context)

    def raw(self) -> RawResponse[T_co]:
        """Return the raw response."""
        context = self.context
        attempts = tuple(context.state.attempts)
        if not context.is_watched:
            # The call was that of another caller, who did not look at its attempts.
            attempts += (context.attempt_of(self.reply),)

        return RawResponse(
            self.value,
            self.reply,
            correlation_id=context.correlation_id,
            elapsed=context.clock() - context.began,
            attempts=attempts,
        )
