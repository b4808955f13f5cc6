"""The places that are taken: those of bookings, if these count, and those that a fault takes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

_ALL = 1_000_000


class Reservation(NamedTuple):
    """Places of one kind on one sailing, and whether they are held at a time."""

    sailing_id: str
    kind: str
    units: int
    is_held: Callable[[datetime], bool]


class Inventory:
    """The reservations of every sailing.

    A search reads them while a booking adds some: both happen in single steps, and a booking
    checks its places again.
    """

    def __init__(self, *, counts_bookings: bool = False) -> None:
        """Make an inventory without reservations.

        Args:
            counts_bookings: Whether bookings take places.
        """
        self._counts_bookings = counts_bookings
        self._reservations: dict[str, list[Reservation]] = {}
        self._sold_out: set[tuple[str, str]] = set()

    def add(self, reservation: Reservation) -> None:
        """Add the places of a booking, if bookings count."""
        if self._counts_bookings:
            self._reservations.setdefault(reservation.sailing_id, []).append(reservation)

    def sell_out(self, sailing_id: str, kind: str) -> None:
        """Mark every place of one kind on a sailing as taken by others."""
        self._sold_out.add((sailing_id, kind))

    def taken(self, sailing_id: str, kind: str, now: datetime) -> int:
        """Return how many places of one kind are taken on a sailing."""
        if (sailing_id, kind) in self._sold_out:
            return _ALL
        return sum(
            each.units
            for each in tuple(self._reservations.get(sailing_id, ()))
            if each.kind == kind and each.is_held(now)
        )
