"""The tariffs a sailing is sold at: how much of the standard fare, and for how long they hold."""

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
    """One way of selling a passage.

    Attributes:
        code: Its name within an offer.
        type: Ticket, Presale or Option.
        family: The conditions of cancelling: saver, standard or flex.
        rate: What it costs, as a part of the standard fare.
        roundtrip: Valid only with the other direction, at any tariff of the same carrier.
    """

    code: str
    type: str
    family: str
    rate: Decimal
    roundtrip: bool = False

    def expires_at(self, ends_at: datetime, now: datetime) -> datetime:
        """Until when a price found now holds; never past the departure, or the validity's end."""
        return min(now + _HOLDS[self.type], ends_at.astimezone(timezone.utc))


_ROUNDTRIP = Level("ROUNDTRIP", "Ticket", "saver", Decimal("0.85"), roundtrip=True)
_SAVER = Level("SAVER", "Ticket", "saver", Decimal("0.90"))
_STANDARD = Level("STANDARD", "Ticket", "standard", Decimal(1))
_FLEX = Level("FLEX", "Ticket", "flex", Decimal("1.20"))
_PRESALE = Level("PRESALE", "Presale", "standard", Decimal("0.95"))
_OPTION = Level("OPTION", "Option", "standard", Decimal("1.05"))


@dataclass(frozen=True, slots=True)
class Tariff:
    """A price for the whole party on one sailing, with the moment until which it holds.

    Attributes:
        amount: With the cheapest place, and the vehicle if there is one; in euros.
        balance_amount: What is left to pay once it is booked: all of it.
    """

    id: str
    level: Level
    amount: Decimal
    issued_at: datetime
    expires_at: datetime

    @property
    def type(self) -> str:
        """Ticket, Presale or Option."""
        return self.level.type

    @property
    def family(self) -> str:
        """The conditions of cancelling: saver, standard or flex."""
        return self.level.family

    @property
    def name(self) -> str:
        """Its name within an offer, the same in every offer."""
        return self.level.code

    @property
    def roundtrip_locked(self) -> bool:
        """Whether it is valid only with the other direction, at the same carrier."""
        return self.level.roundtrip

    @property
    def balance_amount(self) -> Decimal:
        """What is left to pay once it is booked: nothing is paid before, so all of it."""
        return self.amount


def levels(sailing: Sailing, now: datetime, *, is_open: bool, round_trip: bool) -> Iterator[Level]:
    """The levels a sailing is sold at, the cheapest first but for presale and option.

    Args:
        sailing: The sailing.
        now: The moment of the search.
        is_open: An open ticket is asked for: the flexible level only.
        round_trip: Both directions are asked for, and both have sailings.
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
