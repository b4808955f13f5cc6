"""What is logged: to stderr, since stdout carries the protocol, and without anybody's secrets.

Hosts may start the server with a pipe for stderr and never read it. A write to a full pipe blocks
for good, so a thread of its own writes, and what it cannot get rid of is dropped and counted.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from contextlib import suppress
from typing import Final

_MAX_LINES: Final = 1_000
"""Lines that wait to be written; more are dropped."""
_EMIT_TIMEOUT: Final = 0.1
"""Seconds that a record waits until it is written, so that it is on record before a reply is."""
_FLUSH_TIMEOUT: Final = 0.5
"""Seconds that the end of the process waits for lines to be written."""


class _StderrHandler(logging.Handler):
    """Writes records to stderr, and never waits for whoever reads them."""

    def __init__(self, descriptor: int = 2) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines = queue.Queue[bytes](_MAX_LINES)
        self._dropped = 0
        self._is_stuck = False
        threading.Thread(target=self._write, name="stderr", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, as logging asks for it."""
        try:
            text = self.format(record)
        except Exception as error:  # noqa: BLE001 -- logging would print a traceback, and block
            text = f"ERROR ferry_sdk: a record could not be formatted ({type(error).__name__})"
        try:
            self._lines.put_nowait(f"{text}\n".encode(errors="backslashreplace"))
        except queue.Full:
            self._dropped += 1
        if not self._is_stuck:  # nobody waits twice for a host that does not read
            self._is_stuck = not self._wait_until_written(_EMIT_TIMEOUT)

    def flush(self) -> None:
        """Wait a moment until everything is written."""
        self._wait_until_written(_FLUSH_TIMEOUT)

    def _wait_until_written(self, timeout: float) -> bool:
        done = self._lines.all_tasks_done
        with done:
            return done.wait_for(lambda: not self._lines.unfinished_tasks, timeout)

    def _write(self) -> None:
        # Not by sys.stderr: its lock, held by a blocked thread, aborts the interpreter's exit.
        while True:
            line = self._lines.get()
            if self._dropped:
                dropped, self._dropped = self._dropped, 0
                line = b"WARNING ferry_sdk: %d lines were dropped\n" % dropped + line
            with suppress(OSError):  # nobody reads any more
                while line:
                    line = line[os.write(self._descriptor, line) :]
            self._lines.task_done()
            if self._lines.empty():
                self._is_stuck = False


class _OneLineFormatter(logging.Formatter):
    """A line for each record; of an exception its kind only, for its text may be a traveller's."""

    def formatException(  # noqa: N802 -- logging's own name
        self, ei: tuple[type[BaseException] | None, object, object]
    ) -> str:
        return f"({ei[0].__name__})" if ei[0] else ""

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 -- the same
        del stack_info
        return ""


def log_to_stderr() -> None:
    """Send what is logged from now on to stderr, and nothing of it anywhere else."""
    handler = _StderrHandler()
    handler.setFormatter(_OneLineFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("ferry_sdk").setLevel(logging.INFO)
