"""The async transport: performs the effects of a flow, on asyncio or trio."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from typing import Any, Self, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from ferry_sdk._engine.batch import Batch, NextAnswer, Plan, StopBatch
from ferry_sdk._engine.context import Context, Session, new_session
from ferry_sdk._engine.effects import (
    CallUser,
    CheckOpen,
    Effect,
    Exclusive,
    Flow,
    RunBlocking,
    Save,
    Send,
    SingleFlight,
    Sleep,
    drive_async,
)
from ferry_sdk._engine.flow import report_interruption, run
from ferry_sdk._engine.http import RawResponse, Reply
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.settings import Settings
from ferry_sdk._runtime.threads import ThreadCall
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk._transport.held_keys import hold, is_held
from ferry_sdk._transport.http_client import AsyncHttpClient
from ferry_sdk._transport.loops import call_in_loop, running_loop
from ferry_sdk._transport.pools import AsyncShared
from ferry_sdk._transport.single_flight import LOOK_EVERY, SharedCall, SharedResult, join_or_start
from ferry_sdk._transport.sync import RawTransport, save
from ferry_sdk._transport.tasks import BatchTasks
from ferry_sdk._transport.threads import GRACE, seconds_until
from ferry_sdk.errors import FerryError, RequestTimeoutError

T = TypeVar("T")


class AsyncTransport:
    """Performs calls on asyncio or trio.

    Args:
        settings: The settings of its calls.
        client: The user's HTTP client; None: one is made.
    """

    def __init__(self, settings: Settings, client: AsyncHttpClient | None = None) -> None:
        self.settings = settings
        self.shared: AsyncShared = AsyncShared(client, settings)
        self.session: Session = new_session(settings)

    def view(self, settings: Settings) -> Self:
        """Return a transport with other settings on the same pool.

        Another token is another account with a session of its own.
        """
        view = object.__new__(type(self))
        view.settings = settings
        view.shared = self.shared
        view.session = self.session.of_view(self.settings, settings)
        return view

    def run(self, operation: Operation[T] | Plan[T]) -> Coroutine[Any, Any, T]:
        """Make a call and return its result."""
        self.shared.prepare()
        if isinstance(operation, Operation):
            return self._call(operation)
        return self._run_flow(operation.steps(self.settings))

    def answer(self, operation: Operation[T]) -> Coroutine[Any, Any, RawResponse[T]]:
        """Make a call and return its result with the HTTP reply."""
        self.shared.prepare()
        return self._call(operation, is_raw=True)

    async def _call(self, operation: Operation[T], *, is_raw: bool = False) -> Any:  # noqa: ANN401 -- T, or RawResponse[T]
        keeps_body = is_raw or operation.write is not None
        context = Context.start(
            self.settings, self.session, operation.name, is_raw=is_raw, keeps_body=keeps_body
        )
        try:
            result = await self._run_flow(run(operation, context))
            return result.raw() if is_raw else result.value
        except BaseException as stop:
            if not isinstance(stop, FerryError):
                report_interruption(operation, context)
            raise

    def _run_flow(self, steps: Flow[T]) -> Coroutine[Any, Any, T]:
        return drive_async(steps, self._perform, self._perform_shielded)

    async def _perform_shielded(self, effect: Effect[Any]) -> object:
        result: object = None
        with anyio.CancelScope(shield=True):
            result = await self._perform(effect)
        return result  # noqa: RET504 -- a scope may leave its block early, to mypy

    def _perform(self, effect: Effect[Any]) -> Awaitable[object]:  # noqa: C901, PLR0911 -- one case for each effect
        """Return what performs an effect when awaited; the effects of most calls come first."""
        match effect:
            case Send():
                if effect.until is None:
                    return self._send(effect)
                return self._send_until(effect)

            case CallUser():
                return _call_user(effect)
            case RunBlocking():
                return _run_blocking(effect)

            case Exclusive():
                return self._run_exclusive(effect)
            case SingleFlight():
                return self._run_single_flight(effect)

            case Sleep(seconds, signal):
                return self.shared.sleep(seconds, signal)
            case CheckOpen():
                return self.shared.sleep(0.0, None)

            case NextAnswer():
                return self._tasks_of(effect.batch).next_answer(effect.until)
            case StopBatch():
                return self._tasks_of(effect.batch).stop()

            case Save(path, content):
                return anyio.to_thread.run_sync(save, path, content)

            case _:
                raise NotImplementedError(effect)

    def _tasks_of(self, batch: Batch[Any, Any]) -> BatchTasks:
        batch.worker = batch.worker or BatchTasks(batch, self)
        tasks: BatchTasks = batch.worker
        return tasks

    async def _run_exclusive(self, effect: Exclusive[T]) -> T:
        if is_held(effect.key):
            return await self._run_flow(effect.steps())

        lock = self.shared.resources().locks.setdefault(effect.key, anyio.Lock())
        try:
            with anyio.move_on_after(seconds_until(effect.until, math.inf)) as scope:
                await lock.acquire()
            if scope.cancelled_caught:
                raise RequestTimeoutError("the deadline has passed")
            with hold(effect.key):
                return await self._run_flow(effect.steps())
        finally:
            with suppress(RuntimeError):  # the lock was not acquired
                lock.release()

    async def _run_single_flight(self, effect: SingleFlight[Any]) -> object:
        own_call = SharedCall()
        while (joined := join_or_start(effect.key, own_call)) is not None:
            await self._wait_for(joined, effect.until)
            if joined.failure is None or not effect.may_run_again:
                return joined.outcome()

        try:
            return own_call.complete(effect.key, await self._run_flow(effect.steps()))
        except BaseException as error:
            own_call.fail(effect.key, error)
            raise

    async def _wait_for(self, joined: SharedResult, until: float | None) -> None:
        woken = anyio.Event()
        wake = partial(call_in_loop, running_loop(), woken.set)
        with joined.ended.call(wake):
            while not joined.has_ended:
                seconds = seconds_until(until, LOOK_EVERY)
                if not seconds:
                    raise RequestTimeoutError("the deadline has passed", outcome="unknown")
                with anyio.move_on_after(seconds):
                    await woken.wait()

    async def _send_until(self, effect: Send) -> Reply:
        with anyio.move_on_after(seconds_until(effect.until, math.inf, GRACE)):
            return await self._send(effect)
        raise RequestTimeoutError("the deadline has passed", outcome=effect.outcome)

    async def _send(self, effect: Send) -> Reply:
        await anyio.lowlevel.checkpoint_if_cancelled()
        resources = self.shared.resources()
        client = resources.client_for(effect)
        return await Exchange(effect, resources.connections).run_async(client)


class AsyncRawTransport(RawTransport):
    """An `AsyncTransport` whose calls return the HTTP reply along with the result."""


async def _run_blocking(effect: RunBlocking[T]) -> T:
    done = anyio.Event()
    # In a thread, the function runs even if the task is cancelled by now. It is not a thread of
    # anyio, which has 40: the function may wait long, such as for a limiter.
    on_end = partial(call_in_loop, running_loop(), done.set)
    call = ThreadCall(effect.function, on_end).start_or_run()
    if call.ended.is_set:
        return call.result()

    with anyio.move_on_after(seconds_until(effect.until, math.inf, GRACE)):
        await done.wait()
        return call.result()
    raise RequestTimeoutError("the deadline has passed")


async def _call_user(effect: CallUser[T]) -> object:
    result = effect.function()
    if result is None or not isawaitable(result):
        return result

    with anyio.move_on_after(seconds_until(effect.until, math.inf)):
        return await result
    raise RequestTimeoutError("the deadline has passed")
