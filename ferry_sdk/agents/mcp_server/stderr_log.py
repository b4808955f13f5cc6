"""The log of the server: one line for each record, on stderr."""

from __future__ import annotations

import logging
import os
import queue
import threading
from contextlib import suppress
from typing import Final

_MAX_LINES: Final = 1_000
"""The most lines that wait to be written; further ones are dropped."""
_STDERR: Final = 2
_FLUSH_TIMEOUT: Final = 0.5
"""Seconds to wait for lines to be written when the process ends."""


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
