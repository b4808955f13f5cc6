"""Ways in which a program stops a call that it awaits, each raising as its library does."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Call = Callable[[], Awaitable[Any]]
    When = Callable[[], object]


async def _until(when: When, task: asyncio.Future[Any] | None = None) -> None:
    while not when():
        assert task is None or not task.done(), f"it is over too soon: {task}"
        await anyio.sleep(0.01)


async def by_task_cancel(call: Call, when: When) -> None:
    """`task.cancel()` of asyncio."""
    task = asyncio.ensure_future(call())
    await _until(when, task)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def by_task_cancel_twice(call: Call, when: When) -> None:
    """An impatient `task.cancel()` of asyncio."""
    task = asyncio.ensure_future(call())
    await _until(when, task)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def by_wait_for(call: Call, when: When) -> None:
    """A time-out of asyncio that ends at that moment."""

    async def timed() -> None:
        # A time-out cancels the task that it waits for, then raises in its place.
        task = asyncio.ensure_future(call())
        await _until(when, task)
        await asyncio.wait_for(task, 0.01)

    with suppress(asyncio.TimeoutError):
        await timed()
        raise AssertionError("it was not stopped")


async def by_scope(call: Call, when: When) -> None:
    """A cancel scope of anyio."""
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:

            async def cancel() -> None:
                await _until(when)
                scope.cancel()

            group.start_soon(cancel)
            await call()
    assert scope.cancelled_caught


async def by_nursery(call: Call, when: When) -> None:
    """A nursery of trio's in which another task fails."""
    with suppress(BaseException):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await _until(when)
            raise RuntimeError("another task failed")


async def by_move_on(call: Call, when: When) -> None:
    """A time-out of trio that ends at that moment."""
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await _until(when)
            scope.deadline = trio.current_time()
    assert scope.cancelled_caught


WAYS = {
    "asyncio": (by_task_cancel, by_task_cancel_twice, by_wait_for, by_scope),
    "trio": (by_scope, by_nursery, by_move_on),
}
