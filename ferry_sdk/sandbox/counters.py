"""What the local service really did: requests read, effects made, connections accepted."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ferry_sdk.sandbox.clock import Clock


@dataclass(frozen=True, slots=True)
class Effect:
    """One change that was really made, whether or not its reply arrived.

    Attributes:
        operation: The public name of what was done, `bookings.create` for example.
        subject: The id of the booking or ticket it was done to.
        at: When, by the service's clock.
    """

    operation: str
    subject: str
    at: datetime


class Counters:
    """Counts kept while the service runs; every reading is a copy, safe from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()
        self._effects: list[Effect] = []
        self._connections = 0

    def request(self, operation: str) -> None:
        """Record that a request for `operation` arrived and was read whole."""
        with self._lock:
            self._requests[operation] += 1

    def effect(self, operation: str, subject: str) -> None:
        """Record that `operation` really changed `subject`."""
        effect = Effect(operation, subject, self._clock.now())
        with self._lock:
            self._effects.append(effect)

    def connection(self) -> None:
        """Record that a connection was accepted."""
        with self._lock:
            self._connections += 1

    @property
    def requests(self) -> Mapping[str, int]:
        """How many requests were read, by operation; an operation never asked for counts 0."""
        with self._lock:
            return MappingProxyType(Counter(self._requests))

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Every change made, in the order made."""
        with self._lock:
            return tuple(self._effects)

    @property
    def connections(self) -> int:
        """How many connections were accepted."""
        with self._lock:
            return self._connections

    def effects_of(self, operation: str) -> tuple[Effect, ...]:
        """The changes that `operation` made, in the order made."""
        return tuple(effect for effect in self.effects if effect.operation == operation)

    def reset(self) -> None:
        """Forget everything counted so far."""
        with self._lock:
            self._requests.clear()
            self._effects.clear()
            self._connections = 0
