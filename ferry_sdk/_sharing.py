"""What a client and its views have in common: connections and locks, and what the service told.

Connections and locks do not outlive the process, nor the event loop, that they were made in.
Each has its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary, finalize

import anyio
from anyio.lowlevel import current_token
from typing_extensions import Self

from ._forking import process_id
from ._http_client import AsyncHttpClient, HttpClient
from ._tracing import Lines
from .errors import ConfigurationError
from .session import Session

ClientT = TypeVar("ClientT", HttpClient[Any], AsyncHttpClient[Any])
LockT = TypeVar("LockT", threading.Lock, anyio.Lock)


@dataclass(slots=True)
class Home(Generic[ClientT, LockT]):
    """What belongs to one process, or to one event loop in it.

    Attributes:
        client: The HTTP client with its pool.
        new_lock: What makes the lock of a key.
        lines: The client's connections.
    """

    client: ClientT
    new_lock: Callable[[], LockT]
    lines: Lines
    _locks: dict[Hashable, LockT] = field(default_factory=dict[Hashable, LockT])

    def checked(self) -> Self:
        """Itself, unless its client was closed by whoever owns it."""
        if self.client.is_closed:
            raise ConfigurationError("the client is closed")
        return self

    def lock(self, key: Hashable) -> LockT:
        """The lock of a key; `setdefault` makes one only, whichever thread is first."""
        return self._locks.setdefault(key, self.new_lock())


class Shared:
    """Connections and locks for threads.

    Args:
        client: A client of the caller's own; else one is made where it is needed.

    Attributes:
        session: What the service has told.
        is_closed: Whether calls are refused.
    """

    def __init__(self, client: HttpClient[Any] | None) -> None:
        self.session: Session = Session()
        self.is_closed: bool = False
        self._given = client
        self._homes: dict[int, Home[HttpClient[Any], threading.Lock]] = {}

    def home(self) -> Home[HttpClient[Any], threading.Lock]:
        """This process's.

        Raises:
            ConfigurationError: The client is closed.
        """
        if self.is_closed:
            raise ConfigurationError("the client is closed")
        home = self._homes.get(process_id())
        if home is None:
            lines = Lines(is_ours=self._given is None)
            made = Home(self._given or _new_client(), threading.Lock, lines)
            home = self._homes.setdefault(process_id(), made)
        return home.checked()

    def close(self) -> None:
        """Close the connections of this process; those of a parent are the parent's."""
        self.is_closed = True
        home = self._homes.get(process_id())
        if home is not None:
            home.lines.close()
            home.client.close()


class AsyncShared:
    """Connections and locks for tasks.

    Args:
        client: A client of the caller's own; else one is made where it is needed.

    Attributes:
        session: What the service has told.
        is_closed: Whether calls are refused.
    """

    def __init__(self, client: AsyncHttpClient[Any] | None) -> None:
        self.session: Session = Session()
        self.is_closed: bool = False
        self._given = client
        self._homes: WeakKeyDictionary[Any, Home[AsyncHttpClient[Any], anyio.Lock]] = (
            WeakKeyDictionary()
        )

    def home(self) -> Home[AsyncHttpClient[Any], anyio.Lock]:
        """This event loop's.

        Raises:
            ConfigurationError: The client is closed.
        """
        if self.is_closed:
            raise ConfigurationError("the client is closed")
        loop = _loop_of_now()
        home = self._homes.get(loop)
        if home is None or home.lines.pid != process_id():
            self._forget_ended_loops()
            lines = Lines(is_ours=self._given is None)
            home = Home(self._given or _new_async_client(), anyio.Lock, lines)
            self._homes[loop] = home
            finalize(loop, lines.drop).atexit = False
        return home.checked()

    async def close(self) -> None:
        """Close the connections of this event loop, and end those of others."""
        self.is_closed = True
        self._forget_ended_loops()
        for known in self._homes.keyrefs():
            loop = known()
            home = None if loop is None else self._homes.get(loop)
            if home is not None:
                home.lines.close()
        loop = _loop_of_now()
        if loop in self._homes and self._homes[loop].lines.pid == process_id():
            await self._homes.pop(loop).client.aclose()

    def _forget_ended_loops(self) -> None:
        for known in self._homes.keyrefs():  # which other threads may change meanwhile
            loop = known()
            if isinstance(loop, asyncio.AbstractEventLoop) and loop.is_closed():
                ended = self._homes.pop(loop, None)
                if ended is not None:
                    ended.lines.drop()


def _new_client() -> HttpClient[Any]:
    from ._own_clients import new_client  # noqa: PLC0415 -- loaded with the first call

    return new_client()


def _new_async_client() -> AsyncHttpClient[Any]:
    from ._own_clients import new_async_client  # noqa: PLC0415 -- the same

    return new_async_client()


def _loop_of_now() -> Any:  # noqa: ANN401 -- of asyncio or of trio
    """The running event loop, or what stands for it."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        token = current_token()
        return getattr(token, "native_token", token)
