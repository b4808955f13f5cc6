"""A recorder of writes in memory that can be made to fail."""

from __future__ import annotations

from datetime import datetime, timezone

from ferry_sdk._engine.effects import RunBlocking, Send
from ferry_sdk.types import JournalEntry


class Notes:
    """A journal in memory.

    Args:
        refusal: Raised instead of taking an intent.
        failure: Raised instead of taking an outcome.

    Attributes:
        intents: What was begun, by the entry's id.
        states: How it stands.
        details: What the last outcome named.
    """

    def __init__(self, *, api_error=None, failure=None):
        self._refusal = api_error
        self._failure = failure
        self.intents = {}
        self.states = {}
        self.details = {}

    def begin(self, intent):
        """Record an intent."""
        if self._refusal is not None:
            raise self._refusal
        entry_id = f"entry-{len(self.intents) + 1}"
        self.intents[entry_id] = intent
        self.states[entry_id] = "open"
        return entry_id

    def end(self, entry_id, state, details=None):
        """Record an outcome."""
        if self._failure is not None:
            raise self._failure
        self.states[entry_id] = state
        self.details[entry_id] = details


def entry(operation, state="unknown", **subject):
    """Return the journal entry of a write."""
    moment = datetime(2027, 3, 1, 8, tzinfo=timezone.utc)
    return JournalEntry(
        id="entry-7",
        operation=operation,
        method="POST",
        path="/api/somewhere",
        subject=subject,
        correlation_id="c-7",
        fingerprint="f-7",
        state=state,
        created_at=moment,
        changed_at=moment,
    )


def kinds(driver):
    """Return requests and journal calls, in order."""
    return [type(effect) for effect in driver.effects if isinstance(effect, Send | RunBlocking)]
