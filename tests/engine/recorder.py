"""A journal in memory that can be made to fail."""

from datetime import UTC, datetime

from ferry_sdk._engine.effects import RunBlocking, Send
from ferry_sdk.types import JournalEntry


class Notes:
    """Keeps all by the entry's id, or raises: `refusal` at an intent, `failure` at an outcome."""

    def __init__(self, *, refusal=None, failure=None):
        self._refusal = refusal
        self._failure = failure
        self.intents = {}
        self.states = {}
        self.details = {}

    def begin(self, intent):
        if self._refusal is not None:
            raise self._refusal
        entry_id = f"entry-{len(self.intents) + 1}"
        self.intents[entry_id] = intent
        self.states[entry_id] = "open"
        return entry_id

    def end(self, entry_id, state, details=None):
        if self._failure is not None:
            raise self._failure
        self.states[entry_id] = state
        self.details[entry_id] = details


def entry(operation, state="unknown", **subject):
    """Return an entry of a journal with the id ``entry-7`` and the correlation id ``c-7``."""
    moment = datetime(2027, 3, 1, 8, tzinfo=UTC)
    return JournalEntry(
        id="entry-7",
        correlation_id="c-7",
        fingerprint="f-7",
        method="POST",
        path="/api/somewhere",
        operation=operation,
        subject=subject,
        state=state,
        created_at=moment,
        changed_at=moment,
    )


def kinds(driver):
    """Return the types of the effects that send a request or call a journal, in order."""
    return [type(effect) for effect in driver.effects if isinstance(effect, Send | RunBlocking)]
