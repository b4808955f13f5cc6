"""Connections on asyncio, with the interface of httpcore's network streams.

A stream is a `BufferedProtocol` of asyncio, because the streams of anyio, which httpcore uses, cost
several times as much.

- The event loop calls `get_buffer` and `buffer_updated` when bytes arrive. They become a piece in
  `_pieces`, which `read` returns.
- `read` and `write` wait with `_wait`, for a future that `_wake` completes when anything happens.
  They then look again whether it was what they wait for.
- A stream has one timer for all its waits. It is not cancelled at the end of a wait, because most
  timers would be: a timer that fires too early for the current wait starts again, see `_end_wait`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import select
import socket
import ssl
import sys
import threading
from contextlib import suppress
from typing import Any, Final

import anyio
import httpcore

from ferry_sdk._transport.loops import call_in_loop

_AT_ONCE: Final = 64 * 1024
"""Bytes that are read at once, or written before a check whether the service reads them."""
_MOST_UNREAD: Final = 1024 * 1024
"""Bytes that may arrive before somebody reads them."""
_NEXT_ADDRESS: Final = 0.25
"""Seconds until the next address of a host is tried beside the one before; as in RFC 8305."""


class _ReadBuffer(threading.local):
    """Receives the bytes of every connection of a thread; asyncio makes a large one each time."""

    def __init__(self) -> None:
        self.view = memoryview(bytearray(_AT_ONCE))


_read_buffer: Final = _ReadBuffer()


class AsyncioStream(asyncio.BufferedProtocol, httpcore.AsyncNetworkStream):
    """One connection of the current event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._pieces: list[bytes] = []
        self._unread = 0
        self._waiter: asyncio.Future[None] | None = None
        self._is_full = False
        self._has_ended = False
        self._error: Exception | None = None
        self._until: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 -- the interface of asyncio
        """Return where the next bytes go; they are taken from there at once."""
        return _read_buffer.view

    def buffer_updated(self, nbytes: int) -> None:
        """Keep the data and wake whoever waits for it."""
        self._pieces.append(bytes(_read_buffer.view[:nbytes]))
        self._unread += nbytes
        if self._unread > _MOST_UNREAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Record the end of the data; asyncio closes the connection."""
        self._has_ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the end of the connection."""
        self._has_ended = True
        self._error = exc
        self._wake()

    def pause_writing(self) -> None:
        """Record that the write buffer is full."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Record that the write buffer has space."""
        self._is_full = False
        self._wake()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109 -- asyncio limits the pieces; the interface of httpcore
        """Return the next piece; nothing at the end of the data."""
        while not (self._pieces or self._has_ended):
            await self._wait(timeout, httpcore.ReadTimeout)

        if self._pieces:
            piece = self._pieces.pop(0)
            if self._unread > _MOST_UNREAD >= self._unread - len(piece):
                self._transport.resume_reading()
            self._unread -= len(piece)
            return piece

        if self._error is not None:
            raise httpcore.ReadError(str(self._error))
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 -- the interface of httpcore
        """Write bytes; the event loop keeps some of them."""
        if len(buffer) <= _AT_ONCE:
            # What the tasks of one iteration of the loop write leaves together, and its replies
            # come together, which costs fewer iterations.
            self._loop.call_soon(self._transport.write, buffer)
            return

        for start in range(0, len(buffer), _AT_ONCE):
            self._transport.write(buffer[start : start + _AT_ONCE])
            while self._is_full and not self._has_ended:
                await self._wait(timeout, httpcore.WriteTimeout)
            if self._has_ended:
                raise httpcore.WriteError("the connection has ended")

    async def aclose(self) -> None:
        """Abort the connection; it is closed when this returns."""
        self.abort()
        await asyncio.sleep(0)

    def abort(self) -> None:
        """Abort the connection: what is not written yet is not sent."""
        if self._timer is not None:
            self._timer.cancel()
        self._transport.abort()

    def drop(self) -> None:
        """Abort the connection from any thread, as nobody uses it any more."""
        call_in_loop(self._loop, self.abort)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 -- the interface of httpcore
    ) -> AsyncioStream:
        """Begin TLS."""
        # The timeout of the block below comes first, with an error of its own.
        handshake_timeout = None if timeout is None else timeout + 1
        try:
            with anyio.fail_after(timeout):
                self._transport = await self._loop.start_tls(
                    self._transport,
                    self,
                    ssl_context,
                    server_hostname=server_hostname,
                    ssl_handshake_timeout=handshake_timeout,
                )
        except OSError as error:
            raise _connect_error(error) from error
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 -- any value
        """Return the socket, or whether something has arrived."""
        if info != "is_readable":
            return self._transport.get_extra_info(info)
        if self._pieces or self._has_ended or self._transport.is_closing():
            return True
        return _has_data(self._transport.get_extra_info("socket").fileno())

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _wait(self, seconds: float | None, error: type[Exception]) -> None:
        """Wait for something to happen.

        Args:
            seconds: The longest wait; None: no limit.
            error: Raised if nothing happens in time.
        """
        self._waiter = self._loop.create_future()
        self._until = None
        if seconds is not None:
            self._until = self._loop.time() + seconds
            if self._timer is None or self._timer.when() > self._until:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = self._loop.call_at(self._until, self._end_wait)

        try:
            await self._waiter
        except TimeoutError:
            raise error("nothing arrived in time") from None
        finally:
            self._waiter = None

    def _end_wait(self) -> None:
        """End the current wait if its time has passed; else start the timer again.

        Data that arrived in this iteration of the event loop has completed the wait before.
        """
        self._timer = None
        if self._waiter is None or self._waiter.done() or self._until is None:
            return

        if self._until > self._loop.time():
            self._timer = self._loop.call_at(self._until, self._end_wait)
        else:
            self._waiter.set_exception(TimeoutError())


