"""The sync transport: performs the effects of a flow and blocks.

With a deadline, a request runs in a thread of its own, because a socket timeout limits only one
step. When the deadline comes, the caller leaves the thread and the request is stopped.
"""

from __future__ import annotations

import errno
import stat
import threading
from collections.abc import Coroutine
from contextlib import nullcontext, suppress
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, overload

from ferry_sdk._engine.batch import Batch, NextAnswer, Plan, StopBatch
from ferry_sdk._engine.context import Context, Session, new_session
from ferry_sdk._engine.effects import (
    CallUser,
    CheckOpen,
    Effect,
    Exclusive,
    RunBlocking,
    Save,
    Send,
    Signal,
    SingleFlight,
    Sleep,
    drive,
)
from ferry_sdk._engine.flow import report_interruption, run
from ferry_sdk._engine.http import RawResponse, Reply
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.sending import SendState
from ferry_sdk._engine.settings import Settings
from ferry_sdk._runtime.files import write_file
from ferry_sdk._runtime.threads import Latch, NoThreadError, ThreadCall
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk._transport.held_keys import hold, is_held
from ferry_sdk._transport.http_client import HttpClient
from ferry_sdk._transport.pools import Shared
from ferry_sdk._transport.single_flight import LOOK_EVERY, SharedCall, SharedResult, join_or_start
from ferry_sdk._transport.threads import GRACE, BatchThreads, seconds_until
from ferry_sdk.errors import (
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    InvalidInputError,
    RequestTimeoutError,
)

T = TypeVar("T")

