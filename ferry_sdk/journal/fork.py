"""Keep `os.fork()` safe for a process that has a journal.

SQLite counts in memory which locks of a file its process holds. If a process forks while another
thread writes, the child counts the lock of that write for ever, and finds the database locked for
its own writes. So a write holds `FORK_LOCK`, and a fork waits until no write is left. A read holds
locks for about a millisecond. If it takes longer, it waits for another process, and a fork does not
wait for it. In the child, each journal starts with connections of its own (`leave_to_parent`).
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Engine, Pool

    from ferry_sdk.journal.journal import Journal

_WRITE_TIMEOUT = 15.0
"""Seconds that a fork waits for a write; longer than the wait for a lock of SQLite."""
_READ_TIMEOUT = 0.05
"""Seconds that a fork waits for a read; longer than a read holds a lock of SQLite."""
_PAUSE = 0.001


JOURNALS: WeakSet[Journal] = WeakSet()
"""The journals of this process; `after_fork` is called on each in a forked child."""
_inherited: list[Pool] = []


def leave_to_parent(engine: Engine) -> None:
    """Give the engine a new pool, and leave the connections of the old one open."""
    # Kept for ever: garbage collection would close connections that the parent still uses.
    _inherited.append(engine.pool)
    engine.dispose(close=False)


class _Use:
    """One use of the database, and the seconds that a fork waits for it."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout


class ForkLock:
    """Let any number of threads use the database, and a fork wait for them.

    It is made without a lock of `threading`, which an interrupt (Ctrl-C) could leave locked for
    ever. A use that an interrupt kept from ending is dropped with its last reference.
    """

    def __init__(self) -> None:
        self._uses: WeakSet[_Use] = WeakSet()
        self._forks: list[None] = []

    @contextmanager
    def use(self, *, writes: bool) -> Generator[None]:
        """Use the database in this block; wait first if a fork is waiting."""
        use = _Use(_WRITE_TIMEOUT if writes else _READ_TIMEOUT)
        try:
            self._uses.add(use)
            # Checked after the use is registered: `acquire` looks at the two in the other order.
            while self._forks:
                self._uses.discard(use)
                time.sleep(_PAUSE)
                self._uses.add(use)
            yield
        finally:
            self._uses.discard(use)

    def acquire(self) -> None:
        """Start no new use, and wait until the present ones end."""
        self._forks.append(None)
        start = time.monotonic()
        while any(time.monotonic() < start + use.timeout for use in list(self._uses)):
            time.sleep(_PAUSE)

    def release(self) -> None:
        """Allow uses again."""
        self._forks.pop()

    def reset(self) -> None:
        """Forget the threads of the parent, which a child process does not have."""
        self._uses = WeakSet()
        self._forks = []


def _reset_in_child() -> None:
    FORK_LOCK.reset()
    for journal in list(JOURNALS):
        journal.after_fork()


FORK_LOCK = ForkLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=FORK_LOCK.acquire,
        after_in_parent=FORK_LOCK.release,
        after_in_child=_reset_in_child,
    )
