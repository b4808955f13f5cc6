"""Garbage collections of what is no longer young, held back while a long list of records is made.

None of what is being made can be garbage, and to look through all of it again each time it has
grown takes longer than to make it. The collector goes on with what is young; the thresholds of the
older generations are out of reach meanwhile.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from ferry_sdk._fork import in_a_child

T = TypeVar("T")

_OUT_OF_REACH: Final = (2**31 - 1, 2**31 - 1)

_lock = threading.RLock()
_holders: set[object] = set()
_found = gc.get_threshold()


def held_back(work: Callable[[], T]) -> T:
    """Do the work while only what is young is collected; leave the collector as it was found.

    Work of several threads is held together. Thresholds that somebody else sets meanwhile stay.
    """
    holder = object()
    try:
        try:
            _hold(holder)
            return work()
        finally:
            _let_go(holder)
    except BaseException:
        _let_go(holder)  # the interruption may have come while it was let go
        raise


def _hold(holder: object) -> None:
    global _found  # noqa: PLW0603 -- there is one collector
    with _lock:
        if not _holders:
            _found = gc.get_threshold()
            gc.set_threshold(_found[0], *_OUT_OF_REACH)
        _holders.add(holder)


def _let_go(holder: object) -> None:
    with _lock:
        _holders.discard(holder)
        if not _holders:
            _restore()


def _restore() -> None:
    if gc.get_threshold() == (_found[0], *_OUT_OF_REACH):
        gc.set_threshold(*_found)


def _begin_anew() -> None:
    """In a forked child, where nobody is left who could let go."""
    global _lock  # noqa: PLW0603 -- the parent's may be held
    _lock = threading.RLock()
    _holders.clear()
    _restore()


in_a_child(_begin_anew)
