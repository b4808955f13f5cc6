"""Connections that a process has from its parent: kept, never used and never closed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from sqlalchemy import Engine, Pool


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
