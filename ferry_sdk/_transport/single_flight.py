"""Sharing of one call by concurrent callers of this process, in any thread or event loop.

For example, two threads confirm booking b-1 at the same time:

1. Each makes a `SharedCall`, and calls `join_or_start` with the same key.
2. The first thread gets None: its `SharedCall` is registered, so it must send the request.
3. The second thread gets the `SharedResult` of that call, and waits for its signal `ended`.
4. The first thread calls `complete` or `fail`, which removes the call and sets the signal. The
   second one returns the same value, or raises a copy of the same error.

Some steps may run again, such as a search. If the first thread is cancelled, its deadline passes or
its steps fail, a thread that waits for it goes back to step 2: it sends a request of its own, and
the others join that one.

The registry refers to a `SharedCall` only weakly, and callers that join hold only its
`SharedResult`. So if the first thread is interrupted where it can call neither `complete` nor
`fail`, its `SharedCall` is collected with its frame. A caller that waits looks for that every
`LOOK_EVERY` seconds: a finalizer could be interrupted, too. The result is then still what it is at
first, the error `_INTERRUPTED`.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary, ref

from ferry_sdk._engine.effects import Signal
from ferry_sdk._runtime.fork import ProcessLock, after_fork_in_child
from ferry_sdk.errors import ConnectionFailedError, FerryError

T = TypeVar("T")

LOOK_EVERY: Final = 0.5
"""Seconds between two looks of a caller that waits, which the signal wakes at once."""
_INTERRUPTED: Final = ConnectionFailedError(
    "another caller's request for the same change was interrupted", outcome="unknown"
)


class SharedResult:
    """The result of a shared call, for the callers that wait for it.

    Args:
        call: The call.

    Attributes:
        ended: Set by the caller that makes the call, when it has ended.
        value: The result of a call that succeeded.
        failure: Its error; None if it succeeded.
    """

    def __init__(self, call: SharedCall) -> None:
        self.ended = Signal()
        self.value: object = None
        self.failure: FerryError | None = _INTERRUPTED
        self._call = ref(call)

    @property
    def has_ended(self) -> bool:
        """Whether nobody makes the call any more."""
        return self.ended.is_set or self._call() is None

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
        self.result = SharedResult(self)

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
        # If `complete` is interrupted, `fail` comes here again. Others may have started since.
        if _shared_calls.get(key) is self:
            _shared_calls.pop(key, None)
        self.result.ended.set()


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
