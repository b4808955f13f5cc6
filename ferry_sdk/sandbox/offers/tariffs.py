"""Tariffs: their share of the standard fare, and how long they are valid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferry_sdk.sandbox.network.timetable import Sailing

_HOLDS = {
    "Ticket": timedelta(minutes=30),
    "Option": timedelta(hours=24),
    "Presale": timedelta(days=3),
}
_OPTION_FROM, _SAVER_FROM, _PRESALE_FROM = 2, 7, 14
_SAVER_MINUTES = 180


@dataclass(frozen=True, slots=True)
class Level:
    """A type of tariff.

    Attributes:
        code: The name within an offer.
        type: Ticket, Presale or Option.
        family: The fare family, which sets the fees: saver, standard or flex.
        rate: The share of the standard fare.
        roundtrip: Whether it needs the other direction with the same company.
    """

    code: str
    type: str
    family: str
    rate: Decimal
    roundtrip: bool = False

    def expires_at(self, ends_at: datetime, now: datetime) -> datetime:
        """Return the end of a price found now, at most `ends_at`."""
        return min(now + _HOLDS[self.type], ends_at.astimezone(timezone.utc))


_ROUNDTRIP = Level("ROUNDTRIP", "Ticket", "saver", Decimal("0.85"), roundtrip=True)
_SAVER = Level("SAVER", "Ticket", "saver", Decimal("0.90"))
_STANDARD = Level("STANDARD", "Ticket", "standard", Decimal(1))
_FLEX = Level("FLEX", "Ticket", "flex", Decimal("1.20"))
_PRESALE = Level("PRESALE", "Presale", "standard", Decimal("0.95"))
_OPTION = Level("OPTION", "Option", "standard", Decimal("1.05"))


@dataclass(frozen=True, slots=True)
class Tariff:
    """The price for a whole party on one sailing, and its end.

    Attributes:
        amount: With the cheapest place and the vehicle, in euros.
    """

    id: str
    level: Level
    amount: Decimal
    issued_at: datetime
    expires_at: datetime


def levels(sailing: Sailing, now: datetime, *, is_open: bool, round_trip: bool) -> Iterator[Level]:
    """Yield the tariff levels of a sailing, cheapest first, then presale and option.

    Args:
        sailing: The sailing.
        now: The time of the search.
        is_open: Whether the ticket is open, which has the flexible level only.
        round_trip: Whether both directions are searched and have sailings.
    """
    if is_open:
        yield _FLEX
        return
    ahead = (sailing.depart_at - now).days
    if round_trip and sailing.company.round_trip_fares:
        yield _ROUNDTRIP
    if ahead >= _SAVER_FROM and sailing.minutes >= _SAVER_MINUTES:
        yield _SAVER
    yield _STANDARD
    yield _FLEX
    if ahead >= _PRESALE_FROM:
        yield _PRESALE
    if ahead >= _OPTION_FROM:
        yield _OPTION
