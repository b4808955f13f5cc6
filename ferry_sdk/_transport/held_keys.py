"""The objects whose locks the current call holds.

A token function may call its own client. That call belongs to the call that waits for the token,
so it must not wait for the same lock. The keys are in a `ContextVar`, so that the threads and tasks
that the function starts see them, too.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final

_held: Final[ContextVar[tuple[object, ...]]] = ContextVar("ferry_sdk_held_keys", default=())


def is_held(key: object) -> bool:
    """Return whether the current call is part of one that holds the lock of an object."""
    return any(held is key for held in _held.get())


@contextmanager
def hold(key: object) -> Generator[None]:
    """Record within the block that the lock of an object is held."""
    token = _held.set((*_held.get(), key))
    try:
        yield
    finally:
        with suppress(ValueError):  # the call of a closed loop ends in another context
            _held.reset(token)
