"""The id of this process, and what a forked child makes anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock

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
    """A reentrant lock that every forked child has anew: a thread of the parent may hold it.

    Attributes:
        current: The lock of this process.
    """

    def __init__(self) -> None:
        self.current = RLock()
        after_fork_in_child(self._renew)

    def _renew(self) -> None:
        self.current = RLock()
