"""The id of this process, and callbacks that run in a forked child."""

from __future__ import annotations

import os
from collections.abc import Callable

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
