"""Writes one request to a connection and reads the head of its reply."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import anyio

from ferry_sdk._transport.aiohttp_client.response import AioResponse

if TYPE_CHECKING:
    from ferry_sdk._transport.aiohttp_client.connection import AioConnection
    from ferry_sdk._transport.aiohttp_client.pool import Pool
    from ferry_sdk._transport.aiohttp_client.request import AioRequest

_AT_ONCE: Final = 64 * 1024
"""Bytes of a body that are written at once; the event loop buffers the rest."""
_LONGEST_LINE: Final = 100 * 1024
"""Bytes of one line of a reply's head, as in httpx."""
_FINAL: Final = 200
"""The lowest status of a final reply."""
_SWITCHING: Final = 101


async def exchange(pool: Pool, request: AioRequest) -> AioResponse:
    """Send a request once and return its reply with the body unread.

    Raises:
        Exception: Any exception of aiohttp; if `is_sent` is False, nothing was sent.
    """
    connection = await pool.take(request)
    try:
        await request.trace("http11.send_request_headers.started", {"request": request})
    except BaseException:
        pool.give_back(connection)
        raise
    request.is_sent = True
    protocol = connection.protocol
    try:
        protocol.set_response_params(
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        head = (
            connection.route.first_lines(request.method, request.address.target) + request.headers
        )
        if len(request.content) <= _AT_ONCE:
            # Writes of one iteration of the loop leave together, which costs fewer system calls.
            pool.loop.call_soon(connection.transport.write, head + request.content)
        else:
            connection.transport.write(head)
            await _write(connection, request.content, request.limits.write)
        while True:
            pool.timeouts.begin(connection, protocol, request.limits.read)
            message, body = await protocol.read()
            if message.code >= _FINAL or message.code == _SWITCHING:
                break
        pool.timeouts.end(connection)
    except BaseException:
        pool.give_up(connection)
        raise
    return AioResponse(message, body, connection, pool, request.limits.read)


async def _write(connection: AioConnection, content: bytes, read_timeout: float | None) -> None:
    """Write a body in pieces, with a timeout for each."""
    from aiohttp.http import StreamWriter  # noqa: PLC0415 -- an extra installs it

    writer = StreamWriter(connection.protocol, asyncio.get_running_loop())
    view = memoryview(content)
    try:
        for start in range(0, len(view), 2 * _AT_ONCE):
            with anyio.fail_after(read_timeout):
                await writer.write(view[start : start + 2 * _AT_ONCE])
    except TimeoutError:
        raise
    except Exception:  # noqa: BLE001 -- the reply, or its absence, shows the outcome
        connection.protocol.force_close()
