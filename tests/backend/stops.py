"""Ways to stop a call half-way: a cancelled task, a cancelled scope, Ctrl-C.

A `Stopper` has one client and one way. It stops a call like this:

1. It begins the call with the client.
2. It waits until a condition of the test holds.
3. It stops the call in its way, and waits until the call has ended.
4. It fails the test if the call ended by itself.

For example, a confirmation is stopped while the service has its request:

    hold = Hold(sandbox, "bookings.confirm")
    stop(lambda ferry: ferry.bookings.confirm("b-1"), lambda: hold.held)
"""

import asyncio
import gc
import signal
import threading
from contextlib import contextmanager, suppress
from functools import partial

import anyio
import pytest

from tests.backend.gathering import UnderWay, eventually
from tests.support.both import Clients


async def by_task(call, when, *, times=1):
    """Cancel a call's task as asyncio does, perhaps twice; a time-out of asyncio does the same."""
    task = asyncio.ensure_future(call())
    while not when():
        assert not task.done(), f"it is over too soon: {task}"
        await asyncio.sleep(0.01)

    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def by_scope(call, when):
    """Cancel the scope around a call; a nursery and a time-out of trio do the same."""
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:

            async def cancel():
                while not when():  # noqa: ASYNC110 -- another thread counts
                    await anyio.sleep(0.01)
                scope.cancel()

            group.start_soon(cancel)
            await call()
    assert scope.cancelled_caught


@contextmanager
def ctrl_c(when):
    """Press Ctrl-C in the main thread, and expect that the block raises `KeyboardInterrupt`."""
    assert threading.current_thread() is threading.main_thread()
    is_over = threading.Event()
    is_interrupted = threading.Event()

    def interrupt(_, __):
        if not is_interrupted.is_set():
            is_interrupted.set()
            raise KeyboardInterrupt

    def press():
        eventually(lambda: is_over.is_set() or when())
        while not is_over.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            # A signal just before the main thread begins to wait does not wake it; the next does.
            is_over.wait(0.05)

    # The collector swallows an exception in a callback, such as that of hypothesis.
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    handler_before = signal.signal(signal.SIGINT, interrupt)
    pressing = UnderWay(press)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        is_over.set()
        pressing.outcome()
        signal.signal(signal.SIGINT, handler_before)
        gc.callbacks[:] = callbacks


WAYS = {
    "by task": ("asyncio", by_task, {}),
    "in trio": ("trio", by_scope, {}),
    "Ctrl-C": (None, None, {}),
    "Ctrl-C with a deadline": (None, None, {"deadline": 20}),  # in a thread of its own
    "by task, twice": ("asyncio", partial(by_task, times=2), {}),
    "by scope": ("asyncio", by_scope, {}),
}
"""The event loop, the function that cancels, and the settings of the client of each way.

A sync client has no event loop: Ctrl-C stops its calls.
"""


class Stopper:
    """Stops calls of one client in one way.

    Attributes:
        ferry: The client.
    """

    def __init__(self, cancel, portal, options):
        self._cancel = cancel
        self._portal = portal
        self._options = options
        self._clients = Clients(portal)

    def make(self, token, **settings):
        """Make the client, and return this object."""
        self.ferry = self._clients(token, **settings, **self._options)
        return self

    def __call__(self, call, when):
        """Stop a call as soon as a condition holds."""
        if self._portal is None:
            with ctrl_c(when):
                call(self.ferry)
        else:
            self._portal.call(self._cancel, partial(call, self.ferry._target), when)

    def assert_afterwards(self, holds):
        """Check a condition: at once, or when a thread has recorded the outcome for a task."""
        if self._portal is not None:
            eventually(holds)
        assert holds()

    def close(self):
        """Close the clients."""
        self._clients.close()
