"""An HTTP client for threads, and one for the tasks of an event loop."""

from __future__ import annotations

import threading
from functools import partial
from typing import Final

import anyio
import httpcore

from ferry_sdk._tls import context_of
from ferry_sdk.settings import CertificatePaths

from .keeping import KEPT_FOR, Keeping
from .replies import AsyncIncoming, Incoming
from .requests import Outgoing, outgoing

_MOST: Final = 200
"""Connections at the same time."""
_LEAVES: Final = "http11.send_request_headers.started"


class Connections:
    """An HTTP client for threads.

    Args:
        certificates: What services are trusted by.
    """

    build_request = staticmethod(outgoing)

    def __init__(self, certificates: CertificatePaths) -> None:
        self._certificates = certificates
        self._places = threading.Semaphore(_MOST)
        self._keeping = Keeping[httpcore.HTTPConnection]()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._keeping.is_over

    def send(
        self, request: Outgoing, *, stream: bool, auth: None, follow_redirects: bool
    ) -> Incoming:
        """Send a request and give its reply, the body not yet read."""
        del stream, auth, follow_redirects  # there is no other way
        if not self._places.acquire(timeout=request.patience):
            raise httpcore.PoolTimeout("all connections are in use")
        try:
            connection, useless = self._connection(request)
            try:
                for one in useless:
                    one.close()
                trace = request.without_trace() if connection.is_idle() else None
                if trace is not None:
                    trace(_LEAVES, {"request": request.request})
                response = connection.handle_request(request.request)
            except BaseException:
                self._keeping.busy.discard(connection)
                connection.close()
                raise
        except BaseException:
            self._places.release()
            raise
        return Incoming(response, partial(self._end, response, request.origin, connection))

    def _connection(
        self, request: Outgoing
    ) -> tuple[httpcore.HTTPConnection, list[httpcore.HTTPConnection]]:
        connection, useless = self._keeping.take(request.origin)
        if connection is None:
            connection = httpcore.HTTPConnection(
                request.request.url.origin,
                ssl_context=context_of(self._certificates) if request.is_tls else None,
                keepalive_expiry=KEPT_FOR,
            )
        self._keeping.busy.add(connection)
        return connection, useless

    def _end(
        self, response: httpcore.Response, origin: str, connection: httpcore.HTTPConnection
    ) -> None:
        unwanted = [connection]
        try:
            response.close()
            unwanted = self._keeping.give_back(origin, connection)
        finally:
            self._keeping.busy.discard(connection)
            self._places.release()
            for one in unwanted:
                one.close()

    def close(self) -> None:
        """Close the connections that are not in use; the others when they are given back."""
        for connection in self._keeping.end():
            connection.close()


class AsyncConnections:
    """An HTTP client for the tasks of one event loop.

    Args:
        certificates: What services are trusted by.
    """

    build_request = staticmethod(outgoing)

    def __init__(self, certificates: CertificatePaths) -> None:
        self._certificates = certificates
        self._places = anyio.Semaphore(_MOST, fast_acquire=True)
        self._keeping = Keeping[httpcore.AsyncHTTPConnection]()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._keeping.is_over

    async def send(
        self, request: Outgoing, *, stream: bool, auth: None, follow_redirects: bool
    ) -> AsyncIncoming:
        """Send a request and give its reply, the body not yet read."""
        del stream, auth, follow_redirects  # there is no other way
        await self._acquire(request)
        try:
            connection, useless = self._connection(request)
            try:
                for one in useless:
                    await _closed(one)
                trace = request.without_trace() if connection.is_idle() else None
                if trace is not None:
                    await trace(_LEAVES, {"request": request.request})
                response = await connection.handle_async_request(request.request)
            except GeneratorExit:  # its loop has ended, and nothing can be awaited
                raise
            except BaseException:
                self._keeping.busy.discard(connection)
                await _closed(connection)
                raise
        except BaseException:
            self._places.release()
            raise
        return AsyncIncoming(response, partial(self._end, response, request.origin, connection))

    async def _acquire(self, request: Outgoing) -> None:
        try:
            self._places.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.move_on_after(request.patience) as scope:
                await self._places.acquire()
            if scope.cancelled_caught:
                raise httpcore.PoolTimeout("all connections are in use") from None

    def _connection(
        self, request: Outgoing
    ) -> tuple[httpcore.AsyncHTTPConnection, list[httpcore.AsyncHTTPConnection]]:
        connection, useless = self._keeping.take(request.origin)
        if connection is None:
            connection = httpcore.AsyncHTTPConnection(
                request.request.url.origin,
                ssl_context=context_of(self._certificates) if request.is_tls else None,
                keepalive_expiry=KEPT_FOR,
            )
        self._keeping.busy.add(connection)
        return connection, useless

    async def _end(
        self,
        response: httpcore.Response,
        origin: str,
        connection: httpcore.AsyncHTTPConnection,
    ) -> None:
        unwanted = [connection]
        try:
            await response.aclose()
            unwanted = self._keeping.give_back(origin, connection)
        finally:
            self._keeping.busy.discard(connection)
            self._places.release()
            for one in unwanted:
                await _closed(one)

    async def aclose(self) -> None:
        """Close the connections that are not in use; the others when they are given back."""
        for connection in self._keeping.end():
            await connection.aclose()


async def _closed(connection: httpcore.AsyncHTTPConnection) -> None:
    with anyio.CancelScope(shield=True):
        await connection.aclose()
