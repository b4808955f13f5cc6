"""The policy of retries: whether a failed attempt is followed by another, and after which delay.

An attempt is retried if all of these hold:

- its `failure_kind` is one that the operation's row of the safety table retries;
- fewer than `max_retries` attempts followed the first;
- the delay ends before the deadline. Without a deadline, a ``Retry-After`` of more than
  `LONGEST_WAIT` seconds is not waited for.

The delay is the service's ``Retry-After`` if it sent one, else a random time below an exponential
limit ("full jitter"). tenacity computes the delays and counts the attempts. It is slow to import,
so `strategies` loads it before the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from ferry_sdk._engine.limits import LONGEST_WAIT
from ferry_sdk._engine.safety import Safety, failure_kind
from ferry_sdk._runtime.threads import uninterrupted
from ferry_sdk.errors import APIError, FerryError


class Strategies(NamedTuple):
    """What tenacity computes from the number of attempts.

    Attributes:
        retry_delay: The seconds before the next attempt.
        poll_delay: The seconds before the next read of a poll.
        stop_after: Makes a function that tells whether an attempt is the last.
    """

    retry_delay: Callable[[Any], float]
    poll_delay: Callable[[Any], float]
    stop_after: Callable[[int], Callable[[Any], bool]]


@cache
@uninterrupted
def strategies() -> Strategies:
    """Load tenacity."""
    import tenacity  # noqa: PLC0415 -- slow to import

    return Strategies(
        tenacity.wait_random_exponential(multiplier=0.5, max=8),
        tenacity.wait_exponential(multiplier=0.25, max=10) + tenacity.wait_random(0, 0.25),
        tenacity.stop_after_attempt,
    )


def _retry_delay(attempts: object) -> float:
    return strategies().retry_delay(attempts)


def _poll_delay(attempts: object) -> float:
    return strategies().poll_delay(attempts)


class RetryPolicy:
    """The decisions of one call. It counts the attempts, so each call needs its own."""

    def __init__(self, safety: Safety, max_retries: int) -> None:
        self._safety = safety
        self._is_last = strategies().stop_after(max_retries + 1)
        self._attempts: Any = SimpleNamespace(attempt_number=1)  # all that tenacity reads

    def delay_after(self, failure: FerryError, remaining: float | None) -> float:
        """Return the seconds to wait before the next attempt.

        `remaining` are the seconds until the deadline; None without one.

        Raises:
            FerryError: The failure itself, if there is no next attempt.
        """
        longest = LONGEST_WAIT if remaining is None else remaining
        if failure_kind(failure) not in self._safety.retry_on or self._is_last(self._attempts):
            raise failure
        delay = failure.retry_after if isinstance(failure, APIError) else None
        if delay is None:
            delay = float(_retry_delay(self._attempts))
        if delay > longest:
            raise failure
        self._attempts.attempt_number += 1
        return delay


class PollBackoff:
    """The delays between the reads of one poll."""

    def __init__(self) -> None:
        self._attempts: Any = SimpleNamespace(attempt_number=1)  # all that tenacity reads

    def next(self) -> float:
        """Return the seconds until the next read."""
        delay = float(_poll_delay(self._attempts))
        self._attempts.attempt_number += 1
        return delay
