"""The id of this process, what a forked child makes anew, and what a fork waits for.

A forked child has one thread and a copy of the memory. A lock that another thread of the parent
held stays locked in the child for ever: that of a module which the thread was importing, of a model
which it was building, of a database to which it was writing. So all that is loaded or built on
first use holds `FORK_LOCK` meanwhile, as do the uses of a journal's database, and a fork waits
until they end. Calls hold other locks for longer than a fork should wait. Such a lock is a
`ProcessLock`, which a forked child has anew.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock, get_ident
from typing import Final
from weakref import WeakKeyDictionary

from ferry_sdk._runtime.clock import monotonic

_WRITE_TIMEOUT: Final = 15.0
"""Seconds that a fork waits for a write; longer than the wait for a lock of SQLite."""
_READ_TIMEOUT: Final = 0.05
"""Seconds that a fork waits for a read; longer than a read holds a lock of SQLite."""
_PAUSE: Final = 0.001

_process = os.getpid()


def process_id() -> int:
    """Return the id of this process, cached until a fork."""
    return _process


def after_fork_in_child(work: Callable[[], object]) -> None:
    """Register a callback that runs first in every forked child of this process."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=work)


def _update_process_id() -> None:
    global _process  # noqa: PLW0603 -- a process has one id
    _process = os.getpid()


after_fork_in_child(_update_process_id)


class ProcessLock:
    """A reentrant lock that every forked child has anew: a thread of the parent may hold it."""

    def __init__(self) -> None:
        self._by_process: dict[int, RLock] = {}

    @property
    def current(self) -> RLock:
        """The lock of this process; `setdefault` keeps only one, whichever thread is first."""
        return self._by_process.setdefault(_process, RLock())


class _Use:
    """One use in a `with` block, its thread, and the seconds that a fork waits for it."""

    def __init__(self, lock: ForkLock, timeout: float) -> None:
        self._lock = lock
        self.timeout = timeout
        self.thread: int = get_ident()

    def __enter__(self) -> None:
        self._lock.add(self)

    def __exit__(self, *_: object) -> None:
        self._lock.discard(self)


class ForkLock:
    """Lets any number of threads use what a fork must not copy half-way; a fork waits for them.

    It is made without a lock of `threading`, which an interrupt (Ctrl-C) could leave locked for
    ever. A use that an interrupt kept from ending is dropped with its last reference.
    """

    def __init__(self) -> None:
        self._uses: WeakKeyDictionary[_Use, None] = WeakKeyDictionary()
        self._forks: list[None] = []  # an item for each fork that waits or runs

    def use(self, *, writes: bool) -> AbstractContextManager[None]:
        """Keep forks waiting during a block; wait first if a fork is waiting.

        A block within another one of the same thread does not wait, because the fork waits for the
        outer one.

        Args:
            writes: Whether the block changes something, so that a fork waits long for it.
        """
        timeout = _WRITE_TIMEOUT if writes else _READ_TIMEOUT
        return _Use(self, timeout)

    def add(self, use: _Use) -> None:
        """Start a use."""
        try:
            self._uses[use] = None
            # Checked after the use is registered: `acquire` looks at the two in the other order.
            while self._forks and not self._is_nested(use):
                self.discard(use)
                time.sleep(_PAUSE)
                self._uses[use] = None
        except BaseException:  # an interrupt: the block does not begin
            self.discard(use)
            raise

    def discard(self, use: _Use) -> None:
        """End a use."""
        self._uses.pop(use, None)

    def acquire(self) -> None:
        """Start no new use, and wait until the present ones of other threads end."""
        self._forks.append(None)
        start = monotonic()
        thread = get_ident()
        while any(
            use.thread != thread and monotonic() < start + use.timeout
            for use in self._present_uses()
        ):
            time.sleep(_PAUSE)

    def release(self) -> None:
        """Allow uses again."""
        self._forks.pop()

    def reset(self) -> None:
        """Forget the threads of the parent, which a child process does not have."""
        self._uses = WeakKeyDictionary()
        self._forks = []

    def _is_nested(self, use: _Use) -> bool:
        """Return whether a block of the same thread is around this one."""
        return any(
            other is not use and other.thread == use.thread for other in self._present_uses()
        )

    def _present_uses(self) -> list[_Use]:
        # `keyrefs` is a copy, made in one step. To iterate over weak references takes many steps,
        # and fails if another thread begins a use between two of them.
        uses = [reference() for reference in self._uses.keyrefs()]
        return [use for use in uses if use is not None]


FORK_LOCK: Final = ForkLock()
"""The lock of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=FORK_LOCK.acquire,
        after_in_parent=FORK_LOCK.release,
        after_in_child=FORK_LOCK.reset,
    )
