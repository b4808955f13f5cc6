"""Hooks as both type checkers see them; nothing here is run."""

from __future__ import annotations

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, EventHooks, Ferry, OutcomeEvent, ResponseEvent, otel

seen: list[object] = []


def note(event: ResponseEvent) -> None:
    seen.append((event.request.call.operation, event.status_code))


def note_any(event: sdk.RequestEvent | ResponseEvent | sdk.RetryEvent | OutcomeEvent) -> None:
    seen.append(event)


async def send(event: OutcomeEvent) -> None:
    seen.append(event.outcome == "done")


def hooks_of_either_client() -> None:
    hooks: EventHooks = {"request": [seen.append, note_any], "response": [note], "retry": [print]}
    Ferry(event_hooks=hooks)
    Ferry(event_hooks={"outcome": [note_any]})
    AsyncFerry(event_hooks={"outcome": [send, note_any]})
    AsyncFerry(event_hooks=otel.event_hooks({"outcome": [send]}, metrics=True))
