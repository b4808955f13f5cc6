"""The journal of a command that writes."""

from __future__ import annotations

from datetime import datetime

from ferry_sdk.journal import Journal, statements
from ferry_sdk.types import Intent, JournalEntry, OrderRecord


class CommandJournal(Journal):
    """A journal that finds what the command put on record."""

    _correlation_id: str | None = None
    _order_id: str | None = None

    def begin(self, intent: Intent, order: OrderRecord | None = None) -> str:
        """Record that a write begins."""
        # The ids are noted first, because an interruption of `begin` may leave an entry.
        self._correlation_id = intent.correlation_id
        if order is not None:
            self._order_id = order.id
        return super().begin(intent, order)

    def save_order(self, order: OrderRecord) -> None:
        """Save an order."""
        self._order_id = order.id
        super().save_order(order)

    def newest_bookings(self, *, since: datetime | None, limit: int) -> list[str]:
        """Return the bookings with the newest writes since a moment, newest first."""
        return self._use("read", statements.newest_booking_ids, since=since, limit=limit)

    def possible_write(self) -> JournalEntry | OrderRecord | None:
        """Return the command's order, or its write if it is done or may have happened."""
        if self._order_id is not None:
            return next(iter(self.load_orders(self._order_id)), None)
        if self._correlation_id is None:
            return None

        for entry in self.entries(correlation_id=self._correlation_id):
            if entry.is_unresolved or entry.state == "done":
                return entry
        return None
