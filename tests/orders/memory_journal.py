"""A journal in memory, with the two rules that orders rely on.

1. A write does not begin while an earlier write with the same operation and subject is unresolved.
2. An order is saved only by the program that read its last revision.

Each change counts two moments, one before it and one after it, so that a test can end the process
at either.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ferry_sdk.errors import JournalError, UnresolvedWriteError
from ferry_sdk.types import JournalEntry, OrderRecord, OutcomeDetails

NOW = datetime(2050, 5, 3, tzinfo=UTC)


@dataclass
class MemoryJournal:
    """A journal in memory.

    Attributes:
        tick: Counts a moment, and ends the process at the moment that the test chose.
        entries: The writes by their ids.
        orders: The orders by their ids.
    """

    tick: Callable[[], None]
    entries: dict[str, JournalEntry] = field(default_factory=dict)
    orders: dict[str, OrderRecord] = field(default_factory=dict)

    @property
    def unresolved(self):
        """The entries whose outcome is not known."""
        return [entry for entry in self.entries.values() if entry.is_unresolved]

    def load_orders(self, order_id=None, *, only_unfinished=False):
        """Return the orders, each with the entry of its last write."""
        orders = self.orders.values()
        if order_id is not None:
            orders = [order for order in orders if order.id == order_id]
        if only_unfinished:
            orders = [order for order in orders if not order.is_finished]
        return tuple(
            replace(order, entry=self.entries.get(order.entry_id or "")) for order in orders
        )

    def save_order(self, order):
        """Save an order."""
        self.tick()
        self._save(order, order.entry_id)
        self.tick()

    def begin(self, intent, order):
        """Add the entry of a write and save its order, as in one transaction."""
        self.tick()
        for entry in self.unresolved:
            if self._is_repeated(intent, entry):
                raise UnresolvedWriteError(entry)

        self._save(order, self._next_entry_id())
        entry_id = self.add(intent)
        self.tick()
        return entry_id

    def end(self, entry_id, state, details=None):
        """Record the outcome of a write."""
        self.tick()
        entry = self.entries[entry_id]
        booking_id = (details or OutcomeDetails()).booking_id or entry.booking_id
        self.entries[entry_id] = replace(entry, state=state, booking_id=booking_id)
        self.tick()

    def add(self, intent):
        """Add an open entry without an order, as another program does."""
        entry_id = self._next_entry_id()
        self.entries[entry_id] = JournalEntry(
            id=entry_id,
            operation=intent.operation,
            method="",
            path="",
            subject=dict(intent.subject),
            correlation_id="",
            fingerprint="",
            state="open",
            created_at=NOW,
            changed_at=NOW,
            booking_id=intent.subject.get("booking_id"),
        )
        return entry_id

    def settle(self, entry_id, booking_id, *, happened):
        """Record whether a write happened, as a user does by hand."""
        entry = self.entries[entry_id]
        state = "done" if happened else "rejected"
        self.entries[entry_id] = replace(
            entry, state=state, booking_id=booking_id or entry.booking_id
        )

    def _is_repeated(self, intent, entry):
        # A write that creates something has no subject: a second one is another write.
        if not intent.subject:
            return False
        return entry.operation == intent.operation and entry.subject == dict(intent.subject)

    def _next_entry_id(self):
        return f"e{len(self.entries)}"

    def _save(self, order, entry_id):
        saved = self.orders.get(order.id)
        last_revision = 0 if saved is None else saved.revision
        if order.revision != last_revision:
            raise JournalError("another program")
        self.orders[order.id] = replace(order, revision=order.revision + 1, entry_id=entry_id)
