"""What writes have changed at the local service."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.sandbox import Sandbox


def effects(sandbox: Sandbox) -> list[str]:
    """Return the operations that have changed something, in order."""
    return [effect.operation for effect in sandbox.counters.effects]
