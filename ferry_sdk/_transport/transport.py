"""The only classes that do I/O: they perform what a flow asks for, one sync and one async."""

from __future__ import annotations

import math
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import wait
from contextlib import aclosing, suppress
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
from typing_extensions import Self

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import (
    Ask,
    Consult,
    Effect,
    InTurn,
    Reply,
    Save,
    Send,
    Sleep,
    Steps,
    Together,
)
from ferry_sdk._engine.flow import recover, report_interruption, run
from ferry_sdk._engine.operation import Operation, ReadBack
from ferry_sdk._engine.raw_response import RawResponse
from ferry_sdk._engine.settings import Settings
from ferry_sdk._transport import httpx_interface as _http
from ferry_sdk._transport.deadlines import in_a_thread, seconds_until
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk._transport.files import saved
from ferry_sdk._transport.http_client import AsyncHttpClient, HttpClient
from ferry_sdk._transport.pools.threads import Shared
from ferry_sdk._transport.single_flight import Flight, join_or_start
from ferry_sdk.errors import (
    ConfigurationError,
    FerryError,
    OutcomeUnknownError,
    RequestTimeoutError,
)

if TYPE_CHECKING:
    from ferry_sdk._transport.pools.tasks import AsyncShared

R = TypeVar("R")
T = TypeVar("T")

_GRACE = 0.05
"""Seconds after a deadline in which the HTTP library's own time-outs speak first."""
_LOOK = 0.01
"""Seconds between looks for the outcome of a call that another thread or loop may be making."""


