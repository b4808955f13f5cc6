"""The places that are taken: those of bookings, if these count, and those that a fault takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime

_ALL = 1_000_000

Reservation = tuple[int, Callable[[datetime], bool]]
"""How many places are taken, and a function that tells whether they are held at a time."""


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
        self._reservations: defaultdict[tuple[str, str], list[Reservation]] = defaultdict(list)
        self._sold_out: set[tuple[str, str]] = set()

    def add(self, sailing_id: str, kind: str, reservation: Reservation) -> None:
        """Add places of a booking, if bookings count."""
        if self._counts_bookings:
            self._reservations[sailing_id, kind].append(reservation)

    def sell_out(self, sailing_id: str, kind: str) -> None:
        """Mark every place of one kind on a sailing as taken by others."""
        self._sold_out.add((sailing_id, kind))

    def taken(self, sailing_id: str, kind: str, now: datetime) -> int:
        """Return how many places of one kind are taken on a sailing."""
        if (sailing_id, kind) in self._sold_out:
            return _ALL
        reservations = tuple(self._reservations.get((sailing_id, kind), ()))
        return sum(units for units, is_held in reservations if is_held(now))
