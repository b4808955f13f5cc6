"""An HTTP client for the tasks of an event loop; its steps are those of `client`.

It is a module of its own because it loads asyncio, which threads do not need.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

import anyio
import httpcore
from httpcore import AsyncNetworkStream

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.fork import process_id
from ferry_sdk._transport.http11 import replies
from ferry_sdk._transport.http11.asyncio_stream import AsyncioStream, connect_tcp
from ferry_sdk._transport.http11.client import (
    CONNECT_STEP,
    PIECE,
    SEND_STEP,
    TLS_STEP,
    AnyConnections,
    PreparedRequest,
)
from ferry_sdk._transport.http11.pool import Slot, Waiter, seconds_to_keep, step_until
from ferry_sdk._transport.http11.replies import Reader, Response
from ferry_sdk._transport.loops import asyncio_loop

_Slot = Slot[AsyncNetworkStream]
_ON_TRIO: Final = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())


class AsyncConnections(AnyConnections[AsyncNetworkStream]):
    """An HTTP client for the tasks of one event loop.

    Args:
        new_context: Returns the TLS context of a new connection.
    """

    def __init__(self, new_context: Callable[[], ssl.SSLContext]) -> None:
        super().__init__(new_context)
        self._timer: asyncio.TimerHandle | None = None
        self._pid = process_id()

    def __del__(self) -> None:
        # A client that nobody closed. The loops of asyncio keep the connections that they read,
        # so they would stay open. A forked child leaves those of its parent alone.
        if getattr(self, "_pid", None) != process_id():  # missing if __init__ was interrupted
            return
        for stream in (*self._idle_connections.end(), *self._slots.lost()):
            if isinstance(stream, AsyncioStream):
                stream.drop()

    async def send(self, request: PreparedRequest, **_: object) -> Response:
        """Send a request and return its reply with the body unread; httpx's options are fixed."""
        slot = self._slots.take() or await self._wait(request.pool)
        if slot is None:
            raise httpcore.PoolTimeout("all connections are in use")

        try:
            slot.stream, unusable = self._idle_connections.take(
                request.origin, request.longest_idle
            )
            for stream in (*unusable, *self._slots.lost()):
                await _close_shielded(stream)
            connection = slot.stream or await self._connect(request, slot)

            data = request.encode()
            await request.trace(SEND_STEP, {"network_stream": connection})
            try:  # noqa: SIM105 -- `suppress` is slow, and every call comes here
                await connection.write(data, request.write)
            except httpcore.WriteError:
                pass  # the reply, or its absence, shows the outcome
            del data  # a body may be large, and a reply may take long

            reader = replies.new_reader()
            while not reader.status_code:
                reader.feed(await connection.read(PIECE, request.read))
            if request.is_head:
                reader.is_complete = True
        except GeneratorExit:  # the event loop has ended, so nothing can be awaited
            raise
        except BaseException:
            failed = slot.stream
            self._slots.release(slot)
            if failed is not None:
                await _close_shielded(failed)
            raise

        response = Response(
            reader,
            read=partial(connection.read, PIECE, request.read),
            end=partial(self._end, reader, request, slot),
        )
        hint = response.headers.by_name.get("keep-alive")
        if hint is not None:
            slot.kept_for = seconds_to_keep(hint)
        return response

    async def _wait(self, seconds: float | None) -> _Slot | None:
        """Wait for a slot as `ConnectionSlots.wait` does, without blocking."""
        until = math.inf if seconds is None else monotonic() + seconds
        with Waiter(self._slots) as waiter:
            while not self._slots.serve(waiter) and (step := step_until(until)) > 0:
                await self._pause(waiter, step)
        return waiter.slot

    def _pause(self, waiter: Waiter[AsyncNetworkStream], seconds: float) -> Awaitable[None]:
        """Return what a waiter awaits: a slot, for so many seconds at most.

        On asyncio all waiters have one timer, which wakes them all to check again. The events and
        scopes of anyio take several times the memory.
        """
        loop = asyncio_loop()
        if loop is None:
            return _pause_on_trio(waiter, seconds)

        if self._timer is None or self._timer.when() > loop.time() + seconds:
            replaced = self._timer
            self._timer = loop.call_later(seconds, self._wake_all)
            if replaced is not None:
                replaced.cancel()

        woken: asyncio.Future[None] = loop.create_future()
        waiter.wake = _Wake(woken)
        return woken

    def _wake_all(self) -> None:
        self._timer = None
        for waiter in [*self._slots.waiters]:
            waiter.wake()

    async def _connect(self, request: PreparedRequest, slot: _Slot) -> AsyncNetworkStream:
        host, port, is_tls = request.origin
        # First, because without readable certificates a connection is of no use.
        context = self._new_context() if is_tls else None

        await request.trace(f"{CONNECT_STEP}.started", {})
        connect = connect_tcp if asyncio_loop() is not None else _ON_TRIO.connect_tcp
        slot.stream = stream = await connect(host, port, request.connect)
        await request.trace(f"{CONNECT_STEP}.complete", {"return_value": stream})

        if context is not None:
            slot.stream = stream = await stream.start_tls(context, host, request.connect)
            await request.trace(f"{TLS_STEP}.complete", {"return_value": stream})
        return stream

    async def _end(self, reader: Reader, request: PreparedRequest, slot: _Slot) -> None:
        """Give the connection back or close it, and release the slot."""
        stream = slot.stream
        if stream is None:  # the response was closed before
            return

        to_close = [stream]
        try:
            slot.stream = None  # otherwise it would be closed as lost
            if reader.is_reusable and reader.is_read:
                to_close = self._idle_connections.give_back(request.origin, stream, slot.kept_for)
        finally:
            self._slots.release(slot)
            for unwanted in to_close:
                await _close_shielded(unwanted)

    async def aclose(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        for stream in (*self._idle_connections.end(), *self._slots.lost()):
            await stream.aclose()


@dataclass(slots=True, eq=False)
class _Wake:
    """Completes the future of a waiter; it takes a third of the memory of a `partial`."""

    woken: asyncio.Future[None]

    def __call__(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


async def _pause_on_trio(waiter: Waiter[AsyncNetworkStream], seconds: float) -> None:
    event = anyio.Event()
    waiter.wake = event.set
    with anyio.move_on_after(seconds):
        await event.wait()


async def _close_shielded(stream: AsyncNetworkStream) -> None:
    with anyio.CancelScope(shield=True):
        await stream.aclose()