class Transport:
    """Performs the steps of a call and blocks meanwhile; safe to share between threads.

    Args:
        settings: What its calls need to know.
        client: A client of the caller's own; else one is made.
    """

    def __init__(
        self,
        settings: Settings,
        client: HttpClient[Any] | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.settings = settings
        self.shared: Shared = shared or Shared(client, settings)

    def view(self, settings: Settings) -> Self:
        """The same pool and session under other settings."""
        return type(self)(settings, shared=self.shared)

    def close(self) -> None:
        """Close the HTTP client."""
        self.shared.close()

    def run(self, operation: Operation[T]) -> T:
        """Make a call and return its answer."""
        return self._call(operation, _parsed)

    def answer(self, operation: Operation[T]) -> RawResponse[T]:
        """Make a call and return its answer with the reply it stood in."""
        return self._call(operation, _itself)

    def recover(self, error: OutcomeUnknownError, read_back: ReadBack[T]) -> T:
        """Read a write back again and return its result."""
        context = Context.begun(
            self.settings,
            self.shared.session,
            "recover",
            correlation_id=error.correlation_id,
        )
        return self._walk(recover(error, read_back, context))

    def _call(self, operation: Operation[T], finish: Callable[[RawResponse[T]], R]) -> R:
        context = Context.begun(self.settings, self.shared.session, operation.name)
        try:
            return finish(self._walk(run(operation, context)))
        except BaseException as stop:
            if not isinstance(stop, FerryError):
                report_interruption(operation, context)
            raise

    def _walk(self, steps: Steps[T]) -> T:
        try:
            effect = next(steps)
            while True:
                try:
                    result = self._perform(effect)
                except BaseException as error:  # noqa: BLE001 -- the flow decides what it means
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
            case Ask():
                return _at_once(effect)
            case Consult():
                return _consulted(effect)
            case InTurn():
                return self._in_turn(effect)
            case Together():
                return self._together(effect)
            case Sleep(seconds):
                self.shared.sleep(seconds)
            case Save(path, content):
                saved(path, content)
            case _:
                raise NotImplementedError(effect)
        return None

    def _in_turn(self, effect: InTurn[T]) -> T:
        lock = self.shared.home().lock(effect.key)
        try:
            if not lock.acquire(timeout=seconds_until(effect.until, threading.TIMEOUT_MAX)):
                raise RequestTimeoutError("the deadline has passed")
            return self._walk(effect.steps())
        finally:
            with suppress(RuntimeError):  # the lock is not this thread's
                lock.release()

    def _together(self, effect: Together[T]) -> T:
        flight = Flight()
        landing = join_or_start(effect.key, flight)
        if landing is not None:
            if not landing.event.wait(seconds_until(effect.until, threading.TIMEOUT_MAX)):
                raise RequestTimeoutError("the deadline has passed", outcome="unknown")
            joined: T = landing.outcome()
            return joined
        try:
            return flight.land(effect.key, self._walk(effect.steps()))
        except BaseException as error:
            flight.fail(effect.key, error)
            raise

    def _send(self, effect: Send) -> Reply:
        home = self.shared.home()
        client, exchange = home.client, Exchange(effect, home.lines)
        if effect.until is None:
            return self._exchanged(client, effect, exchange)
        # A time-out of httpx is for one step; only another thread can be left at a moment.
        try:
            future = in_a_thread(partial(self._exchanged, client, effect, exchange))
            wait((future,), seconds_until(effect.until + _GRACE, threading.TIMEOUT_MAX))
            if future.done():
                return future.result()
        except BaseException:
            exchange.given_up()  # the thread sends nothing from now on
            raise
        raise exchange.given_up()

    def _exchanged(self, client: HttpClient[Any], effect: Send, exchange: Exchange) -> Reply:
        try:
            request = _http.built(client, effect.request, effect.timeout, exchange.tracing.hear)
            with _http.Quiet():
                response = client.send(request, stream=True, auth=None, follow_redirects=False)
                try:
                    exchange.begins(response)
                    for chunk in _http.pieces(response):
                        if exchange.feed(chunk):
                            break
                    return exchange.reply()
                finally:
                    exchange.tracing.ends()
                    response.close()
        except Exception as error:
            failure = exchange.failure(error)
            if failure is None or failure is error:
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
        client: AsyncHttpClient[Any] | None = None,
        shared: AsyncShared | None = None,
    ) -> None:
        self.settings = settings
        if shared is None:
            from ferry_sdk._transport.pools.tasks import AsyncShared  # noqa: PLC0415 -- no thread needs asyncio

            shared = AsyncShared(client, settings)
        self.shared = shared

    def view(self, settings: Settings) -> Self:
        """The same pool and session under other settings."""
        return type(self)(settings, shared=self.shared)

    async def close(self) -> None:
        """Close the HTTP client."""
        await self.shared.close()

    def run(self, operation: Operation[T]) -> Coroutine[Any, Any, T]:
        """Make a call and return its answer."""
        return self._call(operation, _parsed)

    def answer(self, operation: Operation[T]) -> Coroutine[Any, Any, RawResponse[T]]:
        """Make a call and return its answer with the reply it stood in."""
        return self._call(operation, _itself)

    def recover(self, error: OutcomeUnknownError, read_back: ReadBack[T]) -> Coroutine[Any, Any, T]:
        """Read a write back again and return its result."""
        context = Context.begun(
            self.settings,
            self.shared.session,
            "recover",
            correlation_id=error.correlation_id,
        )
        return self._walk(recover(error, read_back, context))

    async def _call(self, operation: Operation[T], finish: Callable[[RawResponse[T]], R]) -> R:
        context = Context.begun(self.settings, self.shared.session, operation.name)
        try:
            return finish(await self._walk(run(operation, context)))
        except BaseException as stop:
            if not isinstance(stop, FerryError):
                report_interruption(operation, context)
            raise

    async def _walk(self, steps: Steps[T]) -> T:
        perform = self._perform
        try:
            effect = next(steps)
            while True:
                try:
                    result = await perform(effect)
                except GeneratorExit:
                    raise
                except BaseException as error:  # noqa: BLE001 -- the flow decides what it means
                    if not isinstance(error, Exception):
                        perform = self._shielded  # a cancelled call still puts itself on record
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            answer: T = end.value
            return answer
        finally:
            steps.close()

    async def _shielded(self, effect: Effect[Any]) -> object:
        result: object = None
        with anyio.CancelScope(shield=True):
            result = await self._perform(effect)
        return result  # noqa: RET504 -- a scope may leave its block early, to mypy

    def _perform(self, effect: Effect[Any]) -> Awaitable[object]:  # noqa: PLR0911 -- one an effect
        match effect:
            case Send():
                return self._send(effect)
            case Ask():
                return _awaited(effect)
            case Consult():
                return _heard(effect)
            case InTurn():
                return self._in_turn(effect)
            case Together():
                return self._together(effect)
            case Sleep(seconds):
                return self.shared.sleep(seconds)
            case Save(path, content):
                return anyio.to_thread.run_sync(saved, path, content)
            case _:
                raise NotImplementedError(effect)

    async def _in_turn(self, effect: InTurn[T]) -> T:
        lock = self.shared.home().lock(effect.key)
        try:
            with anyio.move_on_after(seconds_until(effect.until, math.inf)) as scope:
                await lock.acquire()
            if scope.cancelled_caught:
                raise RequestTimeoutError("the deadline has passed")
            return await self._walk(effect.steps())
        finally:
            with suppress(RuntimeError):  # the lock is not this task's
                lock.release()

    async def _together(self, effect: Together[T]) -> T:
        flight = Flight()
        landing = join_or_start(effect.key, flight)
        if landing is not None:
            with anyio.move_on_after(seconds_until(effect.until, math.inf)):
                while not landing.event.is_set():  # noqa: ASYNC110 -- its maker may be in no loop
                    await anyio.sleep(_LOOK)
                joined: T = landing.outcome()
                return joined
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")
        try:
            return flight.land(effect.key, await self._walk(effect.steps()))
        except BaseException as error:
            flight.fail(effect.key, error)
            raise

    async def _send(self, effect: Send) -> Reply:
        await anyio.lowlevel.checkpoint_if_cancelled()
        home = self.shared.home()
        client, exchange = home.client, Exchange(effect, home.lines)
        if effect.until is None:
            return await self._exchanged(client, effect, exchange)
        with anyio.move_on_after(seconds_until(effect.until + _GRACE, math.inf)):
            return await self._exchanged(client, effect, exchange)
        raise exchange.given_up()

    async def _exchanged(
        self, client: AsyncHttpClient[Any], effect: Send, exchange: Exchange
    ) -> Reply:
        try:
            request = _http.built(client, effect.request, effect.timeout, exchange.tracing.ahear)
            with _http.Quiet():
                response = await client.send(
                    request, stream=True, auth=None, follow_redirects=False
                )
                try:
                    exchange.begins(response)
                    async with aclosing(_http.apieces(response)) as chunks:
                        async for chunk in chunks:
                            if exchange.feed(chunk):
                                break
                    return exchange.reply()
                finally:
                    exchange.tracing.ends()
                    await response.aclose()
        except Exception as error:
            failure = exchange.failure(error)
            if failure is None or failure is error:
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


