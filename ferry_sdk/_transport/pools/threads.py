"""State shared by the threads of a process: connections, locks and the session."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, RLock
from typing import Any, Generic, TypeVar

import anyio
from typing_extensions import Self

from ferry_sdk._engine.session import Session
from ferry_sdk._engine.settings import Settings
from ferry_sdk._fork import process_id
from ferry_sdk._transport.http_client import AsyncHttpClient, HttpClient
from ferry_sdk._transport.tracing import OpenConnections
from ferry_sdk.errors import ConfigurationError


class Shared:
    """Connections and locks for threads.

    Args:
        client: The user's HTTP client; None: one is made when needed.
        settings: The settings of the client.

    Attributes:
        session: The MCP session and the clock skew.
        is_closed: Whether the client is closed.
    """

    def __init__(self, client: HttpClient[Any] | None, settings: Settings) -> None:
        self.session: Session = Session()
        self.is_closed: bool = False
        self._given = client
        self._settings = settings
        self._resources: dict[int, LoopResources[HttpClient[Any], RLock]] = {}

    def resources(self) -> LoopResources[HttpClient[Any], RLock]:
        """Return the resources of this process.

        Raises:
            ConfigurationError: The client is closed.
        """
        if self.is_closed:
            raise ConfigurationError("the client is closed")
        resources = self._resources.get(process_id())
        if resources is None:
            connections = OpenConnections(
                is_ours=self._given is None, is_local_only=self._settings.is_local_only
            )
            made = LoopResources(self._given or _new_client(self._settings), RLock, connections)
            resources = self._resources.setdefault(process_id(), made)
        return resources.require_open()

    def sleep(self, seconds: float) -> None:
        """Block for a number of seconds.

        Raises:
            ConfigurationError: The client is closed, before or during the wait.
        """
        closed = Event()
        sleepers = self.resources().sleepers
        sleepers.add(closed.set)
        try:
            if self.is_closed or closed.wait(seconds):
                raise ConfigurationError("the client is closed")
        finally:
            sleepers.discard(closed.set)

    def close(self) -> None:
        """Close the connections of this process, not those of its parent."""
        self.is_closed = True
        resources = self._resources.get(process_id())
        if resources is not None:
            resources.wake()
            resources.connections.close()
            resources.client.close()


def _new_client(settings: Settings) -> HttpClient[Any]:
    from ferry_sdk._transport.default_client import new_client  # noqa: PLC0415 -- imported with the first call

    return new_client(settings)


ClientT = TypeVar("ClientT", HttpClient[Any], AsyncHttpClient[Any])
LockT = TypeVar("LockT", RLock, anyio.Lock)


@dataclass(slots=True)
class LoopResources(Generic[ClientT, LockT]):
    """The resources of one process, or of one event loop in it.

    Attributes:
        client: The HTTP client with its pool.
        new_lock: Makes a lock.
        connections: The client's connections.
        sleepers: Functions that wake the calls that sleep before a retry.
    """

    client: ClientT
    new_lock: Callable[[], LockT]
    connections: OpenConnections
    sleepers: set[Callable[[], object]] = field(default_factory=set[Callable[[], object]])
    _locks: dict[Hashable, LockT] = field(default_factory=dict[Hashable, LockT])

    def require_open(self) -> Self:
        """Return the resources; raise if the owner of the HTTP client has closed it."""
        if self.client.is_closed:
            raise ConfigurationError("the client is closed")
        return self

    def wake(self) -> None:
        """Wake every call that sleeps before a retry."""
        for wake in [*self.sleepers]:
            wake()

    def lock(self, key: Hashable) -> LockT:
        """Return the lock of a key; `setdefault` keeps only one, whichever thread is first."""
        return self._locks.setdefault(key, self.new_lock())
