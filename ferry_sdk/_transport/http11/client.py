"""An HTTP client for threads, and one for the tasks of an event loop.

A request takes a slot, then an idle or a new connection. The slot holds the connection while it is
in use. If a call is interrupted between two instructions, its slot is garbage-collected, and the
next call closes the connection that it held.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, Generic, cast

import anyio
import httpcore

from ferry_sdk._transport.http11 import parsers
from ferry_sdk._transport.http11.asyncio_stream import connect_tcp
from ferry_sdk._transport.http11.messages import (
    AsyncResponse,
    PreparedRequest,
    Response,
    prepare_request,
)
from ferry_sdk._transport.http11.pool import IdleConnections, Slot, Slots, StreamT

_MOST: Final = 200
"""Connections at the same time."""
_PIECE: Final = 64 * 1024
"""Bytes that are read at once."""
_CONNECT_STEP: Final = "connection.connect_tcp"
_TLS_STEP: Final = "connection.start_tls"
_SEND_STEP: Final = "http11.send_request_headers.started"


class _AnyConnections(Generic[StreamT]):
    """The part that both clients share."""

    build_request = staticmethod(prepare_request)

    def __init__(self, new_context: Callable[[], ssl.SSLContext]) -> None:
        self._new_context = new_context
        self._slots: Slots[StreamT] = Slots(_MOST)
        self._idle_connections: IdleConnections[StreamT] = IdleConnections()

    @property
    def is_closed(self) -> bool:
        """Whether the client is closed."""
        return self._idle_connections.is_closed


class Connections(_AnyConnections[httpcore.NetworkStream]):
    """An HTTP client for threads.

    Args:
        new_context: Returns the TLS context of a new connection.
    """

    def send(
        self,
        request: PreparedRequest,
        *,
        stream: bool = True,  # noqa: ARG002 -- here and below: the interface of httpx
        auth: None = None,  # noqa: ARG002
        follow_redirects: bool = False,  # noqa: ARG002
    ) -> Response:
        """Send a request and return its reply with the body unread; other arguments are fixed."""
        slot = self._slots.take() or self._slots.wait(request.pool)
        if slot is None:
            raise httpcore.PoolTimeout("all connections are in use")
        try:
            slot.stream, unwanted = self._idle_connections.take(request.origin)
            for one in (*unwanted, *self._slots.lost()):
                one.close()
            connection = slot.stream or self._connect(request, slot)
            data = request.encode()
            request.trace(_SEND_STEP, {"network_stream": connection})
            with suppress(httpcore.WriteError):  # the reply, or its absence, shows the outcome
                connection.write(data, request.write)
            del data
            received = connection.read(_PIECE, request.read)
            reader = parsers.new_reader()
            reader.feed(received)
            while not reader.status_code:
                reader.feed(connection.read(_PIECE, request.read))
        except BaseException:
            failed = slot.stream
            self._slots.release(slot)
            if failed is not None:
                failed.close()
            raise
        read = partial(connection.read, _PIECE, request.read)
        return Response(reader, read, partial(self._end, reader, request, slot))

    def _connect(
        self, request: PreparedRequest, slot: Slot[httpcore.NetworkStream]
    ) -> httpcore.NetworkStream:
        host, port, is_tls = request.origin
        context = self._new_context() if is_tls else None
        request.trace(f"{_CONNECT_STEP}.started", {})
        slot.stream = stream = httpcore.SyncBackend().connect_tcp(host, port, request.connect)
        request.trace(f"{_CONNECT_STEP}.complete", {"return_value": stream})
        if context is not None:
            slot.stream = stream = stream.start_tls(context, host, request.connect)
            request.trace(f"{_TLS_STEP}.complete", {"return_value": stream})
        return stream

    def _end(
        self, reader: parsers.Reader, request: PreparedRequest, slot: Slot[httpcore.NetworkStream]
    ) -> None:
        stream = slot.stream
        if stream is None:
            return
        unwanted = [stream]
        try:
            slot.stream = None  # otherwise it would be closed as lost
            if reader.is_reusable and reader.is_read:
                unwanted = self._idle_connections.give_back(request.origin, stream)
        finally:
            self._slots.release(slot)
            for one in unwanted:
                one.close()

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        for stream in (*self._idle_connections.end(), *self._slots.lost()):
            stream.close()


class AsyncConnections(_AnyConnections[httpcore.AsyncNetworkStream]):
    """An HTTP client for the tasks of one event loop.

    Args:
        new_context: Returns the TLS context of a new connection.
    """

    async def send(
        self,
        request: PreparedRequest,
        *,
        stream: bool = True,  # noqa: ARG002 -- here and below: the interface of httpx
        auth: None = None,  # noqa: ARG002
        follow_redirects: bool = False,  # noqa: ARG002
    ) -> AsyncResponse:
        """Send a request and return its reply with the body unread; other arguments are fixed."""
        slot = self._slots.take() or await self._slots.wait_async(request.pool)
        if slot is None:
            raise httpcore.PoolTimeout("all connections are in use")
        try:
            slot.stream, unwanted = self._idle_connections.take(request.origin)
            for one in (*unwanted, *self._slots.lost()):
                await _close_shielded(one)
            connection = slot.stream or await self._connect(request, slot)
            data = request.encode()
            await request.trace(_SEND_STEP, {"network_stream": connection})
            with suppress(httpcore.WriteError):  # the reply, or its absence, shows the outcome
                await connection.write(data, request.write)
            del data
            received = await connection.read(_PIECE, request.read)
            reader = parsers.new_reader()
            reader.feed(received)
            while not reader.status_code:
                reader.feed(await connection.read(_PIECE, request.read))
        except GeneratorExit:  # the event loop has ended, so nothing can be awaited
            raise
        except BaseException:
            failed = slot.stream
            self._slots.release(slot)
            if failed is not None:
                await _close_shielded(failed)
            raise
        read = partial(connection.read, _PIECE, request.read)
        return AsyncResponse(reader, read, partial(self._end, reader, request, slot))

    async def _connect(
        self, request: PreparedRequest, slot: Slot[httpcore.AsyncNetworkStream]
    ) -> httpcore.AsyncNetworkStream:
        host, port, is_tls = request.origin
        context = self._new_context() if is_tls else None
        await request.trace(f"{_CONNECT_STEP}.started", {})
        slot.stream = stream = await _connect_tcp(host, port, request.connect)
        await request.trace(f"{_CONNECT_STEP}.complete", {"return_value": stream})
        if context is not None:
            slot.stream = stream = await stream.start_tls(context, host, request.connect)
            await request.trace(f"{_TLS_STEP}.complete", {"return_value": stream})
        return stream

    async def _end(
        self,
        reader: parsers.Reader,
        request: PreparedRequest,
        slot: Slot[httpcore.AsyncNetworkStream],
    ) -> None:
        stream = slot.stream
        if stream is None:
            return
        unwanted = [stream]
        try:
            slot.stream = None  # otherwise it would be closed as lost
            if reader.is_reusable and reader.is_read:
                unwanted = self._idle_connections.give_back(request.origin, stream)
        finally:
            self._slots.release(slot)
            for one in unwanted:
                await _close_shielded(one)

    async def aclose(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        for stream in (*self._idle_connections.end(), *self._slots.lost()):
            await stream.aclose()


async def _close_shielded(stream: httpcore.AsyncNetworkStream) -> None:
    with anyio.CancelScope(shield=True):
        await stream.aclose()


async def _connect_tcp(
    host: str,
    port: int,
    timeout: float | None,  # noqa: ASYNC109 -- the interface of httpcore
) -> httpcore.AsyncNetworkStream:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # it is trio
        backend = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())
        return await backend.connect_tcp(host, port, timeout)
    return await connect_tcp(host, port, timeout)
