"""The time as the local service sees it: real time, moved or held still by a test."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone

# Within these years every sailing, deadline and validity is a date that Python has.
_EARLIEST = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LATEST = datetime(2199, 12, 31, tzinfo=timezone.utc)


class Clock:
    """Real time plus an offset, or one moment held still; safe to move while requests run."""

    def __init__(self, now: datetime | None = None, *, frozen: bool = False) -> None:
        """Make a clock.

        Args:
            now: The moment to begin at, with a time zone; left out, the present.
            frozen: Whether time stands still to begin with.

        Raises:
            ValueError: The moment has no time zone, or is not in the years 1970 to 2199.
        """
        self._lock = threading.Lock()
        self._offset = timedelta()
        self._frozen_at: datetime | None = None
        self._first = None if now is None else to_utc(now)
        self._first_frozen = frozen
        self.reset()

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""
        with self._lock:
            return self._now()

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        with self._lock:
            return self._frozen_at is not None

    def advance(self, by: timedelta | float) -> datetime:
        """Move forward and return the new present.

        Args:
            by: How far; a number counts seconds.

        Raises:
            ValueError: It would move backwards (`travel_to` may) or leave the years 1970 to 2199.
        """
        try:
            step = by if isinstance(by, timedelta) else timedelta(seconds=by)
            if step < timedelta():
                raise ValueError("a clock advances forwards only; travel_to(moment) goes back")
            with self._lock:
                return self._set(to_utc(self._now() + step))
        except OverflowError as error:
            raise ValueError(f"the clock cannot advance by {by!r}") from error

    def travel_to(self, moment: datetime) -> datetime:
        """Make `moment` the present, whether earlier or later, and return it.

        Raises:
            ValueError: The moment has no time zone, or is not in the years 1970 to 2199.
        """
        with self._lock:
            return self._set(to_utc(moment))

    def freeze(self) -> None:
        """Hold the present still until `resume`; `advance` and `travel_to` still move it."""
        with self._lock:
            self._frozen_at = self._now()

    def resume(self) -> None:
        """Let time run on from the moment it was held at."""
        with self._lock:
            now = self._now()
            self._frozen_at = None
            self._set(now)

    def reset(self) -> None:
        """Return to how the clock began: to real, running time unless it was told otherwise."""
        with self._lock:
            now = _real_time()
            first = self._first or now
            self._offset = first - now
            self._frozen_at = first if self._first_frozen else None

    def _now(self) -> datetime:
        return self._frozen_at or _real_time() + self._offset

    def _set(self, moment: datetime) -> datetime:
        if self._frozen_at is None:
            self._offset = moment - _real_time()
        else:
            self._frozen_at = moment
        return moment


def to_utc(moment: datetime) -> datetime:
    """Return the moment in UTC.

    Raises:
        ValueError: It has no time zone, or is not in the years 1970 to 2199.
    """
    if moment.tzinfo is None:
        raise ValueError("the clock needs a moment with a time zone")
    if not _EARLIEST <= moment <= _LATEST:
        raise ValueError("the clock goes from the year 1970 to 2199 only")
    return moment.astimezone(timezone.utc)


def _real_time() -> datetime:
    return datetime.now(timezone.utc)
