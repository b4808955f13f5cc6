"""Read standard input line by line, without keeping the process alive."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress


class Lines:
    """The lines of a file descriptor, for the MCP SDK to iterate over.

    A blocking read cannot be interrupted. A daemon thread reads, so that the process can end while
    its host keeps the pipe open.

    Args:
        descriptor: The file descriptor.
        before_end: Awaited after the last line, before the iteration ends.

    Attributes:
        is_ended: Whether further lines are ignored.
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
