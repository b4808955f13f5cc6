"""State shared by the tasks of an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary, finalize

import anyio
from anyio.lowlevel import current_token

from ferry_sdk._engine.session import Session
from ferry_sdk._engine.settings import Settings
from ferry_sdk._fork import process_id
from ferry_sdk._transport.http_client import AsyncHttpClient
from ferry_sdk._transport.pools.threads import LoopResources
from ferry_sdk._transport.tracing import OpenConnections
from ferry_sdk.errors import ConfigurationError


class AsyncShared:
    """Connections and locks for tasks.

    Args:
        client: The user's HTTP client; None: one is made when needed.
        settings: The settings of the client.

    Attributes:
        session: The MCP session and the clock skew.
        is_closed: Whether the client is closed.
    """

    def __init__(self, client: AsyncHttpClient[Any] | None, settings: Settings) -> None:
        self.session: Session = Session()
        self.is_closed: bool = False
        self._given = client
        self._settings = settings
        self._resources: WeakKeyDictionary[Any, LoopResources[AsyncHttpClient[Any], anyio.Lock]] = (
            WeakKeyDictionary()
        )

    def resources(self) -> LoopResources[AsyncHttpClient[Any], anyio.Lock]:
        """Return the resources of this event loop.

        Raises:
            ConfigurationError: The client is closed.
        """
        if self.is_closed:
            raise ConfigurationError("the client is closed")
        loop = _running_loop()
        resources = self._resources.get(loop)
        if resources is None or resources.connections.pid != process_id():
            self._forget_ended_loops()
            connections = OpenConnections(
                is_ours=self._given is None, is_local_only=self._settings.is_local_only
            )
            resources = LoopResources(
                self._given or _new_async_client(self._settings), anyio.Lock, connections
            )
            self._resources[loop] = resources
            finalize(loop, connections.drop).atexit = False
        return resources.require_open()

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds.

        Raises:
            ConfigurationError: The client is closed, before or during the wait.
        """
        closed = anyio.Event()
        sleepers = self.resources().sleepers
        sleepers.add(closed.set)
        try:
            with anyio.move_on_after(seconds):
                await closed.wait()
                raise ConfigurationError("the client is closed")
        finally:
            sleepers.discard(closed.set)

    async def close(self) -> None:
        """Close the connections of this event loop, and shut down those of other loops."""
        self.is_closed = True
        self._forget_ended_loops()
        for known in self._resources.keyrefs():
            loop = known()
            resources = None if loop is None else self._resources.get(loop)
            if resources is not None:
                resources.connections.close()
                if resources.connections.pid == process_id():
                    _call_in_loop(loop, resources.wake)
        loop = _running_loop()
        if loop in self._resources and self._resources[loop].connections.pid == process_id():
            await self._resources.pop(loop).client.aclose()

    def _forget_ended_loops(self) -> None:
        for known in self._resources.keyrefs():  # a copy: other threads may change the dict
            loop = known()
            if isinstance(loop, asyncio.AbstractEventLoop) and loop.is_closed():
                ended = self._resources.pop(loop, None)
                if ended is not None:
                    ended.connections.drop()


def _new_async_client(settings: Settings) -> AsyncHttpClient[Any]:
    from ferry_sdk._transport.default_client import new_async_client  # noqa: PLC0415 -- imported with the first call

    return new_async_client(settings)


def _call_in_loop(loop: Any, function: Callable[[], object]) -> None:  # noqa: ANN401 -- of asyncio or of trio
    """Schedule a function in an event loop, from any thread."""
    with suppress(RuntimeError):  # the loop has ended
        if isinstance(loop, asyncio.AbstractEventLoop):
            loop.call_soon_threadsafe(function)
        else:
            loop.run_sync_soon(function)


def _running_loop() -> Any:  # noqa: ANN401 -- of asyncio or of trio
    """Return the running event loop of asyncio, or the token of trio's."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        token = current_token()
        return getattr(token, "native_token", token)