def _parsed(response: RawResponse[T]) -> T:
    return response.parse()


def _itself(response: RawResponse[T]) -> RawResponse[T]:
    return response


def _at_once(effect: Ask[T]) -> object:
    given = effect.function()
    if isawaitable(given):
        close = getattr(given, "close", None)
        if close is not None:
            close()
        raise ConfigurationError(f"{effect.argument}: an async function needs AsyncFerry")
    return given


def _consulted(effect: Consult[T]) -> T:
    future = in_a_thread(effect.function, or_here=True)  # an interruption does not stop it half-way
    until = None if effect.until is None else effect.until + _GRACE
    wait((future,), seconds_until(until, threading.TIMEOUT_MAX))
    if not future.done():
        raise RequestTimeoutError("the deadline has passed")
    return future.result()


async def _heard(effect: Consult[T]) -> T:
    # A thread does it even if its task is cancelled by now.
    future = in_a_thread(effect.function, or_here=True)
    if future.done():
        return future.result()
    until = None if effect.until is None else effect.until + _GRACE
    with anyio.move_on_after(seconds_until(until, math.inf)):
        return await anyio.to_thread.run_sync(future.result, abandon_on_cancel=True)
    raise RequestTimeoutError("the deadline has passed")


async def _awaited(effect: Ask[T]) -> object:
    given = effect.function()
    if not isawaitable(given):
        return given
    with anyio.move_on_after(seconds_until(effect.until, math.inf)):
        return await given
    raise RequestTimeoutError("the deadline has passed")
