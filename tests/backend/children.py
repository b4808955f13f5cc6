"""Work done in another process, forked or started, and what it tells."""

import asyncio
import os
import pickle
import select
import signal
import time

from ferry_sdk import AsyncFerry, Ferry

LONG = 30.0
"""Seconds after which a child hangs."""


class Child:
    """A fork of this process that does some work and ends.

    Args:
        work: What it does; its result has to pickle.
    """

    def __init__(self, work):
        self._told, telling = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _do_and_exit(work, telling)
        os.close(telling)

    def result(self):
        """Wait for its result, and for its end."""
        told = b""
        end = time.monotonic() + LONG
        with os.fdopen(self._told, "rb", buffering=0) as pipe:
            while ready := select.select([pipe], [], [], max(0, end - time.monotonic()))[0]:
                piece = pipe.read(65536)
                if not piece:
                    break
                told += piece
        if not ready:
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        assert ready, "the child hangs"
        is_good, result = pickle.loads(told)
        assert is_good, result
        return result


def _do_and_exit(work, telling):
    try:
        told = pickle.dumps((True, work()))
    except BaseException as error:  # noqa: BLE001 -- it is the parent's to judge
        told = pickle.dumps((False, repr(error)))
    try:
        os.write(telling, told)
    finally:
        os._exit(0)


def calls(ferry):
    """Calls of both protocols; how many records they gave."""
    return len(ferry.catalogue.vehicle_types()) + len(ferry.mcp.countries())


async def async_calls(ferry):
    """The same, awaited."""
    return len(await ferry.catalogue.vehicle_types()) + len(await ferry.mcp.countries())


def go_on(ferry, told):
    """Use a client that was inherited, then close it."""
    told.send(calls(ferry))
    ferry.close()


def recover(settings, is_async, error):
    """Read a write back, with a client of this process's own."""
    if is_async:
        return asyncio.run(_recover(settings, error))
    with Ferry(**settings) as ferry:
        return ferry.recover(error)


async def _recover(settings, error):
    async with AsyncFerry(**settings) as ferry:
        return await ferry.recover(error)
