"""Keep `os.fork()` safe for a process that has a journal.

SQLite counts in memory which locks of a file its process holds. If a process forks while another
thread writes, the child counts the lock of that write for ever, and finds the database locked for
its own writes. So each use of a database holds `FORK_LOCK`, and a fork waits until no write is
left. A read holds locks for about a millisecond. If it takes longer, it waits for another process,
and a fork does not wait for it. In the child, each journal starts with connections of its own
(`leave_to_parent`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from ferry_sdk._runtime.fork import after_fork_in_child

if TYPE_CHECKING:
    from sqlalchemy import Engine, Pool

    from ferry_sdk.journal.journal import Journal

JOURNALS: WeakSet[Journal] = WeakSet()
"""The journals of this process; `after_fork` is called on each in a forked child."""
_inherited: list[Pool] = []


def leave_to_parent(engine: Engine) -> None:
    """Give the engine a new pool, and leave the connections of the old one open."""
    # Kept for ever: garbage collection would close connections that the parent still uses.
    _inherited.append(engine.pool)
    engine.dispose(close=False)


def _reset_in_child() -> None:
    for journal in list(JOURNALS):
        journal.after_fork()


after_fork_in_child(_reset_in_child)
