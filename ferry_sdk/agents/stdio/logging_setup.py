"""Send log records to stderr, without secrets; stdout carries the protocol.

Some hosts give the server a pipe for stderr and never read it. A write to a full pipe blocks for
ever, so a separate thread writes, and lines that do not fit are dropped and counted.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from contextlib import suppress
from typing import Final

_MAX_LINES: Final = 1_000
"""The most lines that wait to be written; further ones are dropped."""
_EMIT_TIMEOUT: Final = 0.1
"""Seconds to wait for a record to be written, so that it precedes the reply."""
_FLUSH_TIMEOUT: Final = 0.5
"""Seconds to wait for lines to be written when the process ends."""


class _StderrHandler(logging.Handler):
    """Write records to stderr without waiting for a reader."""

    def __init__(self, descriptor: int = 2) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines = queue.Queue[bytes](_MAX_LINES)
        self._dropped = 0
        self._is_stuck = False
        threading.Thread(target=self._write, name="stderr", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record, and wait briefly until it is written."""
        try:
            text = self.format(record)
        except Exception as error:  # noqa: BLE001 -- logging would print a traceback, and block
            text = f"ERROR ferry_sdk: a record could not be formatted ({type(error).__name__})"
        try:
            self._lines.put_nowait(f"{text}\n".encode(errors="backslashreplace"))
        except queue.Full:
            self._dropped += 1
        if not self._is_stuck:  # do not wait again for a host that does not read
            self._is_stuck = not self._wait_until_written(_EMIT_TIMEOUT)

    def flush(self) -> None:
        """Wait briefly until everything is written."""
        self._wait_until_written(_FLUSH_TIMEOUT)

    def _wait_until_written(self, timeout: float) -> bool:
        done = self._lines.all_tasks_done
        with done:
            return done.wait_for(lambda: not self._lines.unfinished_tasks, timeout)

    def _write(self) -> None:
        # Not sys.stderr: if a blocked thread holds its lock, the interpreter aborts at exit.
        while True:
            line = self._lines.get()
            if self._dropped:
                dropped, self._dropped = self._dropped, 0
                line = b"WARNING ferry_sdk: %d lines were dropped\n" % dropped + line
            with suppress(OSError):  # the reader is gone
                while line:
                    line = line[os.write(self._descriptor, line) :]
            self._lines.task_done()
            if self._lines.empty():
                self._is_stuck = False


class _OneLineFormatter(logging.Formatter):
    """Format a record as one line, with only the type of an exception: its text may be personal."""

    def formatException(  # noqa: N802 -- logging's own name
        self, ei: tuple[type[BaseException] | None, object, object]
    ) -> str:
        return f"({ei[0].__name__})" if ei[0] else ""

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 -- the same
        del stack_info
        return ""


def log_to_stderr() -> None:
    """Send all log records to stderr, and to nothing else."""
    handler = _StderrHandler()
    handler.setFormatter(_OneLineFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("ferry_sdk").setLevel(logging.INFO)
