"""Which process this is, and what a forked child has to do first."""

from __future__ import annotations

import os
from collections.abc import Callable

_process = os.getpid()


def process_id() -> int:
    """The id of this process; it is asked for often, and the system only after a fork."""
    return _process


def after_fork_in_child(work: Callable[[], object]) -> None:
    """Have it done in every child of this process, before anything else is."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=work)


def _update_process_id() -> None:
    global _process  # noqa: PLW0603 -- a process has one id
    _process = os.getpid()


after_fork_in_child(_update_process_id)
