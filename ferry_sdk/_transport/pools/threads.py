"""What the threads of a process share."""

from __future__ import annotations

from threading import Event, RLock
from typing import Any

from ferry_sdk._engine.session import Session
from ferry_sdk._engine.settings import Settings
from ferry_sdk._fork import process_id
from ferry_sdk._transport.http_client import HttpClient
from ferry_sdk._transport.pools.base import Home
from ferry_sdk._transport.tracing import Lines
from ferry_sdk.errors import ConfigurationError


class Shared:
    """Connections and locks for threads.

    Args:
        client: A client of the caller's own; else one is made where it is needed.
        settings: Where the service is.

    Attributes:
        session: What the service has told.
        is_closed: Whether calls are refused.
    """

    def __init__(self, client: HttpClient[Any] | None, settings: Settings) -> None:
        self.session: Session = Session()
        self.is_closed: bool = False
        self._given = client
        self._settings = settings
        self._homes: dict[int, Home[HttpClient[Any], RLock]] = {}

    def home(self) -> Home[HttpClient[Any], RLock]:
        """This process's.

        Raises:
            ConfigurationError: The client is closed.
        """
        if self.is_closed:
            raise ConfigurationError("the client is closed")
        home = self._homes.get(process_id())
        if home is None:
            lines = Lines(is_ours=self._given is None, is_local_only=self._settings.is_local_only)
            made = Home(self._given or _new_client(self._settings), RLock, lines)
            home = self._homes.setdefault(process_id(), made)
        return home.checked()

    def sleep(self, seconds: float) -> None:
        """Block for some seconds.

        Raises:
            ConfigurationError: The client is closed, or is closed meanwhile.
        """
        closed = Event()
        sleepers = self.home().sleepers
        sleepers.add(closed.set)
        try:
            if self.is_closed or closed.wait(seconds):
                raise ConfigurationError("the client is closed")
        finally:
            sleepers.discard(closed.set)

    def close(self) -> None:
        """Close the connections of this process; those of a parent are the parent's."""
        self.is_closed = True
        home = self._homes.get(process_id())
        if home is not None:
            home.wake()
            home.lines.close()
            home.client.close()


def _new_client(settings: Settings) -> HttpClient[Any]:
    from ferry_sdk._transport.default_client import new_client  # noqa: PLC0415 -- loaded with the first call

    return new_client(settings)
