"""Calls under way that others of this process may join, from any thread and any event loop.

The caller who makes the call holds a `SharedCall`; those who join hold only its `SharedResult`. If
the first caller is interrupted, its `SharedCall` is collected with its frame and the others wake.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from copy import copy
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from ferry_sdk._fork import after_fork_in_child
from ferry_sdk.errors import ConnectionFailedError, FerryError

T = TypeVar("T")


class SharedResult:
    """How a call ended, for those who wait for it.

    Attributes:
        event: Set when it ended.
    """

    def __init__(self) -> None:
        self.event = threading.Event()
        self.value: object = None
        self.failure: FerryError | None = None
        self.is_done = False

    def outcome(self) -> Any:  # noqa: ANN401 -- whatever the call gives
        """Return the result, or raise a copy of the error.

        Raises:
            FerryError: The call failed.
            ConnectionFailedError: It was interrupted, by something that is not ours.
        """
        if self.is_done:
            return self.value
        if self.failure is not None:
            raise copy(self.failure) from self.failure.__cause__
        raise ConnectionFailedError(
            "another caller's request for the same was interrupted", outcome="unknown"
        )


class SharedCall:
    """One call that is under way, held by the one who makes it.

    Attributes:
        landing: What those who join wait for.
    """

    def __init__(self) -> None:
        self.result = SharedResult()

    def complete(self, key: Hashable, value: T) -> T:
        """Give the result to those who joined, and let nobody join any more."""
        self.result.value, self.result.is_done = value, True
        self._end(key)
        return value

    def fail(self, key: Hashable, failure: BaseException) -> None:
        """Give the error to those who joined, and let nobody join any more."""
        if isinstance(failure, FerryError):
            self.result.failure = failure
        self._end(key)

    def _end(self, key: Hashable) -> None:
        _shared_calls.pop(key, None)
        self.result.event.set()

    def __del__(self) -> None:
        self.result.event.set()


_shared_calls: WeakValueDictionary[Hashable, SharedCall] = WeakValueDictionary()
_lock = threading.RLock()


def join_or_start(key: Hashable, mine: SharedCall) -> SharedResult | None:
    """Return what to wait for, if the call is under way; None where the caller's flight is to be.

    Args:
        key: What the call is.
        mine: The caller's own flight, which others join from now on if there is no other.
    """
    with _lock:
        under_way = _shared_calls.setdefault(key, mine)
    return None if under_way is mine else under_way.result


def _forget_calls() -> None:
    global _lock  # noqa: PLW0603 -- another thread of the parent may have held it
    _lock = threading.RLock()
    _shared_calls.clear()


after_fork_in_child(_forget_calls)
