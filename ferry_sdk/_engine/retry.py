"""Whether a failed attempt is followed by another, and when: tenacity's strategies decide."""

from __future__ import annotations

from tenacity import (
    DoSleep,
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
    wait_random_exponential,
)

from ferry_sdk.errors import APIError, FerryError
from ferry_sdk.safety import Safety, cause_of

LONGEST_WAIT = 60.0
"""Seconds: a ``Retry-After`` beyond them is not waited for, where there is no deadline."""

_backoff = wait_random_exponential(multiplier=0.5, max=8)
_pause = wait_exponential(multiplier=0.25, max=10) + wait_random(0, 0.25)


class Repeating:
    """The decisions of one call; made anew for each, as its state is its own.

    Args:
        safety: The operation's row of the safety table.
        max_retries: How many attempts may follow the first.
    """

    def __init__(self, safety: Safety, max_retries: int) -> None:
        self._safety = safety
        self._longest = LONGEST_WAIT
        self._retrying = Retrying(
            stop=stop_after_attempt(max_retries + 1),
            wait=_wait,
            retry=retry_if_exception(self._may_repeat),
            reraise=True,
        )
        self._state = RetryCallState(self._retrying, None, (), {})
        self._retrying.begin()

    def wait_after(self, failure: FerryError, remaining: float | None) -> float:
        """Seconds to wait before the next attempt.

        Args:
            failure: What became of the last.
            remaining: Seconds until the call has to be over; None: no limit.

        Raises:
            FerryError: The failure itself: there is no next attempt.
        """
        self._longest = LONGEST_WAIT if remaining is None else remaining
        self._state.set_exception((type(failure), failure, failure.__traceback__))
        step = self._retrying.iter(self._state)
        assert isinstance(step, DoSleep)  # noqa: S101 -- a failure is raised, or slept on
        seconds = float(step)
        if seconds > self._longest:
            raise failure
        self._state.prepare_for_next_attempt()
        return seconds

    def _may_repeat(self, failure: BaseException) -> bool:
        if not isinstance(failure, FerryError) or cause_of(failure) not in self._safety.resend:
            return False
        return not isinstance(failure, APIError) or (failure.retry_after or 0) <= self._longest


class Pauses:
    """The gentle backoff of one call that looks again and again."""

    def __init__(self) -> None:
        self._state = RetryCallState(Retrying(), None, (), {})

    def next(self) -> float:
        """Seconds until the next look."""
        seconds = float(_pause(self._state))
        self._state.prepare_for_next_attempt()
        return seconds


def _wait(state: RetryCallState) -> float:
    failure = state.outcome.exception() if state.outcome else None
    if isinstance(failure, APIError) and failure.retry_after is not None:
        return failure.retry_after
    return _backoff(state)
