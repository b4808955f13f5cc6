"""What the service has told this client: its MCP session, and how far its clock is ahead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Literal

Stage = Literal["unknown", "open", "bare"]


@dataclass(slots=True)
class Session:
    """One client's knowledge of the service; changed by the protocols only.

    Attributes:
        stage: ``unknown`` before the MCP handshake, ``open`` after one, ``bare`` where the server
            wants none.
        id: The server's name for the MCP session; None where it gave none.
        version: The MCP version that was agreed on.
        opened_at: When, on the monotonic clock.
        generation: How many handshakes there were, so that calls that met the same end of a
            session renew it once.
        skew: Seconds that the service's clock is ahead of this machine's, at the least.
        has_foreign_ids: Whether replies were seen that name the correlation id of no call here.
    """

    stage: Stage = "unknown"
    id: str | None = None
    version: str | None = None
    opened_at: float = 0.0
    generation: int = 0
    skew: float = 0.0
    has_foreign_ids: bool = False

    def update_clock_skew(self, date: str | None, now: float) -> None:
        """Take the time from a reply's Date; one that cannot be read says nothing."""
        heard = _seconds(date or "")
        if heard is not None:
            self.skew = heard - now


@lru_cache(maxsize=16)
def _seconds(date: str) -> float | None:
    """The moment in seconds since the epoch; many replies have the same."""
    try:
        moment = parsedate_to_datetime(date)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return moment.timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
