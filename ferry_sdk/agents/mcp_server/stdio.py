"""The transport over stdin and stdout, for a host that starts the server as its child.

The server ends when the host closes the input, or at a signal:

1. `Lines` ends after the last line, or as soon as a signal calls `Lines.end`.
2. Before that, it waits for a write that is being sent, at most `_GRACE` seconds, and then a moment
   for its reply.
3. A second signal, or the end of that time, cancels what is left.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, cast

import anyio
import anyio.lowlevel
from mcp.server.stdio import stdio_server

from ferry_sdk.agents.mcp_server.handlers import make_server
from ferry_sdk.agents.mcp_server.shutdown import handled_signals, wait_for_writes
from ferry_sdk.agents.policy.approval import ApprovalWay
from ferry_sdk.agents.toolkit import AsyncToolkit

_GRACE: Final = 3.0
"""Seconds for a write in progress at shutdown; hosts kill the process after about 4."""


class Lines:
    """The lines of a file descriptor, for the MCP SDK to iterate over.

    A blocking read cannot be interrupted. A daemon thread reads, so that the process can end while
    its host keeps the pipe open. `before_end` is awaited after the last line, before the iteration
    ends; once `is_ended`, further lines are ignored.
    """

    def __init__(self, descriptor: int, before_end: Callable[[], Awaitable[object]]) -> None:
        self._lines = asyncio.Queue[str | None]()
        self._loop = asyncio.get_running_loop()
        self._descriptor = os.dup(descriptor)
        self._before_end = before_end
        self.is_ended: bool = False
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None and not self.is_ended:
            yield line
        await self._before_end()

    def end(self) -> None:
        """End the iteration, and ignore further lines."""
        self.is_ended = True
        self._lines.put_nowait(None)

    def _read(self) -> None:
        # The loop may be closed already, if the process ends for another reason.
        with (
            os.fdopen(self._descriptor, encoding="utf-8", errors="replace", newline="\n") as file,
            suppress(RuntimeError),
        ):
            for line in file:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)


async def serve_stdio(toolkit: AsyncToolkit, approval: ApprovalWay) -> None:
    """Serve the tools to the host on stdin and stdout, until the input ends or a signal comes."""

    # It is called when `lines` and `scope`, which are made below, exist.
    async def end() -> None:
        await wait_for_writes(toolkit, _GRACE)
        if lines.is_ended:  # a signal ended the input: nobody reads further replies
            scope.cancel()
            await anyio.lowlevel.checkpoint()

    def shut_down() -> None:
        if lines.is_ended:
            scope.cancel()
        lines.end()
        asyncio.get_running_loop().call_later(_GRACE + 1, scope.cancel)

    server = make_server(toolkit, approval)
    lines = Lines(sys.stdin.fileno(), end)
    with anyio.CancelScope() as scope, handled_signals(shut_down):
        # `stdio_server` only iterates over the lines, so `Lines` is enough of a file.
        async with stdio_server(stdin=cast("Any", lines)) as (read, write):
            await server.run(read, write, server.create_initialization_options())


def is_host_gone(error: Exception) -> bool:
    """Return True if the host closed its end, which is a normal way to stop the server."""
    inner: tuple[Exception, ...] = getattr(error, "exceptions", ())  # those of a group
    if inner:
        return all(is_host_gone(each) for each in inner)
    return isinstance(error, BrokenPipeError)
