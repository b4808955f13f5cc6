"""Functions that run in a thread of their own, where no signal interrupts them.

Python runs the handler of a signal in the main thread, between any two instructions; what the
handler raises (`KeyboardInterrupt`, a time limit) ends the code there. Code that must not end
half-way, such as an import, runs in another thread: an interruption ends the wait for it only. A
fork waits until such code has ended.

The code here is safe against an exception at any instruction of the caller. `Thread.start`,
`Event`, `Condition` and `Future` are not: they run Python code around a lock, so an exception there
leaves the lock taken, and its thread blocked for ever, or becomes a `RuntimeError`. Here a thread
is started and awaited by single functions of C: `start_new_thread`, and `acquire` of a bare lock.
"""

from __future__ import annotations

import sys
import threading
from _thread import LockType, allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import cache, wraps
from importlib import import_module
from typing import Any, Generic, ParamSpec, Self, TypeVar

from ferry_sdk._runtime.fork import FORK_LOCK

P = ParamSpec("P")
T = TypeVar("T")

_current = threading.local()


def do_nothing() -> None:
    """Do nothing, in the place of a function that need not be called."""


class Latch:
    """An event that is set once, in any thread.

    Attributes:
        is_set: Whether it is set.
    """

    def __init__(self) -> None:
        self.is_set = False
        self._waiters: deque[LockType] = deque()

    def set(self) -> None:
        """Set it, and wake all who wait."""
        self.is_set = True
        with suppress(IndexError):  # empty
            while True:
                self._waiters.pop().release()

    def wait(self, seconds: float = threading.TIMEOUT_MAX) -> bool:
        """Wait until it is set; return False if that takes longer."""
        lock = allocate_lock()
        lock.acquire()
        self._waiters.append(lock)
        if self.is_set:  # perhaps before there was a lock to release
            return True
        try:
            return lock.acquire(timeout=seconds)
        finally:
            with suppress(ValueError):  # it is set
                self._waiters.remove(lock)


class ThreadCall(Generic[T]):
    """A function that runs in a thread, with its result.

    Args:
        function: The function. It runs in the context of the caller.
        on_end: Called in the thread when the function has ended.

    Attributes:
        ended: Set when the function has ended.
    """

    def __init__(
        self, function: Callable[[], T], on_end: Callable[[], object] = do_nothing
    ) -> None:
        self._function = function
        self._on_end = on_end
        self._context = copy_context()
        self._result: Any = None
        self._error: BaseException | None = None
        self.ended = Latch()

    def start(self, *, is_daemon: bool = True) -> None:
        """Run the function in another thread.

        Args:
            is_daemon: Whether the interpreter may exit before the function has ended.

        Raises:
            NoThreadError: No thread can be started; the function does not run.
        """
        if sys.is_finalizing():  # on Python 3.11, a thread starts now and never runs
            raise NoThreadError

        def run() -> None:
            _current.is_ours = True
            self.run()

        thread = threading.Thread(target=run, name="ferry_sdk call", daemon=is_daemon)
        try:
            # `Thread.start` waits with a Condition, so another thread runs it.
            start_new_thread(_start, (thread,))
        except RuntimeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # by a handler of a signal: a function of C adds no frame
            raise NoThreadError from None

    def start_or_run(self, *, is_daemon: bool = True) -> Self:
        """Start it, or run the function here if there is no thread; return this call."""
        try:
            self.start(is_daemon=is_daemon)
        except NoThreadError:
            self.run()
        return self

    def run(self) -> None:
        """Run the function in this thread."""
        try:
            self._result = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001 -- the caller gets it
            self._error = error
        del self._function
        self.ended.set()
        self._on_end()

    def result(self) -> T:
        """Return the result of the function when it has ended, or raise its error."""
        error = self._error
        if error is None:
            result: T = self._result
            return result
        try:
            raise error
        finally:
            del self, error  # the frames in the traceback would keep them


class NoThreadError(RuntimeError):
    """No thread can be started, for example during shutdown."""


def _start(thread: threading.Thread) -> None:
    try:
        thread.start()
    except RuntimeError:  # this was the last thread
        thread.run()


def uninterrupted(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that it runs to its end, whatever interrupts its caller.

    After an interruption the function goes on in its thread, so a second call may run beside it. A
    fork of the process waits for the function.
    """

    def call_function(*args: P.args, **kwargs: P.kwargs) -> T:
        with FORK_LOCK.use(writes=True):
            return function(*args, **kwargs)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if getattr(_current, "is_ours", False):
            return call_function(*args, **kwargs)
        # Not a daemon: the interpreter must not exit in the middle of an import.
        call = ThreadCall(lambda: call_function(*args, **kwargs)).start_or_run(is_daemon=False)
        call.ended.wait()
        return call.result()

    return run


load_module: Callable[[str], Any] = cache(uninterrupted(import_module))
"""Imports a module, whatever interrupts the caller; for modules that are loaded on first use."""
