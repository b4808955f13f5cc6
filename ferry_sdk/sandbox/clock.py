"""The clock of the local service: real time that tests can move or freeze."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ferry_sdk._runtime.clock import Datetime

# Within these years, Python can represent every sailing, deadline and validity.
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(2199, 12, 31, tzinfo=UTC)


@dataclass(frozen=True)
class ClockState:
    """The state of a clock: its distance from real time, and when it is frozen if it is."""

    offset: timedelta
    frozen_at: Datetime | None


class Clock:
    """Real time plus an offset, or a frozen time; thread-safe.

    Example:
        ```python
        from datetime import timedelta

        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox:
            clock = sandbox.clock
            clock.freeze()
            before = clock.now()
            print(clock.advance(timedelta(hours=1)) - before)
            # > 1:00:00
            clock.travel_to(before)
            clock.resume()
            clock.reset()
        ```
    """

    def __init__(self, now: datetime | None = None, *, frozen: bool = False) -> None:
        """Make a clock.

        Args:
            now: The initial time, with a time zone; by default the real time.
            frozen: Whether the clock starts frozen.

        Raises:
            ValueError: The time has no time zone, or is not in the years 1970 to 2199.
        """
        self._lock = threading.Lock()
        self._first = None if now is None else to_utc(now)
        self._first_frozen = frozen
        self._save: Callable[[ClockState], None] | None = None
        self.reset()

    def now(self) -> datetime:
        """Return the current time in UTC."""
        state = self._state
        return state.frozen_at or _real_time() + state.offset

    @property
    def frozen(self) -> bool:
        """Whether the clock is frozen."""
        return self._state.frozen_at is not None

    def advance(self, by: timedelta | float) -> datetime:
        """Move the clock forward and return the new time.

        Args:
            by: A duration; a number is in seconds.

        Raises:
            ValueError: `by` is negative, or the new time is not in the years 1970 to 2199.
        """
        try:
            step = by if isinstance(by, timedelta) else timedelta(seconds=by)
            if step < timedelta():
                raise ValueError("the clock advances forwards only; travel_to(moment) goes back")
            with self._lock:
                return self._set(to_utc(self.now() + step))
        except OverflowError as error:
            raise ValueError(f"the clock cannot advance by {by!r}") from error

    def travel_to(self, moment: datetime) -> datetime:
        """Set the clock to an earlier or later time and return it.

        Raises:
            ValueError: `moment` has no time zone, or is not in the years 1970 to 2199.
        """
        with self._lock:
            return self._set(to_utc(moment))

    def freeze(self) -> None:
        """Stop the clock until `resume`; `advance` and `travel_to` still move it."""
        with self._lock:
            self._change(replace(self._state, frozen_at=self.now()))

    def resume(self) -> None:
        """Let the clock run again."""
        with self._lock:
            self._change(ClockState(self.now() - _real_time(), None))

    def reset(self) -> None:
        """Restore the initial time and state: by default real, running time."""
        with self._lock:
            now = _real_time()
            first = self._first or now
            frozen_at = first if self._first_frozen else None
            self._change(ClockState(first - now, frozen_at))

    def persist(self, saved: ClockState | None, save: Callable[[ClockState], None] | None) -> None:
        """Continue from a saved state, if any, and call `save` now and after each change."""
        with self._lock:
            self._save = save
            self._change(saved or self._state)

    def _change(self, state: ClockState) -> None:
        self._state = state
        if self._save is not None:
            self._save(state)

    def _set(self, moment: datetime) -> datetime:
        if self._state.frozen_at is None:
            self._change(ClockState(moment - _real_time(), None))
        else:
            self._change(replace(self._state, frozen_at=moment))
        return moment


def to_utc(moment: datetime) -> datetime:
    """Return the time in UTC.

    Raises:
        ValueError: `moment` has no time zone, or is not in the years 1970 to 2199.
    """
    if moment.tzinfo is None:
        raise ValueError("the clock needs a time with a time zone")
    if not _EARLIEST <= moment <= _LATEST:
        raise ValueError("the clock supports the years 1970 to 2199")
    return moment.astimezone(UTC)


def _real_time() -> datetime:
    return datetime.now(UTC)
