"""Hooks as both type checkers see them; nothing here is run."""

from __future__ import annotations

from ferry_sdk import (
    AsyncFerry,
    EventHooks,
    Ferry,
    OutcomeEvent,
    RequestEvent,
    ResponseEvent,
    RetryEvent,
    otel,
)

seen: list[object] = []


def note(event: ResponseEvent) -> None:
    """A hook of one kind of event."""
    seen.append((event.request.call.operation, event.status_code))


def note_any(event: RequestEvent | ResponseEvent | RetryEvent | OutcomeEvent) -> None:
    """A hook of every kind."""
    seen.append(event)


async def send(event: OutcomeEvent) -> None:
    """An async hook."""
    seen.append(event.outcome == "done")


def hooks_of_either_client() -> None:
    """Literals need no annotation."""
    hooks: EventHooks = {"request": [seen.append, note_any], "response": [note], "retry": [print]}
    Ferry(event_hooks=hooks)
    Ferry(event_hooks={"outcome": [note_any]})
    AsyncFerry(event_hooks={"outcome": [send, note_any]})
    AsyncFerry(event_hooks=otel.event_hooks({"outcome": [send]}, metrics=True))
