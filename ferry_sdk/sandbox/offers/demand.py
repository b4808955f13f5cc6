"""How full a sailing is: fuller in high season, at weekends and as the day comes nearer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from ferry_sdk.sandbox.network.seeded_random import Dice
    from ferry_sdk.sandbox.network.timetable import Sailing

_ALL = 1000
_BY_MONTH = (0, 0, 0, 20, 30, 70, 150, 150, 60, 0, 0, 40)
_WEEKEND, _WEEKEND_DAYS = 70, (4, 5, 6)
_CURVE = ((2, 1000), (7, 950), (14, 840), (30, 760), (60, 620), (90, 450), (180, 300))
_EARLY = 150


class Demand:
    """What is sold of a sailing at a moment, in thousandths."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def left(self, sailing: Sailing, code: str, units: int, now: datetime) -> int:
        """How many of so many units of one kind of place are left, some kinds sooner gone."""
        sold = self._sold(sailing, now)
        favoured = sold * (800 + self._dice.below(201, "kind", sailing.id, code)) // _ALL
        return 0 if sold >= _ALL else units * (_ALL - favoured) // _ALL

    def _sold(self, sailing: Sailing, now: datetime) -> int:
        """The share of the ship that is sold; all of it or more: nothing is left."""
        day = sailing.depart_at
        final = 400 + self._dice.below(560, "demand", sailing.id) + _BY_MONTH[day.month - 1]
        if day.weekday() in _WEEKEND_DAYS:
            final += _WEEKEND
        ahead = (day - now).days
        return final * next((share for days, share in _CURVE if ahead < days), _EARLY) // _ALL
