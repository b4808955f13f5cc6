"""What watching and reconciling ask for, and the two loops that perform it.

The decisions are generators without I/O. They yield a `Reads`, a `Sleep` or a `Blocking`, and are
sent the result; everything else that they yield is a result for the caller. One loop performs the
steps with a `Ferry`, the other with an `AsyncFerry`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.errors import FerryError

T = TypeVar("T")

CONCURRENCY = 8
"""How many reads are under way at once, at most."""


@dataclass(frozen=True, slots=True)
class Reads:
    """Make these reads at once; the result is a list of their results and errors, in order."""

    calls: tuple[Callable[[Any], Any], ...]
    """Each takes the client and makes one call; with an `AsyncFerry` the result is awaited."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Blocking:
    """Call a function that uses a database; the result is what it returns."""

    function: Callable[[], Any]


Steps = Generator[T | Reads | Sleep | Blocking, Any, None]


def perform(ferry: Ferry, steps: Steps[T]) -> Generator[T, None, None]:
    """Perform the steps, and yield the results for the caller."""
    answer: object = None
    with ThreadPoolExecutor(CONCURRENCY, "ferry_sdk read") as pool:
        while True:
            try:
                step = steps.send(answer)
            except StopIteration:
                return
            answer = None
            match step:
                case Reads((call,)):  # in the caller's thread, which Ctrl-C can interrupt
                    answer = [_read(ferry, call)]
                case Reads(calls):
                    running = [pool.submit(copy_context().run, _read, ferry, one) for one in calls]
                    answer = [one.result() for one in running]
                case Sleep(seconds):
                    time.sleep(seconds)
                case Blocking(function):
                    answer = function()
                case result:
                    yield result


async def perform_async(ferry: AsyncFerry, steps: Steps[T]) -> AsyncGenerator[T, None]:
    """Perform the steps, and yield the results for the caller."""
    answer: object = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration:
            return
        answer = None
        match step:
            case Reads(calls):
                answer = await _read_all(ferry, calls)
            case Sleep(seconds):
                await anyio.sleep(seconds)
            case Blocking(function):
                answer = await anyio.to_thread.run_sync(function)
            case result:
                yield result


def _read(ferry: Ferry, call: Callable[[Any], Any]) -> object:
    try:
        return call(ferry)
    except FerryError as error:
        return error


async def _read_all(ferry: AsyncFerry, calls: tuple[Callable[[Any], Any], ...]) -> list[object]:
    answers: list[object] = [None] * len(calls)

    async def read(index: int) -> None:
        try:
            answers[index] = await calls[index](ferry)
        except FerryError as error:
            answers[index] = error

    async with anyio.create_task_group() as group:
        for index in range(len(calls)):
            group.start_soon(read, index)
    return answers
