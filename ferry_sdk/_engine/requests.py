"""Send the requests of a call and parse their replies, within its deadline."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from http import HTTPStatus
from threading import get_ident
from typing import Final

from pydantic_core import from_json

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.correlation import recent_ids
from ferry_sdk._engine.effects import Flow, RunBlocking, Send, T
from ferry_sdk._engine.headers import CORRELATION_ID
from ferry_sdk._engine.http import Listener, Reply, Request, Timeout, parse_date
from ferry_sdk._engine.limiter import acquire
from ferry_sdk._engine.log import log
from ferry_sdk._engine.reply_limits import LONG_REPLY
from ferry_sdk._engine.retry import leaves_outcome_open
from ferry_sdk.errors import FerryError, RequestTimeoutError, UnexpectedResponseError

LONGEST_RESERVE: Final = 5.0
"""Seconds kept before a deadline for reading back, or a quarter of the remaining time."""
_AFTER_POOL: Final = 0.5
"""Seconds of a deadline that a wait for a connection leaves, or a tenth of the remaining time."""

is_in_worker_thread: ContextVar[bool] = ContextVar("ferry_sdk_is_in_worker_thread", default=False)
"""Whether a reply is parsed in a worker thread, which must let other threads run."""


def send(
    context: Context,
    request: Request,
    listener: Listener | None = None,
    *,
    is_download: bool = False,
) -> Flow[Reply]:
    """Send a request.

    Args:
        context: That of the call.
        request: The request.
        listener: Receives the body while it is read.
        is_download: Whether the request is one for a file at another address, so that the reply
            tells nothing of the service.

    Raises:
        RequestTimeoutError: The deadline has passed.
    """
    until = _send_deadline(context)
    if context.settings.limiter is not None:
        yield from acquire(context.settings.limiter, context, until)

    timeout = context.settings.timeout if until is None else _timeouts_until(context, until)
    effect = Send(
        request, timeout, listener=listener, until=until, is_unproven=context.state.is_unproven
    )
    if not is_download:
        context.state.sending = effect  # before the HTTP library gets it: see `sending`
    reply: Reply
    if context.hook_runner is None:
        reply = yield effect
    else:
        reply = yield from context.hook_runner.send(effect, context)
    if is_download:
        return reply

    replied_to = reply.by_name.get(CORRELATION_ID)
    if replied_to and replied_to != context.correlation_id:
        _refuse_another_calls(context, reply, replied_to)
    service_time = parse_date(reply.by_name.get("date", ""))
    if service_time is not None:
        context.session.skew = service_time - context.now()
    return reply


def read(context: Context, reply: Reply, parse: Callable[[], T]) -> Flow[T]:
    """Parse a reply, a long one in a thread so as not to block the event loop.

    Raises:
        UnexpectedResponseError: The reply cannot be parsed, or does not fit into memory.
        RequestTimeoutError: The deadline has passed; the outcome is unknown.
    """
    try:
        if len(reply.content) < LONG_REPLY:
            return parse()
        work = partial(read_in_thread, parse, get_ident())
        until = _send_deadline(context)
        return (yield from RunBlocking(work, until, may_be_interrupted=True))
    except MemoryError:
        failure: FerryError = UnexpectedResponseError("the reply does not fit into memory")
    except (RequestTimeoutError, UnexpectedResponseError) as error:
        failure = error

    # The request has left, whatever was wrong with the reply.
    failure.outcome = "unknown"
    if isinstance(failure, UnexpectedResponseError):
        failure.status_code = reply.status_code
        failure.request_id = reply.request_id
    raise failure


def read_in_thread(parse: Callable[[], T], waiting_thread: int) -> T:
    """Parse a reply in the current thread, and note whether that is the thread that waits for it.

    A sync call without a deadline runs this in its own thread.
    """
    is_in_worker_thread.set(get_ident() != waiting_thread)
    return parse()


def received_text(context: Context, longest: int) -> str:
    """Return the beginning of what arrived of a reply whose rest was lost, as text.

    It is empty if the reply arrived whole, refuses the request, or belongs to another call.
    """
    sending = context.state.sending
    if sending is None or sending.reply is None or sending.received is None:
        return ""
    status = sending.reply.status_code
    if status >= HTTPStatus.BAD_REQUEST and not leaves_outcome_open(status):
        return ""
    replied_to = sending.reply.by_name.get(CORRELATION_ID)
    if replied_to and replied_to != context.correlation_id and replied_to in recent_ids:
        return ""

    beginning = bytes(sending.received.getbuffer()[:longest])
    return beginning.decode(errors="replace")


def message_id(context: Context) -> object:
    """Return the id of the JSON-RPC message that was sent last; None for a request of REST."""
    sending = context.state.sending
    if not isinstance(sending, Send) or sending.request.rpc_method is None:
        return None
    message: dict[str, object] = from_json(sending.request.content or b"{}")
    return message.get("id")


def _refuse_another_calls(context: Context, reply: Reply, correlation_id: str) -> None:
    """Raise if a reply with another correlation id belongs to another call of this process.

    An unknown correlation id is logged once: a gateway may replace the client's id.
    """
    if correlation_id in recent_ids:
        raise UnexpectedResponseError(
            "the reply belongs to another call of this process",
            status_code=reply.status_code,
            request_id=reply.request_id,
        )

    if not context.session.has_foreign_ids:
        context.session.has_foreign_ids = True
        log(
            context,
            logging.WARNING,
            "replies carry another correlation id than their requests, such as the reply to %s",
            outcome="unknown",
            attempt=context.attempt_of(reply),
        )


def _send_deadline(context: Context) -> float | None:
    """Return the deadline of the next request, which leaves time to read back."""
    if context.deadline is None or not context.keeps_reserve:
        return context.deadline
    remaining = max(0.0, context.deadline - context.clock())
    return context.deadline - min(LONGEST_RESERVE, remaining / 4)


def _timeouts_until(context: Context, until: float) -> Timeout:
    """Return the timeouts, none of them later than a deadline.

    Raises:
        RequestTimeoutError: The deadline has passed.
    """
    timeout = context.settings.timeout
    remaining = until - context.clock()
    if remaining <= 0:
        raise RequestTimeoutError("the deadline has passed")

    # The error of a full pool tells that nothing was sent. If the deadline ended the wait, a
    # caller's HTTP client, which reports no steps before it connects, would not tell.
    in_pool = remaining - min(_AFTER_POOL, remaining / 10)
    return Timeout(
        connect=_at_most(timeout.connect, remaining),
        read=_at_most(timeout.read, remaining),
        write=_at_most(timeout.write, remaining),
        pool=_at_most(timeout.pool, in_pool),
    )


def _at_most(limit: float | None, longest: float) -> float:
    return longest if limit is None else min(limit, longest)
