"""Sharing of one call by concurrent callers of this process, in any thread or event loop.

For example, two threads confirm booking b-1 at the same time:

1. Each makes a `SharedCall`, and calls `join_or_start` with the same key.
2. The first thread gets None: its `SharedCall` is registered, so it must send the request.
3. The second thread gets the `SharedResult` of that call, and waits for its `event`.
4. The first thread calls `complete` or `fail`, which removes the call and sets the event. The
   second one returns the same value, or raises a copy of the same error.

The registry refers to a `SharedCall` only weakly, and callers that join hold only its
`SharedResult`. So if the first thread is interrupted where it can call neither `complete` nor
`fail`, its `SharedCall` is collected with its frame: `__del__` sets the event, and the result is
still what it is at first, the error `_INTERRUPTED`.
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
        self.result.value = value
        self.result.failure = None
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
        registered = _shared_calls.setdefault(key, own_call)
    return None if registered is own_call else registered.result
