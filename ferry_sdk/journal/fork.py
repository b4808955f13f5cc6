"""The journal and `os.fork()`: no fork while a database is in use, a new engine in the child.

SQLite takes locks that belong to the whole process. If a process forks while another thread holds
one, the child keeps it for ever, and no thread of the child can release it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from sqlalchemy import Engine, Pool
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


class Forked(Protocol):
    """What wants to know that it woke up in a child process."""

    def after_fork(self) -> None:
        """Give up what the parent goes on using."""
        ...


_watched: WeakSet[Forked] = WeakSet()
_inherited: list[Pool] = []


def watch(one: Forked) -> None:
    """Tell it in every child process from now on, as long as it lives."""
    _watched.add(one)


def leave_to_parent(engine: Engine) -> None:
    """Begin with connections of this process's own."""
    # Were the old ones freed they would be closed, under the parent's hands.
    _inherited.append(engine.pool)
    engine.dispose(close=False)


def _tell() -> None:
    for one in list(_watched):
        one.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_tell)


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
