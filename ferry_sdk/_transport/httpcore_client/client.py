"""An HTTP client for threads, and one for the tasks of an event loop.

A request takes a slot, then an idle or a new connection. The slot holds the connection while it is
in use. If a call is interrupted between two instructions, its slot is garbage-collected, and the
next call closes the connection that it held.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Generic
from weakref import WeakKeyDictionary

import anyio
import httpcore

from ferry_sdk._engine.settings import CertificatePaths
from ferry_sdk._transport.httpcore_client.messages import (
    AsyncResponse,
    PreparedRequest,
    Response,
    prepare_request,
)
from ferry_sdk._transport.httpcore_client.pool import (
    KEPT_FOR,
    ConnectionT,
    IdleConnections,
    Slot,
    Slots,
)
from ferry_sdk._transport.tls import context_of

_MOST: Final = 200
"""Connections at the same time."""
_SEND_STEP: Final = "http11.send_request_headers.started"


class _AnyConnections(Generic[ConnectionT]):
    """The part that both clients share."""

    build_request = staticmethod(prepare_request)

    def __init__(self, certificates: CertificatePaths, connection_type: type[ConnectionT]) -> None:
        self._certificates = certificates
        self._connection_type: type[ConnectionT] = connection_type
        self._slots: Slots[ConnectionT] = Slots(_MOST)
        self._idle_connections: IdleConnections[ConnectionT] = IdleConnections()

    @property
    def is_closed(self) -> bool:
        """Whether the client is closed."""
        return self._idle_connections.is_closed

    def _take_connection(
        self, request: PreparedRequest, slot: Slot[ConnectionT]
    ) -> tuple[ConnectionT, list[ConnectionT]]:
        slot.connection, expired = self._idle_connections.take(request.origin)
        if slot.connection is None:
            slot.connection = self._connection_type(
                request.request.url.origin,
                ssl_context=context_of(self._certificates) if request.is_tls else None,
                keepalive_expiry=KEPT_FOR,
            )
        return slot.connection, expired


class Connections(_AnyConnections[httpcore.HTTPConnection]):
    """An HTTP client for threads.

    Args:
        certificates: The trusted certificates.
    """

    def __init__(self, certificates: CertificatePaths) -> None:
        super().__init__(certificates, httpcore.HTTPConnection)
        self._streams: WeakKeyDictionary[httpcore.HTTPConnection, Any] = WeakKeyDictionary()

    def send(self, request: PreparedRequest, **_: object) -> Response:
        """Send a request and return its reply with the body unread; other arguments are fixed."""
        slot = self._slots.take() or self._slots.wait(request.pool_timeout)
        if slot is None:
            raise httpcore.PoolTimeout("all connections are in use")
        try:
            connection, expired = self._take_connection(request, slot)
            for one in (*expired, *self._slots.lost()):
                one.close()
            trace = request.without_trace() if connection.is_idle() else None
            if trace is not None:
                known = self._streams.get(connection)
                trace(_SEND_STEP, {"request": request.request, "network_stream": known})
            response = connection.handle_request(request.request)
        except BaseException:
            unwanted = slot.connection
            self._slots.release(slot)
            if unwanted is not None:
                unwanted.close()
            raise
        reply = Response(response, partial(self._end, response, request.origin, slot))
        self._streams[connection] = reply.extensions.get("network_stream")
        return reply

    def _end(
        self, response: httpcore.Response, origin: str, slot: Slot[httpcore.HTTPConnection]
    ) -> None:
        connection = slot.connection
        if connection is None:
            return
        unwanted = [connection]
        try:
            slot.connection = None  # otherwise it would be closed as lost
            response.close()
            unwanted = self._idle_connections.give_back(origin, connection)
        finally:
            self._slots.release(slot)
            for one in unwanted:
                one.close()

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        for connection in (*self._idle_connections.end(), *self._slots.lost()):
            connection.close()


class AsyncConnections(_AnyConnections[httpcore.AsyncHTTPConnection]):
    """An HTTP client for the tasks of one event loop.

    Args:
        certificates: The trusted certificates.
    """

    def __init__(self, certificates: CertificatePaths) -> None:
        super().__init__(certificates, httpcore.AsyncHTTPConnection)

    async def send(self, request: PreparedRequest, **_: object) -> AsyncResponse:
        """Send a request and return its reply with the body unread; other arguments are fixed."""
        slot = self._slots.take() or await self._slots.wait_async(request.pool_timeout)
        if slot is None:
            raise httpcore.PoolTimeout("all connections are in use")
        try:
            connection, expired = self._take_connection(request, slot)
            for one in (*expired, *self._slots.lost()):
                await _close_shielded(one)
            trace = request.without_trace() if connection.is_idle() else None
            if trace is not None:
                await trace(_SEND_STEP, {"request": request.request})
            response = await connection.handle_async_request(request.request)
        except GeneratorExit:  # the event loop has ended, so nothing can be awaited
            raise
        except BaseException:
            unwanted = slot.connection
            self._slots.release(slot)
            if unwanted is not None:
                await _close_shielded(unwanted)
            raise
        return AsyncResponse(response, partial(self._end, response, request.origin, slot))

    async def _end(
        self,
        response: httpcore.Response,
        origin: str,
        slot: Slot[httpcore.AsyncHTTPConnection],
    ) -> None:
        connection = slot.connection
        if connection is None:
            return
        unwanted = [connection]
        try:
            slot.connection = None  # otherwise it would be closed as lost
            await response.aclose()
            unwanted = self._idle_connections.give_back(origin, connection)
        finally:
            self._slots.release(slot)
            for one in unwanted:
                await _close_shielded(one)

    async def aclose(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        for connection in (*self._idle_connections.end(), *self._slots.lost()):
            await connection.aclose()


async def _close_shielded(connection: httpcore.AsyncHTTPConnection) -> None:
    with anyio.CancelScope(shield=True):
        await connection.aclose()
