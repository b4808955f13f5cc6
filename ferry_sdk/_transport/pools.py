"""State shared by a client and its views: connections and locks.

Connections and locks belong to the process and the event loop that made them, so each process
and each loop has its own `LoopResources`. For example, if an `AsyncFerry` is used in two event
loops, one after the other:

1. `prepare`, in the first call of the first loop, loads what calls need and makes the resources of
   this loop: an HTTP client with its connections, and locks.
2. The later calls in this loop find them with `resources`.
3. The first call in the second loop makes other resources. It also drops those of the first loop,
   if that one is closed by now.
4. `close` shuts the connections of all loops down, but closes only the HTTP client of its own loop:
   that of another loop must be closed there.

`Shared` does the same for threads, which have one set of resources in a process. A forked child
makes its own, and leaves the connections of its parent alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from threading import RLock
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary, finalize

import anyio

from ferry_sdk._engine.effects import Send, Signal
from ferry_sdk._engine.settings import Settings
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.fork import process_id
from ferry_sdk._runtime.threads import Latch, load_module
from ferry_sdk._transport.cookies import refuse_cookies_of_replies
from ferry_sdk._transport.http_client import AsyncHttpClient, HttpClient
from ferry_sdk._transport.loops import asyncio_loop, call_in_loop, has_ended, running_loop
from ferry_sdk._transport.send_guard import OpenConnections
from ferry_sdk._transport.startup import load_for_tasks, load_for_threads, shutdown_as_error
from ferry_sdk.errors import ConfigurationError, FerryError

_MOMENT = 0.5
"""Seconds between two looks at a signal: on Windows, only a short wait sees Ctrl-C."""

ClientT = TypeVar("ClientT", HttpClient, AsyncHttpClient)
LockT = TypeVar("LockT", RLock, anyio.Lock)


class LoopResources(Generic[ClientT, LockT]):
    """The resources of one process, or of one event loop in it.

    Args:
        user_client: The user's HTTP client; None: one is made.
        settings: The settings of the client.
        is_async: Whether it is for tasks.

    Attributes:
        client: The usual HTTP client with its pool.
        connections: The client's connections.
        closing: Set when the client is closed; it wakes the calls that sleep before a retry.
        locks: The locks of objects; `setdefault` keeps only one, whichever thread is first.
    """

    def __init__(self, user_client: ClientT | None, settings: Settings, *, is_async: bool) -> None:
        self.connections: OpenConnections = OpenConnections(
            is_ours=user_client is None, is_local_only=settings.is_local_only
        )
        self.closing: Signal = Signal()
        self.locks: WeakKeyDictionary[object, LockT] = WeakKeyDictionary()

        self._default: Any = None
        client: Any = user_client
        if client is None:
            module = load_module("ferry_sdk._transport.default_client")  # slow to import
            self._default = module.DefaultClients(settings, is_async=is_async)
            client = self._default.usual
        self.client: ClientT = client

    def client_for(self, effect: Send) -> ClientT:
        """Return the HTTP client for a request that is about to be sent."""
        client: ClientT = self.client
        if self._default is None:
            refuse_cookies_of_replies(client)
        else:
            client = self._default.choose(is_unproven=effect.is_unproven)
        return client

    def made_clients(self) -> list[ClientT]:
        """Return the HTTP clients to close with the `Ferry` or `AsyncFerry`."""
        if self._default is None:
            return [self.client]
        made: list[ClientT] = self._default.all()
        return made


_Resources = LoopResources[HttpClient, RLock]
_AsyncResources = LoopResources[AsyncHttpClient, anyio.Lock]


class AnyShared(ABC, Generic[ClientT, LockT]):
    """What `Shared` and `AsyncShared` have in common.

    Args:
        client: The user's HTTP client; None: one is made when needed.
        settings: The settings of the client.

    Attributes:
        is_closed: Whether the client is closed.
    """

    def __init__(self, client: ClientT | None, settings: Settings) -> None:
        self.is_closed: bool = False
        self._user_client: ClientT | None = client
        self._settings = settings

    def resources(self) -> LoopResources[ClientT, LockT]:
        """Return the resources of this process or event loop.

        Raises:
            ConfigurationError: The client is closed, or its HTTP client by its owner.
        """
        resources = None if self.is_closed else self._find_or_make()
        # Asked again, because another thread may have closed the client meanwhile.
        if resources is None or self.is_closed or resources.client.is_closed:
            raise ConfigurationError("the client is closed")
        return resources

    @abstractmethod
    def _find_or_make(self) -> LoopResources[ClientT, LockT]: ...


class Shared(AnyShared[HttpClient, RLock]):
    """Connections and locks for threads, by process."""

    def __init__(self, client: HttpClient | None, settings: Settings) -> None:
        super().__init__(client, settings)
        self._resources: dict[int, _Resources] = {}

    def _find_or_make(self) -> _Resources:
        resources = self._resources.get(process_id())
        if resources is None:
            with shutdown_as_error():
                made = _Resources(self._user_client, self._settings, is_async=False)
            resources = self._resources.setdefault(process_id(), made)
        return resources

    def prepare(self) -> None:
        """Load and make what the calls of this process need, so that no call does."""
        if process_id() not in self._resources:
            with shutdown_as_error():
                load_for_threads()
            with suppress(FerryError):  # the call raises it
                self.resources()

    def sleep(self, seconds: float, stop: Signal | None, signal: Signal | None) -> None:
        """Block for a number of seconds.

        Args:
            seconds: How long.
            stop: Ends the wait as closing the client does.
            signal: Ends the wait.

        Raises:
            ConfigurationError: The client is closed, before or during the wait.
        """
        woken = Latch()
        with ExitStack() as calls:
            for waker in (self.resources().closing, stop, signal):
                if waker is not None:
                    calls.enter_context(waker.call(woken.set))

            until = monotonic() + seconds
            while (left := until - monotonic()) > 0 and not self.is_closed:
                if woken.wait(min(left, _MOMENT)):
                    break

        if self.is_closed or (stop is not None and stop.is_set):
            raise ConfigurationError("the client is closed")

    def close(self) -> None:
        """Close the connections of this process, not those of its parent."""
        self.is_closed = True
        resources = self._resources.get(process_id())
        if resources is not None:
            resources.closing.set()
            resources.connections.close()
            for client in resources.made_clients():
                client.close()


class AsyncShared(AnyShared[AsyncHttpClient, anyio.Lock]):
    """Connections and locks for tasks, by event loop."""

    def __init__(self, client: AsyncHttpClient | None, settings: Settings) -> None:
        super().__init__(client, settings)
        self._resources: WeakKeyDictionary[Any, _AsyncResources] = WeakKeyDictionary()

    def _find_or_make(self) -> _AsyncResources:
        loop = running_loop()
        resources = self._find(loop)
        if resources is None:
            self._forget_ended_loops()
            resources = _AsyncResources(self._user_client, self._settings, is_async=True)
            self._resources[loop] = resources
            finalize(loop, resources.connections.drop).atexit = False
        return resources

    def _find(self, loop: Any) -> _AsyncResources | None:  # noqa: ANN401 -- of asyncio or of trio
        """Return the resources of an event loop; None if there are none, or if it was forked."""
        resources = self._resources.get(loop)
        if resources is None or resources.connections.pid != process_id():
            return None
        return resources

    def prepare(self) -> None:
        """Load and make what the calls of this event loop need, so that no call does."""
        if self._find(running_loop()) is not None:
            return
        backend = "trio" if asyncio_loop() is None else "asyncio"
        load_for_tasks(backend)
        with suppress(FerryError):  # the call raises it
            self.resources()

    async def sleep(self, seconds: float, signal: Signal | None) -> None:
        """Wait for a number of seconds, or until a signal is set.

        Raises:
            ConfigurationError: The client is closed, before or during the wait.
        """
        woken = anyio.Event()
        wake = partial(call_in_loop, running_loop(), woken.set)
        wake_by_signal = nullcontext() if signal is None else signal.call(wake)
        with (
            self.resources().closing.call(woken.set),
            wake_by_signal,
            anyio.move_on_after(seconds),
        ):
            await woken.wait()
        if self.is_closed:
            raise ConfigurationError("the client is closed")

    async def close(self) -> None:
        """Close the connections of this event loop, and shut down those of other loops."""
        self.is_closed = True
        self._forget_ended_loops()
        for reference in self._resources.keyrefs():
            loop = reference()
            resources = None if loop is None else self._resources.get(loop)
            if resources is not None:
                resources.connections.close()
                if resources.connections.pid == process_id():
                    call_in_loop(loop, resources.closing.set)

        loop = running_loop()
        own_resources = self._find(loop)
        if own_resources is not None:
            del self._resources[loop]
            for client in own_resources.made_clients():
                await client.aclose()

    async def close_loop(self) -> None:
        """Close the client's own connections of this event loop, which ends before the client."""
        loop = running_loop()
        if self._user_client is None and loop in self._resources:
            for client in self._resources.pop(loop).made_clients():
                await client.aclose()

    def _forget_ended_loops(self) -> None:
        for reference in self._resources.keyrefs():  # a copy: other threads may change the dict
            loop = reference()
            if loop is not None and has_ended(loop):
                ended = self._resources.pop(loop, None)
                if ended is not None:
                    ended.connections.drop()
