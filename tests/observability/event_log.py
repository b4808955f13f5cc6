"""Hooks that keep their events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from ferry_sdk import OutcomeEvent, RequestEvent, ResponseEvent, RetryEvent

if TYPE_CHECKING:
    from ferry_sdk import EventHooks

NAMES = ("request", "response", "retry", "outcome")


class EventLog:
    """The events of hooks, in order.

    Attributes:
        events: All of them.
    """

    def __init__(self) -> None:
        self.events: list[Any] = []

    @property
    def hooks(self) -> EventHooks:
        """Hooks for either client."""
        hooks: Any = {name: [self.events.append] for name in NAMES}
        return hooks

    @property
    def ahooks(self) -> EventHooks:
        """Hooks for an `AsyncFerry`, which lets others run meanwhile."""
        hooks: Any = {name: [self._note] for name in NAMES}
        return hooks

    async def _note(self, event: object) -> None:
        await anyio.lowlevel.checkpoint()
        self.events.append(event)

    @property
    def kinds(self) -> list[str]:
        """Which events, in order."""
        return [type(event).__name__.removesuffix("Event").lower() for event in self.events]

    @property
    def requests(self) -> list[RequestEvent]:
        return [event for event in self.events if isinstance(event, RequestEvent)]

    @property
    def responses(self) -> list[ResponseEvent]:
        return [event for event in self.events if isinstance(event, ResponseEvent)]

    @property
    def retries(self) -> list[RetryEvent]:
        return [event for event in self.events if isinstance(event, RetryEvent)]

    @property
    def outcome(self) -> OutcomeEvent:
        """The only outcome there is."""
        (outcome,) = [event for event in self.events if isinstance(event, OutcomeEvent)]
        return outcome
