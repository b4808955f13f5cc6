"""A gate that every use of a database passes, and that is shut while the process forks.

SQLite takes locks that are the whole process's. A child that is forked while another thread
holds one has it for ever, and nobody in it who could give it back.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Generator

_PATIENCE = 15.0
"""Seconds that a fork waits at the most; longer than a lock of SQLite's is waited for."""
_PAUSE = 0.001


class _Visit:
    """A block inside."""


class Gate:
    """Lets in any number of threads, unless somebody waits to be alone.

    It holds no lock, which an interrupt could leave held for ever. A visit that an interrupt kept
    from leaving ends with its last reference.
    """

    def __init__(self) -> None:
        self._inside: WeakSet[_Visit] = WeakSet()
        self._shut: list[None] = []

    @contextmanager
    def passed(self) -> Generator[None]:
        """A block inside."""
        visit = _Visit()
        try:
            self._inside.add(visit)
            while self._shut:  # looked at from inside: who shuts it looks inside after that
                self._inside.discard(visit)
                time.sleep(_PAUSE)
                self._inside.add(visit)
            yield
        finally:
            self._inside.discard(visit)

    def shut(self) -> None:
        """Let nobody in any more, and wait until all are out."""
        self._shut.append(None)
        until = time.monotonic() + _PATIENCE
        while self._inside and time.monotonic() < until:
            time.sleep(_PAUSE)

    def open(self) -> None:
        """Let in again."""
        self._shut.pop()

    def renew(self) -> None:
        """Forget the threads that a child process does not have."""
        self._inside = WeakSet()
        self._shut = []


GATE = Gate()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.shut, after_in_parent=GATE.open, after_in_child=GATE.renew)
