"""The time as the local service sees it: real time, moved or held still by a test."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone


class Clock:
    """Real time plus an offset, or one moment held still; safe to move while requests run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offset = timedelta()
        self._frozen_at: datetime | None = None

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
            ValueError: It would move backwards (`travel_to` may) or leave the calendar.
        """
        try:
            step = by if isinstance(by, timedelta) else timedelta(seconds=by)
            if step < timedelta():
                raise ValueError("a clock advances forwards only; travel_to(moment) goes back")
            with self._lock:
                return self._set(self._now() + step)
        except OverflowError as error:
            raise ValueError(f"the clock cannot advance by {by!r}") from error

    def travel_to(self, moment: datetime) -> datetime:
        """Make `moment` the present, whether earlier or later, and return it.

        Raises:
            ValueError: The moment has no time zone.
        """
        if moment.tzinfo is None:
            raise ValueError("travel_to needs a moment with a time zone")
        with self._lock:
            return self._set(moment.astimezone(timezone.utc))

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
        """Return to real, running time."""
        with self._lock:
            self._frozen_at = None
            self._offset = timedelta()

    def _now(self) -> datetime:
        return self._frozen_at or _real_time() + self._offset

    def _set(self, moment: datetime) -> datetime:
        if self._frozen_at is None:
            self._offset = moment - _real_time()
        else:
            self._frozen_at = moment
        return moment


def _real_time() -> datetime:
    return datetime.now(timezone.utc)
