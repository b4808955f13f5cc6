"""Work done in another process, forked or started, and what it tells."""

from __future__ import annotations

import asyncio
import os
import pickle
import select
import signal
import time
from typing import TYPE_CHECKING, Any

from ferry_sdk import AsyncFerry, Ferry

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from ferry_sdk import OutcomeUnknownError

LONG = 30.0
"""Seconds after which a child hangs."""


class Child:
    """A fork of this process that does some work and ends.

    Args:
        work: What it does; its result has to pickle.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._told, telling = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _do_and_exit(work, telling)
        os.close(telling)

    def result(self) -> Any:
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


def _do_and_exit(work: Callable[[], object], telling: int) -> None:
    try:
        told = pickle.dumps((True, work()))
    except BaseException as error:  # noqa: BLE001 -- it is the parent's to judge
        told = pickle.dumps((False, repr(error)))
    try:
        os.write(telling, told)
    finally:
        os._exit(0)


def calls(ferry: Ferry) -> int:
    """Calls of both protocols; how many records they gave."""
    return len(ferry.catalogue.vehicle_types()) + len(ferry.mcp.countries())


async def async_calls(ferry: AsyncFerry) -> int:
    """The same, awaited."""
    return len(await ferry.catalogue.vehicle_types()) + len(await ferry.mcp.countries())


def go_on(ferry: Ferry, told: Connection) -> None:
    """Use a client that was inherited, then close it."""
    told.send(calls(ferry))
    ferry.close()


def recover(settings: dict[str, str], is_async: bool, error: OutcomeUnknownError) -> Any:
    """Read a write back, with a client of this process's own."""
    if is_async:
        return asyncio.run(_recover(settings, error))
    with Ferry(**settings) as ferry:
        return ferry.recover(error)


async def _recover(settings: dict[str, str], error: OutcomeUnknownError) -> Any:
    async with AsyncFerry(**settings) as ferry:
        return await ferry.recover(error)
