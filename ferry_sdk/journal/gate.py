"""A gate that every use of a database passes, and that is shut while the process forks.

SQLite takes locks that are the whole process's. A child that is forked while another thread
holds one has it for ever, and nobody in it who could give it back.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

_PATIENCE = 15.0
"""Seconds that a fork waits at the most; longer than a lock of SQLite's is waited for."""


class Gate:
    """Lets in any number of threads, unless somebody waits to be alone."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._inside = 0
        self._shut = 0

    @contextmanager
    def passed(self) -> Generator[None]:
        """A block inside."""
        with self._change:
            self._change.wait_for(lambda: not self._shut)
            self._inside += 1
        try:
            yield
        finally:
            with self._change:
                self._inside -= 1
                self._change.notify_all()

    def shut(self) -> None:
        """Let nobody in any more, and wait until all are out."""
        with self._change:
            self._shut += 1
            self._change.wait_for(lambda: not self._inside, _PATIENCE)

    def open(self) -> None:
        """Let in again."""
        with self._change:
            self._shut -= 1
            self._change.notify_all()

    def renew(self) -> None:
        """Forget the threads that a child process does not have."""
        self._change = threading.Condition()
        self._inside = self._shut = 0


GATE = Gate()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.shut, after_in_parent=GATE.open, after_in_child=GATE.renew)
