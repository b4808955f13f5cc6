"""Counters of the requests, effects and connections of the local service."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from ferry_sdk.sandbox.clock import Clock


@dataclass(frozen=True, slots=True)
class Effect:
    """A change that the service made, whether or not its reply arrived.

    Attributes:
        operation: The public name of the operation, such as `bookings.create`.
        subject: The id of the changed booking or ticket.
        at: The time, by the service's clock.
    """

    operation: str
    subject: str
    at: datetime


class Counters:
    """Counters of a running service; thread-safe, and every property returns a copy.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox, crossing

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            ferry.bookings.create(**crossing(ferry))
            counters = sandbox.counters
            print(counters.requests["bookings.create"], len(counters.effects_of("bookings.create")))
            # > 1 1
            counters.reset()
        ```
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()  # what changes or reads something in one step needs none
        self._requests: Counter[str] = Counter()
        self._effects: list[Effect] = []
        self._connections = 0

    def request(self, operation: str) -> None:
        """Count a request that was read completely."""
        with self._lock:
            self._requests[operation] += 1

    def effect(self, operation: str, subject: str) -> None:
        """Record that `operation` changed `subject`."""
        self._effects.append(Effect(operation, subject, self._clock.now()))

    def connection(self) -> None:
        """Count an accepted connection."""
        with self._lock:
            self._connections += 1

    @property
    def requests(self) -> Mapping[str, int]:
        """The number of requests by operation, 0 for an operation without requests."""
        with self._lock:
            return MappingProxyType(Counter(self._requests))

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The changes made, in order."""
        return tuple(self._effects)

    @property
    def connections(self) -> int:
        """The number of accepted connections."""
        return self._connections

    def effects_of(self, operation: str) -> tuple[Effect, ...]:
        """Return the changes that `operation` made, in order."""
        return tuple(effect for effect in self.effects if effect.operation == operation)

    def reset(self) -> None:
        """Set every count to zero."""
        with self._lock:
            self._requests.clear()
            self._effects.clear()
            self._connections = 0
