"""A rate as the service sees it: the mean, and the most requests in any second."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

import httpx

from ferry_sdk import AsyncFerry, Ferry, Rate

from ._command import main
from ._lines import Bar, Line, Unit
from ._payload import BOOKING_ID, TOKEN
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ._measure import Effort

LIMIT: Final = 50
USED: Final = Bar(0.85, is_least=True)
KEPT: Final = Bar(1.1)
IN_FLIGHT: Final = 20
PROCESSES: Final = 4


def measure(effort: Effort) -> list[Line]:
    """Send for ten seconds in tasks, in threads, and in processes that share a rate over Redis."""
    seconds = effort.of(10)
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    with Service(FEW) as service:
        lines = _lines("tasks", service, partial(_in_tasks, Rate(f"{LIMIT}/second"), seconds))
        lines += _lines("threads", service, partial(_in_threads, Rate(f"{LIMIT}/second"), seconds))
        if program is None:
            sys.stderr.write("rate: there is no redis-server, so processes are not measured\n")
            return lines

        with _redis(program) as url:
            rate = Rate(f"{LIMIT}/second", storage=url)
            work = partial(_in_processes, rate, seconds)
            return [*lines, *_lines(f"{PROCESSES} processes, Redis", service, work)]


def _lines(what: str, service: Service, work: Callable[[str], None]) -> list[Line]:
    """Return the lines of some work, by the moments at which the service saw its requests."""
    httpx.get(f"{service.base_url}/arrivals").raise_for_status()  # empties the list
    work(service.base_url)
    moments: list[float] = httpx.get(f"{service.base_url}/arrivals").json()

    mean = 0.0
    if len(moments) > 1:  # else the machine was too busy for a second request
        mean = (len(moments) - 1) / (moments[-1] - moments[0])
    counts = [bisect_left(moments, began + 1) - index for index, began in enumerate(moments)]
    most = max(counts, default=0)
    return [
        _line(f"requests a second, {what}", "calls/s", ours=mean, bar=USED),
        _line("the most in any second", "calls", ours=most, bar=KEPT),
    ]


def _line(what: str, unit: Unit, *, ours: float, bar: Bar) -> Line:
    return Line(what=what, unit=unit, ours=ours, ratio=ours / LIMIT, to="the limit", bar=bar)


def _in_tasks(rate: Rate, seconds: float, base_url: str) -> None:
    async def send() -> None:
        async with AsyncFerry(TOKEN, base_url=base_url, limiter=rate) as ferry:

            async def call() -> None:
                while time.monotonic() < until:
                    await ferry.bookings.cancel_fee(BOOKING_ID)

            until = time.monotonic() + seconds
            await asyncio.gather(*(call() for _ in range(IN_FLIGHT)))

    asyncio.run(send())


def _in_threads(rate: Rate, seconds: float, base_url: str) -> None:
    until = time.monotonic() + seconds
    with Ferry(TOKEN, base_url=base_url, limiter=rate) as ferry:

        def call(_: int) -> None:
            while time.monotonic() < until:
                ferry.bookings.cancel_fee(BOOKING_ID)

        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            list(pool.map(call, range(IN_FLIGHT)))


def _in_processes(rate: Rate, seconds: float, base_url: str) -> None:
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(_in_tasks, rate, seconds), [base_url] * PROCESSES))


@contextmanager
def _redis(program: str) -> Generator[str]:
    """Run a Redis server that stores nothing, and give its address."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()

        options = ("--bind", "127.0.0.1", "--port", f"{port}", "--dir", folder, "--save", "")
        with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:  # noqa: S603 -- it was found
            try:
                _wait_for(port)
                yield f"redis://127.0.0.1:{port}"
            finally:
                server.kill()


def _wait_for(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise TimeoutError("Redis does not answer")


if __name__ == "__main__":
    sys.exit(main(["rate", *sys.argv[1:]]))
