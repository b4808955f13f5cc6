"""Connections and locks that belong together."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Generic, TypeVar

import anyio
from typing_extensions import Self

from ferry_sdk._transport.http_client import AsyncHttpClient, HttpClient
from ferry_sdk._transport.tracing import Lines
from ferry_sdk.errors import ConfigurationError

ClientT = TypeVar("ClientT", HttpClient[Any], AsyncHttpClient[Any])
LockT = TypeVar("LockT", RLock, anyio.Lock)


@dataclass(slots=True)
class Home(Generic[ClientT, LockT]):
    """What belongs to one process, or to one event loop in it.

    Attributes:
        client: The HTTP client with its pool.
        new_lock: What makes the lock of a key.
        lines: The client's connections.
        sleepers: What wakes each call that waits before it goes on.
    """

    client: ClientT
    new_lock: Callable[[], LockT]
    lines: Lines
    sleepers: set[Callable[[], object]] = field(default_factory=set[Callable[[], object]])
    _locks: dict[Hashable, LockT] = field(default_factory=dict[Hashable, LockT])

    def checked(self) -> Self:
        """Itself, unless its client was closed by whoever owns it."""
        if self.client.is_closed:
            raise ConfigurationError("the client is closed")
        return self

    def wake(self) -> None:
        """Wake every call that waits before it goes on."""
        for wake in [*self.sleepers]:
            wake()

    def lock(self, key: Hashable) -> LockT:
        """The lock of a key; `setdefault` makes one only, whichever thread is first."""
        return self._locks.setdefault(key, self.new_lock())