async def connect_tcp(host: str, port: int, timeout: float | None) -> AsyncioStream:  # noqa: ASYNC109 -- the interface of httpcore
    """Connect to a host, by the first of its addresses that answers."""
    # Not in a context manager of its own: its generator takes memory while the connection is made.
    try:
        with anyio.fail_after(timeout):
            addresses = await _addresses_of(host, port)
            if len(addresses) == 1:
                return await _connect(addresses[0])
            return await _connect_to_any(addresses)
    except OSError as error:
        raise _connect_error(error) from error


async def _connect(address: tuple[str, int]) -> AsyncioStream:
    _, stream = await asyncio.get_running_loop().create_connection(AsyncioStream, *address)
    return stream


async def _addresses_of(host: str, port: int) -> list[tuple[str, int]]:
    """Return the addresses of a host, each once.

    The first is the one that the system prefers. Those of the other family follow, such as IPv4
    after IPv6, and then the rest of the first family: often one family does not work at all.
    """
    with suppress(ValueError):  # it is a name
        ipaddress.ip_address(host)
        return [(host, port)]

    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    hosts = [(family, str(socket_address[0])) for family, *_, socket_address in entries]
    first_family = hosts[0][0]
    other_family = [address for family, address in hosts if family != first_family]
    same_family = [address for family, address in hosts if family == first_family]
    in_order = [same_family[0], *other_family, *same_family[1:]]
    return [(address, port) for address in dict.fromkeys(in_order)]


async def _connect_to_any(addresses: list[tuple[str, int]]) -> AsyncioStream:
    """Connect to the first address that answers, as RFC 8305 describes.

    The next address is tried when the one before has failed, or has not answered for a while. Two
    may connect at the same time; only the first one is kept.

    asyncio can do so too, but loses a connection if the caller is cancelled when it is made.
    """
    connected: list[AsyncioStream] = []
    errors: list[Exception] = []

    async def attempt(address: tuple[str, int], failed: anyio.Event) -> None:
        try:
            connected.append(await _connect(address))
            group.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 -- the caller gets it
            errors.append(error)
            failed.set()

    chosen: AsyncioStream | None = None
    try:
        async with anyio.create_task_group() as group:
            for address in addresses:
                failed = anyio.Event()
                group.start_soon(attempt, address, failed)
                with anyio.move_on_after(_NEXT_ADDRESS):
                    await failed.wait()
        if connected:
            chosen = connected[0]
    finally:
        for stream in connected:
            if stream is not chosen:
                stream.abort()

    if chosen is None:
        raise errors[-1]
    return chosen


def _connect_error(error: OSError) -> Exception:
    """Return the exception of httpcore in place of the system's."""
    if isinstance(error, TimeoutError):
        return httpcore.ConnectTimeout("not connected in time")
    return httpcore.ConnectError(str(error))


def _has_data(descriptor: int) -> bool:
    """Return whether a socket has data that the event loop has not read."""
    if sys.platform == "win32":
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
