"""`Rate`: a limiter that lets requests leave evenly, for everybody who shares it."""

from __future__ import annotations

import re
import threading
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from ferry_sdk._engine.effects import Effect, Flow, RunBlocking, Signal, Sleep, drive
from ferry_sdk._engine.limiter import FlowLimiter, RateRequest, current_request
from ferry_sdk._runtime.extras import needs_extra
from ferry_sdk._runtime.fork import process_id
from ferry_sdk._runtime.threads import Latch, uninterrupted
from ferry_sdk.errors import ConfigurationError, InvalidInputError, RequestTimeoutError
from ferry_sdk.rate.schedule import UNITS, Limit, MemorySchedule, Schedule
from ferry_sdk.rate.waiting_queue import WaitingQueue

_RATE: Final = re.compile(r"([1-9][0-9]{0,5})/(second|minute)")
_SECONDS: Final = {"second": 1, "minute": 60}
_HEADROOM: Final = 1.03
"""How much longer than necessary the pauses are, because the network shortens some of them."""
_SCHEMES: Final = ("redis://", "rediss://", "unix://")


class Rate(FlowLimiter):
    """A limiter of the rate at which requests leave, evenly spaced.

    Threads, tasks, event loops and clients can share it. Requests that read back a lost write go
    before all others that wait. The rate stays 3 % below the limit, so that the delays of the
    network rarely make it exceed the limit at the service.

    Args:
        rate: The limit, such as ``"50/second"`` or ``"600/minute"``.
        burst: How many requests may leave at once after a pause.
        storage: URL of a Redis server (``redis://…``) that all processes and machines with the
            same arguments share; None: each process has a rate of its own. A pickle contains it.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.
        ConfigurationError: The extra ``rate`` is not installed.

    Example:
        ```python
        from ferry_sdk import Ferry, Rate
        from ferry_sdk.sandbox import Sandbox

        rate = Rate("50/second")
        with (
            Sandbox() as sandbox,
            Ferry(sandbox.token, base_url=sandbox.base_url, limiter=rate) as ferry,
        ):
            print(len(ferry.catalogue.ports()), "ports")
            # > 183 ports
            rate.acquire("a request of your own")
        ```
    """

    def __init__(self, rate: str, *, burst: int = 1, storage: str | None = None) -> None:
        self._limit = _parse_limit(rate, burst)
        self._rate = rate
        self._burst = burst
        if storage is not None and not str(storage).startswith(_SCHEMES):
            problem = "expected a URL such as redis://localhost:6379"
            raise InvalidInputError(problem, field="storage")
        self._storage = None if storage is None else str(storage)
        self._queues: dict[int, WaitingQueue] = {}
        self._queue()  # raises if the extra is missing or the URL is not valid

    def acquire(self, operation: str) -> None:
        """Wait until a request may leave.

        Args:
            operation: Not used: all operations share the rate.

        Raises:
            RequestTimeoutError: The deadline of the call has passed.
            ConnectionFailedError: The storage does not answer.
        """
        del operation
        drive(self.steps(current_request.get()), _block)

    def steps(self, request: RateRequest) -> Flow[None]:
        """Wait until a request may leave; the effects do not block.

        Raises:
            RequestTimeoutError: The deadline of the call has passed.
            ConnectionFailedError: The storage does not answer.
        """
        queue = self._queue()
        clock = request.clock
        waiter = queue.join(clock(), goes_first=request.goes_first)
        try:
            while (seconds := queue.take(waiter, clock())) is not None:
                if request.until is not None:
                    left = request.until - clock()
                    if left < seconds:
                        if left <= 0:
                            raise RequestTimeoutError("the deadline has passed")
                        seconds = left

                if seconds > 0:
                    yield from Sleep(seconds, waiter.signal)
                elif self._storage is None:
                    queue.reserve(waiter, clock)
                else:  # in a thread, because Redis takes time to answer
                    yield from RunBlocking(partial(queue.reserve, waiter, clock), request.until)
        finally:
            queue.leave(waiter, clock())

    def _queue(self) -> WaitingQueue:
        """Return the queue of this process; a forked one has its own."""
        queue = self._queues.get(process_id())
        if queue is None:
            queue = WaitingQueue(_open_schedule(self._limit, self._storage))
            queue = self._queues.setdefault(process_id(), queue)
        return queue

    def __repr__(self) -> str:
        # Of the URL only the scheme, because the rest may contain a password.
        storage = None
        if self._storage is not None:
            storage = f"{urlsplit(self._storage).scheme}://…"
        return f"{type(self).__name__}({self._rate!r}, burst={self._burst}, storage={storage!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), burst=self._burst, storage=self._storage), (self._rate,)


def _parse_limit(rate: object, burst: object) -> Limit:
    match = _RATE.fullmatch(rate) if isinstance(rate, str) else None
    if match is None:
        raise InvalidInputError('expected a text such as "50/second"', field="rate")
    number = int(match[1])
    unit = match[2]

    if not isinstance(burst, int) or isinstance(burst, bool) or not 1 <= burst <= number:
        raise InvalidInputError(f"expected a number from 1 to {number}", field="burst")

    return Limit(
        text=match[0],
        number=number,
        interval=int(_SECONDS[unit] * _HEADROOM * UNITS),
        burst=burst,
    )


@uninterrupted
def _open_schedule(limit: Limit, storage: str | None) -> Schedule:
    """Return the schedule of a limit; it connects when it is used.

    Raises:
        ConfigurationError: The extra is not installed.
        InvalidInputError: The URL is not valid.
    """
    try:
        with needs_extra("Rate requires", "rate", ["pyrate_limiter", "redis"]):
            if storage is None:
                return MemorySchedule(limit)
            from ferry_sdk.rate.redis_schedule import RedisSchedule  # noqa: PLC0415 -- an extra installs redis

            return RedisSchedule(limit, storage)
    except ModuleNotFoundError as error:
        raise ConfigurationError(str(error)) from error


def _block(effect: Effect[Any]) -> None:
    """Perform an effect for a thread that asks a rate itself, without a client."""
    match effect:
        case Sleep(seconds, Signal() as signal):
            woken = Latch()
            with signal.call(woken.set):
                woken.wait(min(seconds, threading.TIMEOUT_MAX))
        case RunBlocking(function):
            function()
        case _:
            raise NotImplementedError(effect)
