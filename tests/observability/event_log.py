"""Hooks that keep their events."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel

from ferry_sdk import OutcomeEvent, RequestEvent, ResponseEvent, RetryEvent

NAMES = ("request", "response", "retry", "outcome")


class EventLog:
    """The events of hooks, in order.

    Attributes:
        events: All of them.
    """

    def __init__(self):
        self.events: list[Any] = []

    @property
    def hooks(self):
        """Hooks for either client."""
        return {name: [self.events.append] for name in NAMES}

    @property
    def ahooks(self):
        """Hooks for an `AsyncFerry`, which lets others run meanwhile."""
        return {name: [self._note] for name in NAMES}

    async def _note(self, event):
        await anyio.lowlevel.checkpoint()
        self.events.append(event)

    @property
    def kinds(self):
        """Which events, in order."""
        return [type(event).__name__.removesuffix("Event").lower() for event in self.events]

    @property
    def requests(self):
        return [event for event in self.events if isinstance(event, RequestEvent)]

    @property
    def responses(self):
        return [event for event in self.events if isinstance(event, ResponseEvent)]

    @property
    def retries(self):
        return [event for event in self.events if isinstance(event, RetryEvent)]

    @property
    def outcome(self):
        """The only outcome there is."""
        (outcome,) = [event for event in self.events if isinstance(event, OutcomeEvent)]
        return outcome
