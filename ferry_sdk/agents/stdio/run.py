"""Run the MCP server as a process: its token, its input and output, its log, its shutdown.

The server ends when the host closes the input, or at a signal:

1. `Lines` ends after the last line, or as soon as a signal calls `Lines.end`.
2. Before that, it waits for a write that is being sent, at most `_GRACE` seconds, and then a moment
   for its reply.
3. A second signal, or the end of that time, cancels what is left.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

import anyio
import anyio.lowlevel
from mcp.server.stdio import stdio_server

from ferry_sdk._engine.token_file import FileToken, file_of
from ferry_sdk.agents.policy.private_file import AuditFile
from ferry_sdk.agents.policy.trip_answers import Handles
from ferry_sdk.agents.stdio.server import make_server
from ferry_sdk.agents.toolkit import AsyncToolkit
from ferry_sdk.agents.tools.tools import ToolChoice
from ferry_sdk.client import AsyncFerry
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.types import Recorder

_DEADLINE: Final = 60.0
"""Seconds for a whole call; hosts wait about as long."""
_GRACE: Final = 3.0
"""Seconds for a write in progress at shutdown; hosts kill the process after about 4."""
_REPLY: Final = 0.05
"""Seconds for the reply to be sent after that."""
_MAX_LINES: Final = 1_000
"""The most lines that wait to be written; further ones are dropped."""
_STDERR: Final = 2
_FLUSH_TIMEOUT: Final = 0.5
"""Seconds to wait for lines to be written when the process ends."""

logger: logging.Logger = logging.getLogger("ferry_sdk")


class _StderrHandler(logging.Handler):
    """Write records to stderr without waiting for a reader.

    Some hosts give the server a pipe for stderr and never read it. A write to a full pipe blocks
    for ever, so a separate thread writes, and lines that do not fit are dropped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines = queue.Queue[bytes](_MAX_LINES)
        threading.Thread(target=self._write, name="stderr", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record."""
        try:
            line = self.format(record)
        except Exception as error:  # noqa: BLE001 -- logging would print a traceback, and block
            line = f"ERROR ferry_sdk: a record could not be formatted ({type(error).__name__})"
        with suppress(queue.Full):
            self._lines.put_nowait(f"{line}\n".encode(errors="backslashreplace"))

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, with only the type of an exception: its text may be personal.

        Characters that control a terminal are escaped.
        """
        line = f"{record.levelname} {record.name}: {record.getMessage()}"
        if record.exc_info and record.exc_info[0]:
            line += f" ({record.exc_info[0].__name__})"
        line = " ".join(line.splitlines())
        return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)

    def flush(self) -> None:
        """Wait briefly until everything is written."""
        all_written = self._lines.all_tasks_done
        with all_written:
            all_written.wait_for(self._has_written_all, _FLUSH_TIMEOUT)

    def _has_written_all(self) -> bool:
        return not self._lines.unfinished_tasks

    def _write(self) -> None:
        # Not sys.stderr: if a blocked thread holds its lock, the interpreter aborts at exit.
        while True:
            line = self._lines.get()
            with suppress(OSError):  # the reader is gone
                while line:
                    line = line[os.write(_STDERR, line) :]
            self._lines.task_done()


def log_to_stderr() -> None:
    """Send all log records to stderr, and to nothing else: stdout carries the protocol."""
    logging.basicConfig(handlers=[_StderrHandler()], level=logging.WARNING, force=True)
    logging.getLogger("ferry_sdk").setLevel(logging.INFO)


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


