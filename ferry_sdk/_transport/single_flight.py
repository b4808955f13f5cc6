"""Sharing of one call by concurrent callers of this process, in any thread or event loop.

The caller that makes the call holds a `SharedCall`; callers that join hold only its `SharedResult`.
If the first caller is interrupted, its `SharedCall` is collected with its frame, and its `__del__`
wakes the others.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from ferry_sdk._runtime.fork import ProcessLock, after_fork_in_child
from ferry_sdk._runtime.threads import Latch
from ferry_sdk.errors import ConnectionFailedError, FerryError

T = TypeVar("T")

_INTERRUPTED: Final = ConnectionFailedError(
    "another caller's request for the same change was interrupted", outcome="unknown"
)


class SharedResult:
    """The result of a shared call, for the callers that wait for it.

    Attributes:
        event: Set when the call has ended.
    """

    def __init__(self) -> None:
        self.event = Latch()
        self.value: object = None
        self.failure: FerryError | None = _INTERRUPTED

    def outcome(self) -> Any:  # noqa: ANN401 -- any result
        """Return the result, or raise a copy of the error.

        Raises:
            FerryError: The call failed.
            ConnectionFailedError: The call was interrupted by something else than a `FerryError`.
        """
        if self.failure is None:
            return self.value
        raise copy(self.failure) from self.failure.__cause__


class SharedCall:
    """A call in progress, held by the caller that makes it.

    Attributes:
        result: Held by the callers that join.
    """

    def __init__(self) -> None:
        self.result = SharedResult()

    def complete(self, key: Hashable, value: T) -> T:
        """Set the result and wake the callers that joined; nobody can join any more."""
        self.result.value, self.result.failure = value, None
        self._end(key)
        return value

    def fail(self, key: Hashable, failure: BaseException) -> None:
        """Set the error and wake the callers that joined; nobody can join any more."""
        if isinstance(failure, FerryError):
            self.result.failure = failure
        self._end(key)

    def _end(self, key: Hashable) -> None:
        _shared_calls.pop(key, None)
        self.result.event.set()

    def __del__(self) -> None:
        if hasattr(self, "result"):  # __init__ was not interrupted
            self.result.event.set()


_shared_calls: WeakValueDictionary[Hashable, SharedCall] = WeakValueDictionary()
_lock: Final = ProcessLock()
after_fork_in_child(_shared_calls.clear)


def join_or_start(key: Hashable, own_call: SharedCall) -> SharedResult | None:
    """Return the result to wait for; None if there is no such call and the caller must make it.

    Args:
        key: Identifies the call.
        own_call: The caller's own call, which others join from now on if there is no other.
    """
    with _lock.current:
        under_way = _shared_calls.setdefault(key, own_call)
    return None if under_way is own_call else under_way.result
