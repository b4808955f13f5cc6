"""The service's clock, by which moments of bookings and answers are compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from ferry_sdk._runtime.clock import monotonic

_LAST: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


class ServiceClock:
    """The service's time, kept on a monotonic clock.

    Args:
        clock: A monotonic clock, in seconds.
        wall_time: The seconds since the epoch, until the service has told its own.

    Attributes:
        knows_time: Whether the service has told its time.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        wall_time: Callable[[], float] = time.time,
    ) -> None:
        self.clock: Callable[[], float] = clock
        self._ahead = wall_time() - clock()  # how far the service's time is ahead of the clock
        self.knows_time: bool = False

    def set_time(self, service_time: float, measured_at: float | None = None) -> None:
        """Set the service's clock.

        Args:
            service_time: The service's time, in seconds since the epoch.
            measured_at: When it was that time, on the monotonic clock; None: now.
        """
        if measured_at is None:
            measured_at = self.clock()
        self._ahead = service_time - measured_at
        self.knows_time = True

    def now(self) -> datetime:
        """Return the service's time, within the calendar even if the service's clock is not."""
        return datetime.fromtimestamp(min(self.clock() + self._ahead, _LAST), tz=UTC)