def serve(
    *,
    tools: ToolChoice = "journey",
    writes: bool = False,
    spend_limit: Mapping[str, str] | None = None,
    penalty_limit: Mapping[str, str] | None = None,
    per_booking: Mapping[str, str] | None = None,
    until: datetime | None = None,
    token_file: Path | None = None,
    audit: Path | None = None,
    state: Path | None = None,
    journal: Recorder | None = None,
    travellers: Handles | None = None,
) -> None:
    """Serve the tools to the MCP host on stdin and stdout, until the input ends.

    The token comes from the file in ``FERRY_TOKEN_FILE``, or from ``FERRY_TOKEN``; the service's
    address from ``FERRY_BASE_URL``. Call it in the main thread only.

    Args:
        tools: Which tools to offer, like `Toolkit`.
        writes: Whether to offer the tools that change something.
        spend_limit: The most that all bookings together may cost, by currency.
        penalty_limit: The most that cancelling one booking may cost, by currency.
        per_booking: The most that one booking may cost, by currency.
        until: When writes end, like `Toolkit`.
        token_file: The file that holds the token.
        audit: A private file to which the record of each call is appended as a line of JSON.
        state: A private file that keeps what was shown, spent and done for other processes.
        journal: Records every write; a booking can be changed only with a journal.
        travellers: The travellers by their handles, like `Toolkit`.

    Raises:
        SystemExit: With code 2 if a setting is missing or invalid (stderr names it), with code 1 if
            the server failed.
    """
    log_to_stderr()
    try:
        token = take_token(token_file)
        audit_file = None if audit is None else AuditFile(audit)
        ferry = AsyncFerry(token, read_only=not writes, deadline=_DEADLINE, journal=journal)
        toolkit = AsyncToolkit(
            ferry,
            tools=tools,
            writes=writes,
            spend_limit=spend_limit,
            penalty_limit=penalty_limit,
            per_booking=per_booking,
            until=until,
            audit=audit_file,
            state=state,
            travellers=travellers,
        )
        reader = AsyncToolkit(ferry, tools="all", audit=audit_file)
        anyio.run(_serve, ferry, toolkit, reader)
    except ConfigurationError as error:
        sys.stderr.write(f"ferry_sdk: {error}\n")
        raise SystemExit(2) from None
    except Exception as error:  # noqa: BLE001 -- its text may hold secrets
        if not _is_host_gone(error):
            logger.critical("the server failed (%s)", type(error).__name__)
            raise SystemExit(1) from None
        # Since Python 3.13, the unsent rest of the MCP SDK's stdout is reported with a traceback.
        sys.unraisablehook = lambda _: None


async def _serve(ferry: AsyncFerry, toolkit: AsyncToolkit, reader: AsyncToolkit) -> None:
    async with ferry:
        server = make_server(toolkit, reader)

        # It is called when `lines` and `scope`, which are made below, exist.
        async def wait_for_writes() -> None:
            if toolkit.is_sending:
                with anyio.move_on_after(_GRACE):
                    while toolkit.is_sending:  # noqa: ASYNC110 -- a toolkit has no event to wait for
                        await anyio.sleep(_REPLY)
                await anyio.sleep(_REPLY)
            if lines.is_ended:  # a signal ended the input: nobody reads further replies
                scope.cancel()
                await anyio.lowlevel.checkpoint()

        lines = Lines(sys.stdin.fileno(), wait_for_writes)
        with anyio.CancelScope() as scope, _handle_signals(lines, scope):
            # `stdio_server` only iterates over the lines, so `Lines` is enough of a file.
            async with stdio_server(stdin=cast("Any", lines)) as (read, write):
                await server.run(read, write, server.create_initialization_options())


def _is_host_gone(error: Exception) -> bool:
    """Return True if the host closed its end, which is a normal way to stop the server."""
    inner: tuple[Exception, ...] = getattr(error, "exceptions", ())  # those of a group
    if inner:
        return all(_is_host_gone(each) for each in inner)
    return isinstance(error, BrokenPipeError)


@contextmanager
def _handle_signals(lines: Lines, scope: anyio.CancelScope) -> Generator[None, None, None]:
    """Stop the block at Ctrl-C or SIGTERM, and restore the handlers after it.

    The first signal ends the input, the second cancels at once.
    """
    loop = asyncio.get_running_loop()

    def handle_signal(*_: object) -> None:
        # A handler may run between any two lines of the loop; `shut_down` runs as one of its calls.
        loop.call_soon_threadsafe(shut_down)

    def shut_down() -> None:
        if lines.is_ended:
            scope.cancel()
        lines.end()
        loop.call_later(_GRACE + 1, scope.cancel)

    handlers_before = {
        number: signal.signal(number, handle_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


def take_token(file: Path | None) -> str | Callable[[], str]:
    """Return the token, or a function that reads it from the file again.

    Remove it from the environment, so that no child inherits it. Without `file`, use the file in
    ``FERRY_TOKEN_FILE``, else ``FERRY_TOKEN``; raise ConfigurationError if there is none.
    """
    token = os.environ.pop("FERRY_TOKEN", "").strip()
    os.environ.pop("FERRY_ORGANISATION_TOKEN", None)  # no tool uses it

    file = file_of(file)
    if file is not None:
        return FileToken(file)
    if not token:
        raise ConfigurationError("missing: FERRY_TOKEN_FILE, or FERRY_TOKEN")
    return token
