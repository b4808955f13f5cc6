"""The policy of retries: whether a failed attempt is followed by another, and after which delay.

An attempt is retried if all of these hold:

- its kind of failure is one that the operation's row of the safety table retries, in `retry_on`;
- fewer than `max_retries` attempts followed the first;
- the delay ends before the deadline. Without a deadline, a ``Retry-After`` of more than
  `LONGEST_WAIT` seconds is not waited for.

The kind of a failure (`failure_kind`):

| Failure | Kind | Retried for |
|---|---|---|
| no connection, or another failure before anything was sent | ``not_sent`` | every operation |
| 429 | ``rate_limited`` | every operation |
| no reply, an unreadable one, 408, 500 and above | ``lost`` | reads |
| another status, such as 422; a redirect; a wrong argument or setting | none | none |

A 401 is no such failure: the attempt is repeated once with a new token (`auth.can_refresh`), which
is the kind ``unauthorised``.

The delay is the service's ``Retry-After`` if it sent one, else a random time below an exponential
limit ("full jitter"). tenacity computes the delays. It is slow to import, so `strategies` loads it
before the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from http import HTTPStatus
from itertools import count
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.safety import FailureKind, Safety
from ferry_sdk._runtime.threads import uninterrupted
from ferry_sdk.errors import (
    APIError,
    FerryError,
    ServerError,
    TransportError,
    UnexpectedResponseError,
)

LONGEST_WAIT: Final = 60.0
"""Seconds: the longest ``Retry-After`` that is waited for without a deadline."""


def leaves_outcome_open(status_code: int) -> bool:
    """Return whether a status leaves open what the service did; with any other it did nothing."""
    is_server_error = status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
    return is_server_error or status_code == HTTPStatus.REQUEST_TIMEOUT


def failure_kind(failure: FerryError) -> FailureKind | None:
    """Return the kind of a failure; None if a retry would fail again."""
    if isinstance(failure, APIError) and failure.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limited"
    if not _is_transient(failure):
        return None
    return "not_sent" if failure.outcome == "not_sent" else "lost"


def _is_transient(failure: FerryError) -> bool:
    """Return whether the same request may succeed later."""
    if isinstance(failure, TransportError | ServerError):
        return True
    if isinstance(failure, UnexpectedResponseError):
        return not failure.is_redirect
    return isinstance(failure, APIError) and leaves_outcome_open(failure.status_code)


class Waits(NamedTuple):
    """What tenacity computes from the number of attempts.

    Attributes:
        retry: The seconds before the next attempt.
        poll: The seconds before the next read of a poll.
    """

    retry: Callable[[Any], float]
    poll: Callable[[Any], float]


@cache
@uninterrupted
def strategies() -> Waits:
    """Load tenacity, and return its computation of the delays."""
    import tenacity  # noqa: PLC0415 -- slow to import

    return Waits(
        retry=tenacity.wait_random_exponential(multiplier=0.5, max=8),
        poll=tenacity.wait_exponential(multiplier=0.25, max=10) + tenacity.wait_random(0, 0.25),
    )


def _retry_delay(attempts: int) -> float:
    return strategies().retry(SimpleNamespace(attempt_number=attempts))  # all that tenacity reads


def _poll_delay(attempts: int) -> float:
    return strategies().poll(SimpleNamespace(attempt_number=attempts))


def delay_before(number: int, failure: FerryError, *, safety: Safety, context: Context) -> float:
    """Return the seconds to wait before the retry of this number; the first is 1.

    Raises:
        FerryError: The failure itself, if it is not retried.
    """
    if failure_kind(failure) not in safety.retry_on or number > context.settings.max_retries:
        raise failure

    delay = failure.retry_after if isinstance(failure, APIError) else None
    if delay is None:
        delay = float(_retry_delay(number))

    remaining = context.remaining()
    longest = LONGEST_WAIT if remaining is None else remaining
    if delay > longest:
        raise failure
    return delay


def longest_retry_after(errors: Iterable[FerryError]) -> float:
    """Return the seconds of the longest ``Retry-After`` of the errors; 0 if none has one."""
    waits = [error.retry_after for error in errors if isinstance(error, APIError)]
    return max((wait for wait in waits if wait is not None), default=0.0)


def poll_delays() -> Iterator[float]:
    """Yield the seconds until each next read of a poll."""
    for number in count(1):
        yield float(_poll_delay(number))