_PRIVATE = 0o600
_DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""Errors of the disk, in contrast to those of a wrong path."""


class Transport:
    """Performs calls and blocks; safe to share between threads.

    Args:
        settings: The settings of its calls.
        client: The user's HTTP client; None: one is made.
    """

    def __init__(self, settings: Settings, client: HttpClient | None = None) -> None:
        self.settings = settings
        self.shared: Shared = Shared(client, settings)
        self.session: Session = new_session(settings)
        self._stop: Signal | None = None

    def view(self, settings: Settings, stop: Signal | None = None) -> Self:
        """Return a transport with other settings on the same pool.

        Args:
            settings: The settings; another token is another account with a session of its own.
            stop: Ends its calls as closing the client does.
        """
        view = object.__new__(type(self))
        view.settings = settings
        view.shared = self.shared
        view._stop = stop
        view.session = self.session.of_view(self.settings, settings)
        return view

    def run(self, operation: Operation[T] | Plan[T]) -> T:
        """Make a call and return its result."""
        self.shared.prepare()
        if isinstance(operation, Operation):
            return self._call(operation)
        return drive(operation.steps(self.settings), self._perform)

    def answer(self, operation: Operation[T]) -> RawResponse[T]:
        """Make a call and return its result with the HTTP reply."""
        self.shared.prepare()
        return self._call(operation, is_raw=True)

    # The callers of `_call` return its result at once, without a variable for it: an interruption
    # between the two would lose the result of a write, and nobody would report the write.
    @overload
    def _call(self, operation: Operation[T]) -> T: ...
    @overload
    def _call(self, operation: Operation[T], *, is_raw: Literal[True]) -> RawResponse[T]: ...
    def _call(self, operation: Operation[T], *, is_raw: bool = False) -> T | RawResponse[T]:
        keeps_body = is_raw or operation.write is not None
        context = Context.start(
            self.settings,
            self.session,
            operation.name,
            is_raw=is_raw,
            keeps_body=keeps_body,
            stop=self._stop,
        )
        try:
            result = drive(run(operation, context), self._perform)
            return result.raw() if is_raw else result.value
        except BaseException as stop:
            if not isinstance(stop, FerryError):
                report_interruption(operation, context)
            raise

    def _perform(self, effect: Effect[Any]) -> object:  # noqa: C901, PLR0911 -- one case for each effect
        """Perform an effect and return its result; the effects of most calls come first."""
        match effect:
            case Send():
                return self._send(effect)

            case CallUser():
                return _call_user(effect)
            case RunBlocking():
                return _run_blocking(effect)

            case Exclusive():
                return self._run_exclusive(effect)
            case SingleFlight():
                return self._run_single_flight(effect)

            case Sleep(seconds, signal):
                self.shared.sleep(seconds, self._stop, signal)
            case CheckOpen():
                self.shared.sleep(0.0, self._stop, None)

            case NextAnswer():
                return self._next_answer(effect)
            case StopBatch():
                self._threads_of(effect.batch).stop()

            case Save(path, content):
                save(path, content)

            case _:
                raise NotImplementedError(effect)
        return None

    def _next_answer(self, effect: NextAnswer[T]) -> object:
        threads = self._threads_of(effect.batch)
        if self._stop is None:
            return threads.next_answer(effect.until)
        with self._stop.call(threads.interrupt):
            return threads.next_answer(effect.until)

    def _threads_of(self, batch: Batch[Any, Any]) -> BatchThreads:
        batch.worker = batch.worker or BatchThreads(batch, self)
        threads: BatchThreads = batch.worker
        return threads

    def _run_exclusive(self, effect: Exclusive[T]) -> T:
        if is_held(effect.key):
            return drive(effect.steps(), self._perform)

        lock = self.shared.resources().locks.setdefault(effect.key, threading.RLock())
        try:
            if not lock.acquire(timeout=seconds_until(effect.until, threading.TIMEOUT_MAX)):
                raise RequestTimeoutError("the deadline has passed")
            with hold(effect.key):
                return drive(effect.steps(), self._perform)
        finally:
            with suppress(RuntimeError):  # the lock was not acquired
                lock.release()

    def _run_single_flight(self, effect: SingleFlight[Any]) -> object:
        own_call = SharedCall()
        while (joined := join_or_start(effect.key, own_call)) is not None:
            self._wait_for(joined, effect.until)
            if joined.failure is None or not effect.may_run_again:
                return joined.outcome()

        try:
            return own_call.complete(effect.key, drive(effect.steps(), self._perform))
        except BaseException as error:
            own_call.fail(effect.key, error)
            raise

    def _wait_for(self, joined: SharedResult, until: float | None) -> None:
        woken = Latch()
        stop_call = nullcontext() if self._stop is None else self._stop.call(woken.set)
        with joined.ended.call(woken.set), stop_call:
            while not joined.has_ended:
                seconds = seconds_until(until, LOOK_EVERY)
                if not seconds:
                    raise RequestTimeoutError("the deadline has passed", outcome="unknown")
                if self._stop is not None and self._stop.is_set:
                    raise ConnectionFailedError("the client is closed", outcome="unknown")
                woken.wait(seconds)

    def _send(self, effect: Send) -> Reply:
        resources = self.shared.resources()
        client = resources.client_for(effect)
        exchange = Exchange(effect, resources.connections)
        run = exchange.run if effect.until is None else partial(_run_until, effect, exchange)

        if self._stop is None:
            return run(client)
        if self._stop.is_set:
            raise ConfigurationError("the client is closed")
        with self._stop.call(exchange.give_up):
            return run(client)


class RawTransport:
    """A transport whose calls return the HTTP reply along with the result."""

    def __init__(self, transport: Any) -> None:  # noqa: ANN401 -- for threads or for tasks
        self._transport = transport
        self.settings: Settings = transport.settings

    def run(self, operation: Operation[Any]) -> Any:  # noqa: ANN401 -- for threads or for tasks
        """Make a call and return its result with the HTTP reply."""
        return self._transport.answer(operation)


def _run_until(effect: Send, exchange: Exchange, client: HttpClient) -> Reply:
    # A timeout of httpx limits only one step; a thread can be left when the deadline comes.
    call = ThreadCall(partial(exchange.run, client))
    try:
        call.start()
        if call.ended.wait(seconds_until(effect.until, threading.TIMEOUT_MAX, GRACE)):
            return call.result()
    except NoThreadError:
        effect.state = SendState.NOT_BEGUN  # nothing runs that could send it
        problem = "cannot start a thread to enforce it; is the interpreter shutting down?"
        raise ConfigurationError(f"deadline: {problem}") from None
    except BaseException:
        exchange.give_up()  # the thread sends nothing from now on
        raise

    exchange.give_up()
    raise RequestTimeoutError("the deadline has passed", outcome=effect.outcome)


def _call_user(effect: CallUser[T]) -> object:
    result = effect.function()
    if result is not None and isawaitable(result):
        if isinstance(result, Coroutine):
            result.close()
        raise ConfigurationError(f"{effect.argument}: an async function needs AsyncFerry")
    return result


def _run_blocking(effect: RunBlocking[T]) -> T:
    if effect.may_be_interrupted and effect.until is None:
        return effect.function()

    # In a thread, an interruption of the caller does not stop the function half-way.
    call = ThreadCall(effect.function).start_or_run()
    if not call.ended.wait(seconds_until(effect.until, threading.TIMEOUT_MAX, GRACE)):
        raise RequestTimeoutError("the deadline has passed")
    return call.result()


def save(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it, so that nobody sees a part of a file.

    Only the owner can read the file, also if it replaces another one.

    Raises:
        InvalidInputError: No file can be written there, or the path is not a regular file.
        OSError: Writing failed.
    """
    try:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(path.stat().st_mode):
                raise InvalidInputError("not a regular file", field="path")
        write_file(path, content, _PRIVATE)
    except OSError as error:
        if error.errno in _DISK_ERRORS:
            raise
        problem = f"no file can be written there: {error.strerror}"
        raise InvalidInputError(problem, field="path") from None
