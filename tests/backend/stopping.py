"""Ways in which a program stops a call that it awaits, each raising as its library does."""

import asyncio
from contextlib import suppress

import anyio
import trio


async def _until(when, task=None):
    while not when():
        assert task is None or not task.done(), f"it is over too soon: {task}"
        await anyio.sleep(0.01)


async def by_task_cancel(call, when):
    """`task.cancel()` of asyncio."""
    task = asyncio.ensure_future(call())
    await _until(when, task)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def by_task_cancel_twice(call, when):
    """An impatient `task.cancel()` of asyncio."""
    task = asyncio.ensure_future(call())
    await _until(when, task)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def by_wait_for(call, when):
    """A time-out of asyncio that ends at that moment."""

    async def timed():
        # A time-out cancels the task that it waits for, then raises in its place.
        task = asyncio.ensure_future(call())
        await _until(when, task)
        await asyncio.wait_for(task, 0.01)

    with suppress(asyncio.TimeoutError):
        await timed()
        raise AssertionError("it was not stopped")


async def by_scope(call, when):
    """A cancel scope of anyio."""
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:

            async def cancel():
                await _until(when)
                scope.cancel()

            group.start_soon(cancel)
            await call()
    assert scope.cancelled_caught


async def by_nursery(call, when):
    """A nursery of trio's in which another task fails."""
    with suppress(BaseException):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await _until(when)
            raise RuntimeError("another task failed")


async def by_move_on(call, when):
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
