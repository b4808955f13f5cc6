"""What a client knows about the service: the MCP session and the clock skew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Literal

Stage = Literal["unknown", "open", "bare"]


@dataclass(slots=True)
class Session:
    """One client's knowledge of the service.

    Attributes:
        stage: ``unknown`` before the MCP handshake, ``open`` after it, ``bare`` if the server needs
            none.
        id: The MCP session id; None if the server gave none.
        version: The negotiated MCP version.
        opened_at: When the session was opened, on the monotonic clock.
        generation: The number of handshakes, so that calls that meet the same expired session
            renew it once.
        skew: Seconds that the service's clock is ahead of the local clock, at least.
        has_foreign_ids: Whether a reply carried a correlation id unknown to this process.
    """

    stage: Stage = "unknown"
    id: str | None = None
    version: str | None = None
    opened_at: float = 0.0
    generation: int = 0
    skew: float = 0.0
    has_foreign_ids: bool = False

    def update_clock_skew(self, date: str | None, now: float) -> None:
        """Update the skew from the Date header of a reply; an invalid one is ignored."""
        there = _seconds(date or "")
        if there is not None:
            self.skew = there - now


@lru_cache(maxsize=16)
def _seconds(date: str) -> float | None:
    """Return the seconds since the epoch; cached because many replies have the same date."""
    try:
        moment = parsedate_to_datetime(date)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return moment.timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
