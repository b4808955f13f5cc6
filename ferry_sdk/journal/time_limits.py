"""The time that one call of a journal may take, whatever its database does.

A call, such as `Journal.begin`, ends ten seconds after it began (`limit_time`). Waiting for a
connection of the pool and for a new connection ends by their own timeouts. A statement ends by the
timeout that PostgreSQL gets with each transaction. A server that has stopped cannot end it, and
while its system still acknowledges what it receives, no option of the socket does either. So a
thread shuts the socket down when the time is up (`Watch`), and the statement fails.
"""

from __future__ import annotations

import socket
import threading
from _thread import allocate_lock
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.threads import Latch, NoThreadError, ThreadCall

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self
    from weakref import ReferenceType

LIMIT: Final = 10.0
"""Seconds that a call may take."""
_FIRST_ANSWER: Final = 3.0
"""Seconds in which a connection of the pool must answer. Its server may have gone long ago, so the
rest of the time is left for a new connection."""


class TimeLimit:
    """The end of one call, and the watch of the connection that it uses.

    It limits the `with` blocks of a call, the outermost of which is the whole call. It is a class,
    because a generator with `contextmanager` takes three times as long, several times a write.

    Attributes:
        until: When the call ends, on the monotonic clock.
        watch: Watches the connection that was lent last; None: none was lent.
    """

    def __init__(self) -> None:
        self.until: float = monotonic() + LIMIT
        self.watch: Watch | None = None
        self._blocks = 0

    def remaining(self) -> float:
        """Return the seconds until the call ends; 0 or less after its end."""
        return self.until - monotonic()

    def __enter__(self) -> Self:
        self._blocks += 1
        _current.limit = ref(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._blocks -= 1
        if self._blocks == 0:
            _current.limit = None


class _Current(threading.local):
    """The limit of the call that this thread makes.

    It is a weak reference: if an interrupt (Ctrl-C) keeps a call from its end, its limit is dropped
    with the call, and does not limit the next one.
    """

    limit: ReferenceType[TimeLimit] | None = None


_current = _Current()


def current_limit() -> TimeLimit | None:
    """Return the limit of the present call; None outside of `limit_time`."""
    return None if _current.limit is None else _current.limit()


def limit_time() -> TimeLimit:
    """Return what limits a `with` block to ten seconds; within another one, the limit of that."""
    return current_limit() or TimeLimit()


class Watch:
    """Breaks connections to a server that does not answer in time.

    It has duplicates of their sockets. So it cannot break another connection that has got the same
    descriptor in the meantime.
    """

    def __init__(self, until: float) -> None:
        self._until = until
        self._sockets: list[_Duplicate] = []
        self._ended = Latch()
        self._decision = allocate_lock()
        """Taken once: by the end of the use, or by the thread, which then breaks the connection."""
        self._is_started = False

    def attach(self, connection: Any) -> None:  # noqa: ANN401 -- of the driver
        """Watch a connection of the driver, from now on."""
        if not hasattr(connection, "fileno"):
            return
        self._sockets.append(_Duplicate(connection.fileno()))
        if not self._is_started:
            self._is_started = True
            watching = partial(_break_late, ref(self), self._sockets, self._ended)
            with suppress(NoThreadError):  # the timeout of the statements is left
                ThreadCall(watching).start()

    @property
    def is_watching(self) -> bool:
        """Whether a connection is attached."""
        return self._is_started

    def expect_answer(self) -> None:
        """Wait less long for the first answer of a connection from the pool."""
        self._until = min(self._until, monotonic() + _FIRST_ANSWER)

    def extend(self, until: float) -> None:
        """Wait until this moment instead."""
        self._until = until

    def end(self) -> bool:
        """Stop watching; return False if the connection is broken, or about to be."""
        is_in_time = self._decision.acquire(blocking=False)
        self._ended.set()
        return is_in_time

    def seconds(self) -> float:
        """Return the seconds until the connection is broken."""
        return self._until - monotonic()

    def decide(self) -> bool:
        """Return whether the connection is to be broken now."""
        return self._decision.acquire(blocking=False)


class _Duplicate:
    """A duplicate of a socket; it is closed with its last reference, which no interrupt prevents.

    It is shut down in the same way whatever the family of its address is.
    """

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM)

    def shut_down(self) -> None:
        """End the connection of all duplicates."""
        with suppress(OSError):  # the other side has closed it
            self._socket.shutdown(socket.SHUT_RDWR)

    def __del__(self) -> None:
        with suppress(AttributeError):  # `__init__` failed
            self._socket.close()


def _break_late(reference: ReferenceType[Watch], sockets: list[_Duplicate], ended: Latch) -> None:
    """Shut the sockets down if the watch does not end in time."""
    # An interrupt may keep a watch from ending: it is dropped with its last reference.
    while (seconds := _seconds_of(reference)) > 0 and not ended.wait(seconds):
        pass
    watch = reference()
    if watch is not None and watch.decide():
        for duplicate in sockets:
            duplicate.shut_down()


def _seconds_of(reference: ReferenceType[Watch]) -> float:
    watch = reference()
    return 0.0 if watch is None else watch.seconds()


class Dial:
    """Makes a connection in a thread, because a name lookup has no timeout.

    Args:
        connect: Makes a connection of the driver.
    """

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._is_abandoned = False

    def wait(self, seconds: float) -> Any:  # noqa: ANN401 -- the driver's
        """Return the connection; None if it takes longer. One that comes later is closed."""
        call = ThreadCall(self._run).start_or_run()
        try:
            if call.ended.wait(max(0.0, seconds)):
                return call.result()
        except BaseException:
            self._is_abandoned = True
            raise
        self._is_abandoned = True
        return None

    def _run(self) -> Any:  # noqa: ANN401 -- the driver's
        connection = self._connect()
        if self._is_abandoned:
            connection.close()
        return connection
