"""A journal that remembers which entries were made through it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk import JournalEntry
    from ferry_sdk.journal import Journal
    from ferry_sdk.types import EndState, Intent, OutcomeDetails


class Noting:
    """Passes everything on to the journal.

    Args:
        journal: The journal.
        beginning: Called before a write is put on record.

    Attributes:
        ids: The entries that were begun, in order.
    """

    def __init__(self, journal: Journal, beginning: Callable[[], object] | None = None) -> None:
        self._journal = journal
        self._beginning = beginning
        self.ids: list[str] = []

    def begin(self, intent: Intent) -> str:
        if self._beginning is not None:
            self._beginning()
        entry_id = self._journal.begin(intent)
        self.ids.append(entry_id)
        return entry_id

    def end(self, entry_id: str, state: EndState, details: OutcomeDetails | None = None) -> None:
        self._journal.end(entry_id, state, details)

    @property
    def entries(self) -> list[JournalEntry]:
        """The entries, as they are now."""
        return [self._journal.entry(entry_id) for entry_id in self.ids]

    @property
    def states(self) -> list[str]:
        """What is known of them now."""
        return [entry.state for entry in self.entries]
