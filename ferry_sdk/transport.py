"""The only classes that do I/O: they perform what a flow asks for, one sync and one async."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, Generic, TypeVar

import anyio
import anyio.to_thread
from typing_extensions import Self

from . import _http
from ._files import saved
from .effects import Ask, Effect, InTurn, Reply, Save, Send, Sleep, Steps
from .errors import ConfigurationError, FerryError, trimmed
from .flow import run
from .operation import Operation
from .responses import RawResponse
from .session import McpSession
from .settings import Settings

T = TypeVar("T")
ClientT = TypeVar("ClientT", _http.Client, _http.AsyncClient)
LockT = TypeVar("LockT", threading.Lock, anyio.Lock)


@dataclass(slots=True)
class Shared(Generic[ClientT, LockT]):
    """What a client and its views have in common.

    Attributes:
        client: The HTTP client with its pool.
        new_lock: What makes the lock of a key.
        session: The MCP session.
    """

    client: ClientT
    new_lock: Callable[[], LockT]
    session: McpSession = field(default_factory=McpSession)
    _locks: dict[Hashable, LockT] = field(default_factory=dict[Hashable, LockT])

    def lock(self, key: Hashable) -> LockT:
        """The lock of a key; `setdefault` makes one only, whichever thread is first."""
        return self._locks.setdefault(key, self.new_lock())

    def open_client(self) -> ClientT:
        """The HTTP client, unless it was closed."""
        if self.client.is_closed:
            raise ConfigurationError("the client is closed")
        return self.client


class Transport:
    """Performs the steps of a call and blocks meanwhile; safe to share between threads.

    Args:
        settings: What its calls need to know.
        client: A client of the caller's own; else one is made.
    """

    def __init__(
        self,
        settings: Settings,
        client: _http.Client | None = None,
        shared: Shared[_http.Client, threading.Lock] | None = None,
    ) -> None:
        self.settings = settings
        self.shared = shared or Shared(client or _http.new_client(), threading.Lock)

    def view(self, settings: Settings) -> Self:
        """The same pool and session under other settings."""
        return type(self)(settings, shared=self.shared)

    def close(self) -> None:
        """Close the HTTP client."""
        self.shared.client.close()

    def run(self, operation: Operation[T]) -> T:
        """Make a call and give its answer."""
        return self.answer(operation).parse()

    def answer(self, operation: Operation[T]) -> RawResponse[T]:
        """Make a call and give its answer with the reply it stood in."""
        try:
            return self._walk(run(operation, self.settings, self.shared.session))
        except FerryError as error:
            raise trimmed(error) from error.__cause__

    def _walk(self, steps: Steps[T]) -> T:
        try:
            effect = next(steps)
            while True:
                try:
                    result = self._perform(effect)
                except Exception as error:  # noqa: BLE001 -- the flow decides what it means
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            answer: T = end.value
            return answer
        finally:
            steps.close()

    def _perform(self, effect: Effect[Any]) -> object:
        match effect:
            case Send():
                return self._send(effect)
            case Ask(function):
                return _at_once(function())
            case InTurn(key, steps):
                with self.shared.lock(key):
                    return self._walk(steps())
            case Sleep(seconds):
                time.sleep(seconds)
            case Save(path, content):
                saved(path, content)
            case _:
                raise NotImplementedError(effect)
        return None

    def _send(self, effect: Send) -> Reply:
        client = self.shared.open_client()
        try:
            request = _http.built(client, effect.request, effect.timeout)
            response = client.send(request, stream=True, auth=None, follow_redirects=False)
            try:
                head = _http.head_of(response)
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if effect.listener is not None and effect.listener.feed(head, chunk):
                        break
                return Reply(head.status_code, head.headers, bytes(body))
            finally:
                response.close()
        except Exception as error:
            failure = _http.failure_of(error)
            if failure is None:
                raise
        raise failure


class AsyncTransport:
    """Performs the steps of a call and awaits meanwhile, on asyncio or trio.

    Args:
        settings: What its calls need to know.
        client: A client of the caller's own; else one is made.
    """

    def __init__(
        self,
        settings: Settings,
        client: _http.AsyncClient | None = None,
        shared: Shared[_http.AsyncClient, anyio.Lock] | None = None,
    ) -> None:
        self.settings = settings
        self.shared = shared or Shared(client or _http.new_async_client(), anyio.Lock)

    def view(self, settings: Settings) -> Self:
        """The same pool and session under other settings."""
        return type(self)(settings, shared=self.shared)

    async def close(self) -> None:
        """Close the HTTP client."""
        await self.shared.client.aclose()

    async def run(self, operation: Operation[T]) -> T:
        """Make a call and give its answer."""
        return (await self.answer(operation)).parse()

    async def answer(self, operation: Operation[T]) -> RawResponse[T]:
        """Make a call and give its answer with the reply it stood in."""
        try:
            return await self._walk(run(operation, self.settings, self.shared.session))
        except FerryError as error:
            raise trimmed(error) from error.__cause__

    async def _walk(self, steps: Steps[T]) -> T:
        try:
            effect = next(steps)
            while True:
                try:
                    result = await self._perform(effect)
                except Exception as error:  # noqa: BLE001 -- the flow decides what it means
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            answer: T = end.value
            return answer
        finally:
            steps.close()

    async def _perform(self, effect: Effect[Any]) -> object:
        match effect:
            case Send():
                return await self._send(effect)
            case Ask(function):
                given = function()
                return await given if isawaitable(given) else given
            case InTurn(key, steps):
                async with self.shared.lock(key):
                    return await self._walk(steps())
            case Sleep(seconds):
                await anyio.sleep(seconds)
            case Save(path, content):
                await anyio.to_thread.run_sync(saved, path, content)
            case _:
                raise NotImplementedError(effect)
        return None

    async def _send(self, effect: Send) -> Reply:
        client = self.shared.open_client()
        try:
            request = _http.built(client, effect.request, effect.timeout)
            response = await client.send(request, stream=True, auth=None, follow_redirects=False)
            try:
                head = _http.head_of(response)
                body = bytearray()
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if effect.listener is not None and effect.listener.feed(head, chunk):
                        break
                return Reply(head.status_code, head.headers, bytes(body))
            finally:
                await response.aclose()
        except Exception as error:
            failure = _http.failure_of(error)
            if failure is None:
                raise
        raise failure


class RawTransport:
    """A `Transport` whose calls give the reply along with the answer."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def run(self, operation: Operation[T]) -> RawResponse[T]:
        """Make a call and give its answer with the reply it stood in."""
        return self._transport.answer(operation)


class AsyncRawTransport:
    """An `AsyncTransport` whose calls give the reply along with the answer."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def run(self, operation: Operation[T]) -> Coroutine[Any, Any, RawResponse[T]]:
        """Make a call and give its answer with the reply it stood in."""
        return self._transport.answer(operation)


def _at_once(given: object) -> object:
    if isawaitable(given):
        close = getattr(given, "close", None)
        if close is not None:
            close()
        raise ConfigurationError("token: an async function needs AsyncFerry")
    return given
